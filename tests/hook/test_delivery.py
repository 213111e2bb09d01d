"""What experiments put under test is delivered to one arm, and both arms are recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hansei.events.model import MARKER
from hansei.hook import delivery
from hansei.hook.notation import measured
from hook_calls import call, spooled

TEXT = f"{MARKER}\nUse make test."
START = {"session_id": "5f1c", "hook_event_name": "SessionStart", "source": "startup"}


def put_under_test(home: Path, **fields: Any) -> None:
    item = {
        "id": "tests",
        "text": TEXT,
        "experiment": "e1",
        "salt": "s",
        "share": 1,
        "workspaces": None,
        **fields,
    }
    (home / "exposure.json").write_text(json.dumps({"v": 1, "items": [item]}))


def test_without_experiments_nothing_is_delivered(tmp_path: Path) -> None:
    assert call(tmp_path, START, event="SessionStart") == ""
    assert "arms" not in spooled(tmp_path)[0]


def test_the_treatment_arm_is_given_the_text(tmp_path: Path) -> None:
    put_under_test(tmp_path)
    printed = json.loads(call(tmp_path, START, event="SessionStart"))
    assert printed == {
        "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": TEXT}
    }
    line = spooled(tmp_path)[0]
    assert (line["arms"], line["delivered"]) == ({"tests": "treatment"}, ["tests"])
    assert line["context"] == measured(TEXT)


def test_the_control_arm_is_recorded_and_given_nothing(tmp_path: Path) -> None:
    put_under_test(tmp_path, share=0)
    assert call(tmp_path, START, event="SessionStart") == ""
    line = spooled(tmp_path)[0]
    assert line["arms"] == {"tests": "control"}
    assert "delivered" not in line


def test_a_resumed_session_is_not_given_the_text_again(tmp_path: Path) -> None:
    put_under_test(tmp_path)
    assert call(tmp_path, {**START, "source": "resume"}, event="SessionStart") == ""
    line = spooled(tmp_path)[0]
    assert line["arms"] == {"tests": "treatment"}
    assert "delivered" not in line


def test_an_agent_that_forgets_it_when_resumed_is_given_the_text_again(tmp_path: Path) -> None:
    put_under_test(tmp_path)
    said = call(tmp_path, {**START, "source": "resume"}, agent="gemini", event="SessionStart")
    assert json.loads(said)["hookSpecificOutput"]["additionalContext"] == TEXT
    assert spooled(tmp_path)[0]["delivered"] == ["tests"]


def test_a_compacted_session_is_given_the_text_again(tmp_path: Path) -> None:
    put_under_test(tmp_path)
    printed = json.loads(call(tmp_path, {**START, "source": "compact"}, event="SessionStart"))
    assert printed["hookSpecificOutput"]["additionalContext"] == TEXT


def test_a_subagent_is_in_its_parents_arm(tmp_path: Path) -> None:
    put_under_test(tmp_path, share=0.5)
    said = {**START, "agent_id": "a7"}
    call(tmp_path, START, event="SessionStart")
    call(tmp_path, said, event="SubagentStart")
    lines = [line for line in spooled(tmp_path) if line["hook"] != "look"]
    assert lines[0]["arms"] == lines[1]["arms"]


def test_cursor_takes_context_in_its_own_way(tmp_path: Path) -> None:
    put_under_test(tmp_path)
    said = {"conversation_id": "c", "cursor_version": "2.1"}
    printed = call(tmp_path, said, agent="cursor", event="sessionStart")
    assert json.loads(printed) == {"additional_context": TEXT}


def test_a_hook_that_another_agent_ran_delivers_nothing(tmp_path: Path) -> None:
    """Cursor also runs the hooks of Claude Code's settings; its own hook has delivered already."""
    put_under_test(tmp_path)
    said = {**START, "conversation_id": "c", "cursor_version": "2.1"}
    assert call(tmp_path, said, event="SessionStart") == ""


@pytest.mark.parametrize("event", ["PreToolUse", "Stop", "SessionEnd"])
def test_only_the_beginning_of_a_session_delivers(tmp_path: Path, event: str) -> None:
    put_under_test(tmp_path)
    assert call(tmp_path, START, event=event) == ""


def test_what_cannot_be_recorded_is_not_delivered(tmp_path: Path) -> None:
    put_under_test(tmp_path)
    (tmp_path / "spool").write_text("in the way")
    assert call(tmp_path, START, event="SessionStart") == ""


def test_a_text_without_our_marker_is_never_delivered(tmp_path: Path) -> None:
    put_under_test(tmp_path, text="Use make test.")
    assert call(tmp_path, START, event="SessionStart") == ""
    assert "arms" not in spooled(tmp_path)[0]


def test_an_item_of_other_workspaces_does_not_concern_a_session(tmp_path: Path) -> None:
    here = tmp_path / "app" / "src"
    here.mkdir(parents=True)
    for folders, expected in (([str(tmp_path / "app")], 1), ([str(tmp_path / "ap")], 0)):
        put_under_test(tmp_path, workspaces=folders)
        arms, _ = delivery.chosen(str(tmp_path), "5f1c", str(here))
        assert len(arms) == expected


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"v": 2, "items": []}', '{"v": 1, "items": [7, {"id": 3}]}', "[" * 50_000],
)
def test_a_broken_list_of_experiments_delivers_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "exposure.json").write_text(text)
    assert call(tmp_path, START, event="SessionStart") == ""
    assert spooled(tmp_path)[0]["session"] == "5f1c"


@settings(max_examples=5)
@given(st.text(max_size=20), st.lists(st.uuids(), min_size=200, max_size=200, unique=True))
def test_arms_are_lasting_and_follow_the_share(salt: str, ids: list[object]) -> None:
    sessions = [str(it) for it in ids]
    for share in (0.0, 0.3, 1.0):
        arms = [delivery.arm(salt, session, share) for session in sessions]
        assert arms == [delivery.arm(salt, session, share) for session in sessions]
        treated = arms.count("treatment") / len(arms)
        assert abs(treated - share) < 0.2
