"""Lines for a folder whose instruction file all projects of a person read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from findings import each, finding, frame
from hansei.bets.model import Change, Design
from hansei.hook.places import is_user_wide
from hansei.projection.facts import folds
from hansei.projection.facts.tables import Found
from hansei.retro.retro import EVERYWHERE, look_back
from made_window import window_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.bets.model import Finding
    from hansei.projection.window import Window


class Says:
    """A heuristic that finds what it is given."""

    name = "says"

    def __init__(self, *found: Finding) -> None:
        self._found = found

    def find(self, window: Window) -> Iterator[Finding]:
        yield from self._found if window.sessions else ()


@pytest.mark.parametrize(
    ("folder", "wide"),
    [
        ("/home/me", True),
        ("/Users/me/", True),
        ("/root", True),
        ("C:\\Users\\me", True),
        ("C:\\Users\\me\\.claude", True),
        ("/home/me/.config/opencode", True),
        ("/home/me/app", False),
        ("/home/me/app/.claude", False),
        ("/work/app", False),
    ],
)
def test_the_home_folder_and_those_of_agent_programs_speak_for_all_projects(
    folder: str, wide: bool
) -> None:
    assert is_user_wide(folder) is wide


@pytest.mark.parametrize(("folder", "lines"), [("/home/me/app", 2), ("/home/me/.claude", 1)])
def test_a_line_about_one_folder_is_not_carried_into_all(folder: str, lines: int) -> None:
    window = window_of({it: [[]] for it in range(3)})
    window.rows(folds.STANDS).extend(Found(it, folds.Stand((folder,))) for it in range(3))
    here = replace(
        finding(each(range(3)), key="here"), change=Change(Design.LINE, "It is in `a/`.")
    )
    machine = replace(here, key="machine", anywhere=True)
    task = replace(here, key="task", change=Change(Design.BRIEF, "Move it."))
    bets = look_back(window, frame(range(3)), len, (Says(here, machine, task),))
    told = [it.finding for it in bets]
    assert sum(it.change.design is Design.LINE for it in told) == lines
    assert {it.key for it in told if EVERYWHERE in it.because} == (
        set() if lines == 2 else {"machine"}
    )
    assert "task" in {it.key for it in told}
