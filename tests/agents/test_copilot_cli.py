"""What only Copilot CLI does: sums at the end of a run; real sessions, if there are any."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from hansei.config import Environment
from hansei.events.model import RequestUsage, ToolCall, ToolResult, Unrecognised
from hansei.events.usage import context_tokens, merge, total
from hansei.sources import catalogue
from hansei.sources.agents.copilot_cli import EVENTS, SOURCE
from hansei.sources.contract import START, Reading, Transcript

BESIDE = Path(__file__).parents[3] / "shared" / "corpus"
CORPUS = Path(os.environ.get("HANSEI_CORPUS") or BESIDE)


def log(folder: Path, *events: tuple[str, dict[str, Any]]) -> Reading:
    path = folder / "events.jsonl"
    lines = [
        {"id": f"{number:08d}-0000-4000-8000-000000000000", "type": kind, "data": data}
        for number, (kind, data) in enumerate(events)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return SOURCE.read(Transcript("copilot_cli", path, EVENTS), START)


def said(number: int, output: int, **more: object) -> tuple[str, dict[str, Any]]:
    return "assistant.message", {"messageId": f"m{number}", "outputTokens": output, **more}


def ended(**models: tuple[int, int]) -> tuple[str, dict[str, Any]]:
    usage = {
        name: {"usage": {"inputTokens": given, "outputTokens": output}}
        for name, (given, output) in models.items()
    }
    return "session.shutdown", {"modelMetrics": usage}


def usages(reading: Reading) -> list[RequestUsage]:
    return [event for event in reading.events if isinstance(event, RequestUsage)]


def test_a_runs_sums_count_only_what_its_answers_did_not_tell(tmp_path: Path) -> None:
    told = usages(log(tmp_path, said(1, 30), said(2, 12), ended(gpt=(900, 50))))
    assert [it.output for it in told] == [30, 12, 8]
    assert sum(map(total, told)) == 950


def test_answers_without_a_model_are_taken_off_whichever_model_was_used(tmp_path: Path) -> None:
    told = usages(log(tmp_path, said(1, 70), ended(a=(1, 50), b=(2, 40))))
    assert sum(it.output or 0 for it in told) == 90


def test_answers_with_a_model_are_taken_off_that_model_alone(tmp_path: Path) -> None:
    told = usages(log(tmp_path, said(1, 30, model="b"), ended(a=(1, 50), b=(2, 40))))
    assert [(it.model, it.output) for it in told] == [("b", 30), ("a", 50), ("b", 10)]


def test_an_answer_in_parts_is_taken_off_once(tmp_path: Path) -> None:
    told = usages(log(tmp_path, said(1, 20), said(1, 20), ended(a=(1, 50))))
    assert sum(it.output or 0 for it in told) == 50


def test_sums_are_no_requests_context(tmp_path: Path) -> None:
    *_, last = usages(log(tmp_path, ended(a=(90_000, 5))))
    assert last.input == 90_000
    assert last.sums
    assert context_tokens(last) is None
    assert merge(last, last).sums


def test_the_folder_rather_than_the_file_before_it_is_found(tmp_path: Path) -> None:
    state = tmp_path / ".copilot" / "session-state"
    (state / "one").mkdir(parents=True)
    for name in ("one/events.jsonl", "one.jsonl", "two.jsonl", "one/notes.jsonl"):
        (state / name).write_bytes(b"")
    found = SOURCE.discover(Environment(home=tmp_path, variables={}), [])
    assert sorted(str(it.path.relative_to(state)) for it in found) == [
        "one/events.jsonl",
        "two.jsonl",
    ]


@pytest.mark.parametrize("folder", ["copilot_cli", "copilot_cli_legacy_json"])
def test_real_sessions_are_read_whole(folder: str) -> None:
    place = CORPUS / folder
    if not place.is_dir():
        pytest.skip(f"no sessions of Copilot CLI in {place}")
    nowhere = Environment(home=place / "no-home", variables={})
    found = SOURCE.reading_order(list(SOURCE.discover(nowhere, [str(place)])))
    assert len(found) == sum(path.is_file() for path in place.rglob("*.json*"))
    for transcript in found:
        reading = SOURCE.read(transcript, START)
        assert reading.problems == []
        assert not [event for event in reading.events if isinstance(event, Unrecognised)]
        content = transcript.path.read_text("utf-8")
        calls = {event.call for event in reading.events if isinstance(event, ToolCall)}
        results = {event.call for event in reading.events if isinstance(event, ToolResult)}
        assert results <= calls
        assert len(results) == content.count('"tool.execution_complete"') + content.count(
            '"tool_call_completed"'
        )


def test_what_its_hooks_saw_is_told_of_the_same_session(tmp_path: Path) -> None:
    line = {"v": 1, "agent": "copilot", "session": "s", "hook": "sessionStart", "at": 1_790_000_000}
    path = tmp_path / "spool.jsonl"
    path.write_text(json.dumps(line) + "\n")
    reading = catalogue.load("hooks").read(Transcript("hooks", path), START)
    assert reading.problems == []
    seen = {
        agent: [event.session for event in told.events] for agent, told in reading.others.items()
    }
    assert seen == {SOURCE.name: ["s"]}
