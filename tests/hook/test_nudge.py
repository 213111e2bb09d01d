"""A session that meets a known failure is told the fix: once, by a coin, and only where tried."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hansei.events.model import MARKER
from hansei.hook import known
from hook_calls import call, spooled

TEXT = f"{MARKER}\nEvidence from hansei, not an instruction: adding `--calm` got past it."
OUTPUT = "Exit code 2\n\x1b[31mloader: cannot   load 17 of berth x\x1b[0m\nmore"
FAILURE = {
    "id": "f1",
    "words": ["loader"],
    "pieces": ["loader: cannot load", "of berth x"],
    "sessions": 3,
    "fix": "loader --calm",
    "text": TEXT,
}


def lay_out(home: Path, place: Path, *, share: float = 1, **fields: Any) -> None:
    """An experiment that runs, and one failure that is known in a folder."""
    place.mkdir(parents=True, exist_ok=True)
    item = {"id": "e1", "salt": "s", "share": share, "workspaces": [str(place)]}
    (home / "exposure.json").write_text(json.dumps({"v": 1, "nudges": [item]}))
    file = home / known.place(str(place))
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"v": 1, "failures": [{**FAILURE, **fields}]}))


def met(home: Path, place: Path, *, output: str = OUTPUT, **fields: Any) -> dict[str, Any] | None:
    """What a session is told that has just met a failure."""
    said = {
        "session_id": "5f1c",
        "cwd": str(place),
        "tool_name": "Bash",
        "tool_input": {"command": "cd x && /usr/bin/loader2 --all"},
        "error": output,
        **fields,
    }
    printed = call(home, said, event="PostToolUseFailure")
    return json.loads(printed)["hookSpecificOutput"] if printed else None


def test_the_fix_is_told_once_per_session_and_failure(tmp_path: Path) -> None:
    lay_out(tmp_path, tmp_path / "app")
    told = met(tmp_path, tmp_path / "app")
    assert told == {"hookEventName": "PostToolUseFailure", "additionalContext": TEXT}
    assert met(tmp_path, tmp_path / "app") is None
    assert met(tmp_path, tmp_path / "app", session_id="other") is not None
    lines = spooled(tmp_path)
    assert [line.get("delivered") for line in lines] == [["e1"], None, ["e1"]]
    assert {line["arms"]["e1"] for line in lines} == {"treatment"}


def test_the_control_arm_is_noted_and_told_nothing(tmp_path: Path) -> None:
    lay_out(tmp_path, tmp_path / "app", share=0)
    assert met(tmp_path, tmp_path / "app") is None
    assert spooled(tmp_path)[0]["arms"] == {"e1": "control"}


@pytest.mark.parametrize(
    "fields",
    [
        {"output": "loader: cannot load it of another berth"},
        {"tool_input": {"command": "unloader"}},
        {"agent_id": "a7"},
        {"cwd": "/nowhere"},
    ],
)
def test_who_did_not_meet_it_is_in_no_arm(tmp_path: Path, fields: dict[str, Any]) -> None:
    lay_out(tmp_path, tmp_path / "app")
    assert met(tmp_path, tmp_path / "app", **fields) is None
    assert "arms" not in spooled(tmp_path)[0]


@pytest.mark.parametrize("text", [None, "without our mark", MARKER * 500])
def test_what_may_not_be_told_is_not(tmp_path: Path, text: str | None) -> None:
    lay_out(tmp_path, tmp_path / "app", text=text)
    assert met(tmp_path, tmp_path / "app") is None


def test_without_an_experiment_nothing_is_told(tmp_path: Path) -> None:
    lay_out(tmp_path, tmp_path / "app")
    (tmp_path / "exposure.json").unlink()
    assert met(tmp_path, tmp_path / "app") is None
    assert "arms" not in spooled(tmp_path)[0]


@pytest.mark.parametrize("content", ["", "{", '{"v": 2}', '{"v": 1, "failures": [1, {}]}', "[]"])
def test_a_damaged_file_is_as_if_it_were_not_there(tmp_path: Path, content: str) -> None:
    lay_out(tmp_path, tmp_path / "app")
    (tmp_path / known.place(str(tmp_path / "app"))).write_text(content)
    assert met(tmp_path, tmp_path / "app") is None


def test_of_several_the_one_that_says_most_is_recognised() -> None:
    short = {"id": "a", "words": [], "pieces": ["cannot load"]}
    assert known.recognised([short, FAILURE], "Bash", "loader", OUTPUT) is FAILURE
    assert known.recognised([FAILURE, short], "Bash", "loader", OUTPUT) is FAILURE
    assert known.recognised([short], "Bash", "x", "all is well") is None


def test_a_worktree_or_folder_below_is_known_by_its_repository(tmp_path: Path) -> None:
    (tmp_path / "app" / ".git").mkdir(parents=True)
    (tmp_path / "app" / "src").mkdir()
    assert known.place(str(tmp_path / "app" / "src")) == known.place(str(tmp_path / "app"))
    assert known.place(str(tmp_path)) != known.place(str(tmp_path / "app"))
