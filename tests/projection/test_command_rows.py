"""Commands as rows: where they ran, in one spelling."""

from __future__ import annotations

import pytest

from hansei.events.model import Tool, ToolCall
from hansei.projection.calls import calls
from hansei.projection.commands.paths import seen_from
from hansei.projection.facts.ran import ran
from hansei.store.reading import Numbered


@pytest.mark.parametrize(
    ("cwd", "text", "directory"),
    [
        ("C:\\Users\\me\\quay", "cd /c/Users/me/quay/web && ls", "web"),
        ("C:\\Users\\me\\quay", "cd 'c:\\Users\\Me\\quay\\web' && ls", "web"),
        ("C:\\Users\\me\\quay", "cd /d/other && ls", "D:/other"),
        ("/c/Users/me", "cd /c/Users/you && ls", "/c/Users/you"),
        ("/home/me/quay", "cd /home/me/quay && ls", ""),
        ("/home/me/quay", "cd /home/me/quayside && ls", "/home/me/quayside"),
        ("/home/me", "cd ~ && ls", ""),
        ("/home/me/quay", "cd ~/notes && ls", "/home/me/notes"),
        ("/srv/quay", "cd ~/notes && ls", "~/notes"),
        ("/mnt/c/Users/me", "cd ~ && ls", "~"),
        ("/home/me/quay", 'cd "$THERE" && ls', None),
        ("/home/me/quay", "ls", ""),
    ],
)
def test_equal_folders_have_one_spelling(cwd: str, text: str, directory: str | None) -> None:
    call = ToolCall(key=1, session="s", call="c", tool=Tool.SHELL, name="Bash", text=text, cwd=cwd)
    rows = ran(calls([Numbered(1, call)]))
    assert rows[-1].directory == directory


def test_a_folder_stays_as_it_is_where_nobody_knows_where_the_call_began() -> None:
    assert seen_from("~/notes", None) == "~/notes"
    assert seen_from(None, "/home/me") is None
