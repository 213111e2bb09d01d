"""What must hold in every scenario is found out when it does not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rig.agent import Launch
from rig.catalogue import AGENTS
from rig.install import Installed
from rig.place import Place
from rig.processes import Finished
from rig.scenario import always, unwritten
from rig.script import Say
from rig.seen import Seen, Session
from rig.server import Server
from rig.stage import Run, Stage

AGENT = AGENTS[0]
PROMPT = "Please follow cue:main."
HEADING = {
    "id": "s1",
    "short": "s1",
    "version": "1.0",
    "driver": "automated",
    "driver_recorded": True,
    "relation": None,
}
HEALTH = {"agent": AGENT.name, "unrecognised": {}, "unreadable": {}, "skipped": []}
PROMPTED = {"kind": "prompt", "origin": "human", "text": PROMPT}


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """One run with one request of a turn and one for a title."""
    with Server({"main": (Say("Done."),)}) as server:
        body = {"model": "m", "messages": [{"role": "user", "content": PROMPT}]}
        server.answer(AGENT.wire, {**body, "tools": [{"name": "run"}]})
        server.answer(AGENT.wire, body)
        played = Stage(AGENT, Installed(tmp_path / "agent", "1.0"), Place(tmp_path), server)
        played.runs.append(Run(Launch(PROMPT), Finished(0, "", ""), "s1"))
        yield played


def usage(stage: Stage, number: int = 0) -> dict[str, Any]:
    names = ("input", "cache_read", "cache_write_5m", "output", "reasoning")
    told = AGENT.wire.told(stage.server.served[number].tokens)
    return {"kind": "request_usage", **dict(zip(names, told, strict=True))}


def seen(*events: dict[str, Any], **heading: Any) -> Seen:
    session = Session({**HEADING, **heading}, events)
    return Seen((session,), {"agents": [HEALTH]}, {"events": 0, "changed": 0})


def broken(stage: Stage, what: Seen) -> list[str]:
    return [finding.claim for finding in always(stage, what) if not finding.holds]


def test_what_was_seen_as_it_was_breaks_no_claim(stage: Stage) -> None:
    assert broken(stage, seen(PROMPTED, usage(stage))) == []


def test_a_request_that_is_missing_is_noticed(stage: Stage) -> None:
    assert broken(stage, seen(PROMPTED)) == ["every answer in a turn is counted, to the token"]


def test_a_request_that_counts_twice_is_noticed(stage: Stage) -> None:
    twice = seen(PROMPTED, usage(stage), usage(stage))
    assert broken(stage, twice) == ["nothing else is counted, and nothing twice"]


@pytest.mark.parametrize("field", ["input", "cache_read", "cache_write_5m", "output", "reasoning"])
@pytest.mark.parametrize("unknown", [True, False])
def test_one_token_too_many_or_unknown_is_noticed(stage: Stage, field: str, unknown: bool) -> None:
    told = usage(stage)
    wrong = {key: value for key, value in told.items() if key != field}
    if not unknown:
        wrong[field] = told[field] + 1
    assert len(broken(stage, seen(PROMPTED, wrong))) == 2


@pytest.mark.parametrize(
    "prompts",
    [
        [],
        [PROMPTED] * 2,
        [{**PROMPTED, "origin": "harness"}],
        [PROMPTED, {**PROMPTED, "text": "Hm"}],
    ],
)
def test_prompts_that_are_missing_doubled_or_foreign_are_noticed(
    stage: Stage, prompts: list[dict[str, Any]]
) -> None:
    assert len(broken(stage, seen(*prompts, usage(stage)))) == 1


@pytest.mark.parametrize("heading", [{"version": "0.9"}, {"driver": "human"}])
def test_a_wrong_version_or_driver_is_noticed(stage: Stage, heading: dict[str, Any]) -> None:
    assert len(broken(stage, seen(PROMPTED, usage(stage), **heading))) == 1


def test_a_second_reading_that_adds_something_is_noticed(stage: Stage) -> None:
    whole = seen(PROMPTED, usage(stage))
    assert broken(stage, replace(whole, again={"events": 1, "changed": 0})) != []


def test_an_agent_hansei_does_not_read_is_noticed(stage: Stage) -> None:
    whole = seen(PROMPTED, usage(stage))
    assert "hansei reads this agent" in broken(stage, replace(whole, doctor={"agents": []}))


def test_a_run_that_had_to_be_stopped_is_noticed(stage: Stage) -> None:
    stage.runs[0] = replace(stage.runs[0], finished=Finished(None, "", "stuck"))
    assert broken(stage, seen(PROMPTED, usage(stage))) == ["run 1 of the agent ended by itself"]


def test_what_the_agent_did_not_write_down_is_told(stage: Stage) -> None:
    told = unwritten(stage, seen(PROMPTED, usage(stage), driver_recorded=False))
    title = stage.server.served[1].tokens
    total = title.input + title.cache_read + title.cache_write + title.output
    assert told == [f"a request for a title ({total} tokens)", "who drove session s1"]
