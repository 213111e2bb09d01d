"""Known fixes by a coin: from a habit in the history to an experiment that says who was told."""

from __future__ import annotations

import json
from typing import Any

import pytest

import claude_home
from experiment_desk import WRONG, Office
from git_world import HOUR
from hansei.errors import UsageError
from hansei.events.model import MARKER
from hansei.hook import known
from hansei.hook.nudge import nudge
from hook_calls import line

NUDGE = ("exp", "new", "--bind", "nudge")


def listed(office: Office) -> list[dict[str, Any]]:
    """What hooks know in this folder."""
    return known.known(str(office.store_folder), str(office.place))


def met(office: Office, number: int) -> bool:
    """One session that meets the failure with hooks installed; whether it was told."""
    made = claude_home.session(
        office.home, f"{number:08x}-1111", office.clock, cwd=str(office.place)
    )
    made.prompt("Check the types.")
    said: dict[str, Any] = {"cwd": str(office.place), "session": made.id, "tool": "Bash"}
    told = {"tool_input": {"command": "make typecheck"}, "error": f"Exit code 2\n{WRONG}"}
    seen = {**said, "agent": "claude_code", "hook": "PostToolUseFailure"}
    answer = nudge(str(office.store_folder), seen, json.dumps(told).encode())
    made.run("make typecheck", WRONG, exit_code=2)
    if answer is not None:
        text = json.loads(answer)["hookSpecificOutput"]["additionalContext"]
        content = {"type": "hook_additional_context", "content": [text]}
        made.line("attachment", attachment=content)
    spool = office.store_folder / "spool" / "hooks.jsonl"
    spool.parent.mkdir(exist_ok=True)
    extra = {key: value for key, value in seen.items() if key not in ("agent", "hook", "session")}
    with spool.open("a", encoding="utf-8") as file:
        file.write(line(made.id, "PostToolUseFailure", office.clock, **extra))
    office.clock += 2 * HOUR
    return answer is not None


def test_a_fix_that_recurred_is_known_to_hooks_as_evidence(office: Office) -> None:
    office.days(4, untold=1)
    office.type("facts", "failures")
    (failure,) = listed(office)
    assert failure["words"] == ["make", "typecheck"]
    assert failure["sessions"] == 8
    assert failure["text"].startswith(MARKER)
    assert "not an instruction: in 8 earlier sessions" in failure["text"]
    assert "adding `types` and leaving out `typecheck`" in failure["text"]
    assert known.recognised(listed(office), "Bash", "make typecheck", WRONG) == failure


def test_a_fix_of_one_session_is_none(office: Office) -> None:
    office.session(untold=1)
    office.type("facts", "failures")
    assert listed(office) == []


def test_what_is_forgotten_is_forgotten_by_hooks_too(office: Office) -> None:
    office.days(2, untold=1)
    office.type("facts", "failures")
    assert listed(office)
    office.type("forget", office.place.name, "--yes")
    assert listed(office) == []


def test_sessions_that_met_it_are_compared_and_others_are_left_out(office: Office) -> None:
    office.days(3, untold=1)
    office.type("facts", "failures")
    assert not met(office, 99), "off by default"
    begun = office.told(*NUDGE)
    assert (begun["bind"], begun["fact"]) == ("nudge", "failed")
    told = [met(office, number) for number in range(10)]
    office.days(1, untold=0)
    found = office.report()
    counts = [found["verdict"][arm]["sessions"] for arm in ("control", "treatment")]
    assert counts == [told.count(False), told.count(True)]
    assert min(counts) > 0
    assert found["left_out"]["no hook saw it meet a failure with a known fix"] == 2
    office.told("exp", "conclude")
    assert not (office.store_folder / "exposure.json").exists()
    assert not met(office, 77)


def test_only_one_runs_at_a_time_and_it_delivers_no_text_of_its_own(office: Office) -> None:
    office.session()
    office.told(*NUDGE)
    with pytest.raises(UsageError, match="known fixes"):
        office.type(*NUDGE)
    with pytest.raises(UsageError, match="delivers nothing"):
        office.type(*NUDGE, "--text", "x")
