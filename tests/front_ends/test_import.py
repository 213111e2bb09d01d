"""Taking in reviews, as a person does it."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from string import ascii_letters
from typing import Any

import pytest

from claude_home import session

NOW = 1_790_000_000_000
Hansei = Callable[..., subprocess.CompletedProcess[str]]
LINE = "height = metres(4)"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A folder in which an agent has written a file."""
    folder = tmp_path / "tides"
    folder.mkdir()
    told = session(tmp_path / "home", "dddd4444-tide", NOW - 3_600_000, cwd=str(folder))
    told.prompt("build the tide table")
    written = {"file_path": f"{folder}/src/tide.py", "content": f"def tide():\n    {LINE}\n"}
    call = {"type": "tool_use", "id": "toolu_w", "name": "Write", "input": written}
    told.answer(call, tokens=(5, 1000, 100, 20))
    done = {"type": "tool_result", "tool_use_id": "toolu_w", "content": "File created"}
    told.line(
        "user",
        message={"role": "user", "content": [done]},
        toolUseResult={
            "type": "create",
            "filePath": written["file_path"],
            "content": written["content"],
            "structuredPatch": [],
        },
    )
    told.say("Done.")
    return folder


@pytest.fixture
def hansei(tmp_path: Path, repo: Path) -> Hansei:
    """Run the program as a person would, standing in the repository."""

    def run(*arguments: str, typed: bytes = b"") -> Any:
        script = (
            "import sys, hansei.cli.app as app, hansei.cli.main as main\n"
            f"app.now = lambda: {NOW}\n"
            "main.main(sys.argv[1:])"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, *arguments],
            env={"HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin", "COLUMNS": "120"},
            cwd=repo,
            capture_output=True,
            check=False,
            input=typed,
        )
        out, err = done.stdout.decode(), done.stderr.decode()
        return subprocess.CompletedProcess(done.args, done.returncode, out, err)

    return run


def comment(number: int, body: str, **more: Any) -> dict[str, Any]:
    return {
        "id": number,
        "path": "src/tide.py",
        "line": 2,
        "diff_hunk": f"@@ -0,0 +1,2 @@\n+def tide():\n+    {LINE}",
        "body": body,
        "user": {"login": "mira", "type": "User"},
        "created_at": "2026-09-22T10:00:00Z",
        **more,
    }


def saved(repo: Path, *comments: dict[str, Any]) -> str:
    (repo / "reviews.json").write_text(json.dumps(comments), encoding="utf-8")
    return "reviews.json"


def database(tmp_path: Path) -> sqlite3.Connection:
    return sqlite3.connect(tmp_path / "home" / ".hansei" / "hansei.db")


def test_reviews_are_kept_once_and_matched_to_the_edit(hansei: Hansei, repo: Path) -> None:
    robot = {"login": "checks[bot]", "type": "Bot"}
    file = saved(
        repo, comment(1, "name the unit"), comment(2, "97 %", user=robot, diff_hunk=None, path=None)
    )
    first = hansei("import", "--reviews", file)
    assert first.returncode == 0, first.stderr
    assert "2 reviews of tides: 2 new, 0 changed, 0 known already; 1 by programs." in first.stdout
    assert "1 is about lines that an agent wrote here:" in first.stdout
    assert "dddd4444#" in first.stdout
    assert "src/tide.py:2  name the unit" in first.stdout
    again = hansei("import", "--reviews", file)
    assert "0 new, 0 changed, 2 known already" in again.stdout
    edited = hansei("import", "--reviews", saved(repo, comment(1, "name the unit, please")))
    assert "0 new, 1 changed, 0 known already" in edited.stdout


def test_the_edit_it_names_can_be_opened(hansei: Hansei, repo: Path) -> None:
    told = json.loads(hansei("import", "--reviews", saved(repo, comment(1, "no")), "--json").stdout)
    assert told["schema"] == "hansei.import/1"
    (about,) = told["matched"]
    shown = hansei("show", f"{about['session']}#{about['seq']}")
    assert LINE in shown.stdout


def test_standard_input_and_the_encodings_of_powershell_are_read(hansei: Hansei) -> None:
    text = json.dumps([comment(1, "so nicht, ö")], ensure_ascii=False)
    for typed in (text.encode(), text.encode("utf-8-sig"), text.encode("utf-16")):
        done = hansei("import", "--reviews", "-", "--json", typed=typed)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["matched"][0]["words"] == "so nicht, ö"


def test_secrets_in_reviews_are_never_stored(hansei: Hansei, repo: Path, tmp_path: Path) -> None:
    chance = Random(4)
    secret = "ghp_" + "".join(chance.choices(ascii_letters, k=36))
    shown = f"@@ -0,0 +1 @@\n+token = '{secret}'"
    hansei("import", "--reviews", saved(repo, comment(1, f"{secret} is public", diff_hunk=shown)))
    rows = database(tmp_path).execute("SELECT text, hunk FROM reviews").fetchall()
    assert "[secret:github-token:" in rows[0][0]
    for path in (tmp_path / "home" / ".hansei").rglob("*"):
        assert not path.is_file() or secret.encode() not in path.read_bytes()


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (b"", "it is empty"),
        (b"[]", "it is empty"),
        (b"hello", "it is not JSON"),
        (b'{"message": "Not Found"}', "no comment with an author"),
        (b"\x80\x81", "is no text"),
    ],
)
def test_what_holds_no_reviews_is_refused_with_what_to_do(
    hansei: Hansei, typed: bytes, said: str
) -> None:
    done = hansei("import", "--reviews", "-", typed=typed)
    assert done.returncode == 2
    assert said in done.stderr
    assert "gh api --paginate" in done.stderr


def test_a_missing_file_and_a_missing_option_say_so(hansei: Hansei) -> None:
    missing = hansei("import", "--reviews", "nowhere.json")
    assert missing.returncode == 2
    assert "nowhere.json cannot be read" in missing.stderr
    assert "--reviews FILE" in hansei("import").stderr


def test_a_file_that_was_cut_off_is_taken_in_as_far_as_it_goes(hansei: Hansei) -> None:
    text = json.dumps([comment(1, "one"), comment(2, "two")])
    done = hansei("import", "--reviews", "-", typed=text[:-30].encode())
    assert done.returncode == 0
    assert "1 new" in done.stdout
    assert "the end of standard input could not be read" in done.stderr


def test_forgetting_the_workspace_forgets_its_reviews(
    hansei: Hansei, repo: Path, tmp_path: Path
) -> None:
    hansei("import", "--reviews", saved(repo, comment(1, "name the unit")))
    done = hansei("forget", "tides", "--yes")
    assert "1 imported review" in done.stdout
    assert database(tmp_path).execute("SELECT count(*) FROM reviews").fetchone() == (0,)
    assert b"name the unit" not in (tmp_path / "home" / ".hansei" / "hansei.db").read_bytes()


def test_a_rebuild_keeps_what_was_imported(hansei: Hansei, repo: Path, tmp_path: Path) -> None:
    hansei("import", "--reviews", saved(repo, comment(1, "name the unit")))
    assert hansei("doctor", "--rebuild").returncode == 0
    rows = database(tmp_path).execute(
        "SELECT w.name, r.id, r.text FROM reviews r JOIN workspaces w ON w.id = r.workspace"
    )
    assert rows.fetchall() == [("tides", "1", "name the unit")]
    assert "1 known already" in hansei("import", "--reviews", "reviews.json").stdout
