"""Real transcripts, where there are any: nothing in them is lost, unknown or counted twice.

They lie outside the repository, in `$HANSEI_CORPUS` or in `../shared/corpus` beside it.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hansei.events import codec
from hansei.events.model import RequestUsage, ToolCall, Unrecognised
from hansei.events.usage import total
from hansei.sources.agents.claude_code import SOURCE
from hansei.sources.agents.claude_code.source import HISTORY, transcript_at
from hansei.sources.contract import SLICE_BYTES, START, Reading, Transcript, latest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.events.model import AnyEvent

BESIDE = Path(__file__).parents[3] / "shared" / "corpus"
CORPUS = Path(os.environ.get("HANSEI_CORPUS") or BESIDE)
MADE_BY_HAND = "edge_cases.jsonl"
"""A test file of another tool: the only one with lines that are no records."""

pytestmark = pytest.mark.skipif(
    not (CORPUS / "claude_code").is_dir(), reason=f"no transcripts in {CORPUS}"
)


def readings(transcript: Transcript, limit: int = SLICE_BYTES) -> Iterator[Reading]:
    cursor = START
    while True:
        reading = SOURCE.read(transcript, cursor, limit)
        yield reading
        if not reading.more:
            return
        cursor = reading.cursor


PROVIDER_ID = 24


@pytest.fixture(scope="module")
def paths() -> list[Path]:
    return sorted((CORPUS / "claude_code").rglob("*.jsonl"))


@pytest.fixture(scope="module")
def told(paths: list[Path]) -> dict[Path, list[Reading]]:
    ordered = SOURCE.reading_order([transcript_at(path) for path in paths])
    return {transcript.path: list(readings(transcript)) for transcript in ordered}


@pytest.fixture(scope="module")
def known(told: dict[Path, list[Reading]]) -> list[AnyEvent]:
    return latest(event for parts in told.values() for part in parts for event in part.events)


@pytest.fixture(scope="module")
def answers(paths: list[Path]) -> list[dict[str, Any]]:
    """Every line with an answer of a model, read in the plainest way."""
    return [
        record
        for path in paths
        for record in _records(path)
        if record.get("type") == "assistant" and isinstance(record.get("message"), dict)
    ]


def _records(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text("utf-8", "replace").split("\n"):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            yield record


def test_every_file_reads_to_its_end(told: dict[Path, list[Reading]]) -> None:
    for path, parts in told.items():
        assert parts[-1].cursor.offset == path.read_bytes().rfind(b"\n") + 1
        assert not any(part.restarted for part in parts)


def test_only_a_file_made_by_hand_has_lines_that_are_no_records(
    told: dict[Path, list[Reading]],
) -> None:
    spoiled = {path.name for path, parts in told.items() for part in parts if part.problems}
    assert spoiled <= {MADE_BY_HAND}


def test_no_kind_of_record_is_unknown_but_for_a_file_made_by_hand(
    told: dict[Path, list[Reading]],
) -> None:
    unknown = Counter(
        event.name
        for path, parts in told.items()
        for part in parts
        for event in part.events
        if isinstance(event, Unrecognised) and path.name != MADE_BY_HAND
    )
    assert unknown == {}


def test_each_answer_of_a_model_is_one_request_at_its_largest(
    known: list[AnyEvent], answers: list[dict[str, Any]]
) -> None:
    """Ids shorter than a provider's are made by hand, and say nothing outside their file."""
    largest: dict[str, Counter[str]] = {}
    for record in answers:
        message = record["message"]
        usage = message.get("usage")
        given = isinstance(usage, dict) and message.get("model") != "<synthetic>"
        if given and len(message["id"]) >= PROVIDER_ID:
            told = {} if _is_announcement(usage) else _tokens(usage)
            largest[message["id"]] = largest.get(message["id"], Counter()) | Counter(told)
    requests = [
        event
        for event in known
        if isinstance(event, RequestUsage) and len(event.message or "") >= PROVIDER_ID
    ]
    assert len(requests) == len(largest) > 5000
    assert sum(map(total, requests)) == sum(sum(tokens.values()) for tokens in largest.values())


def _is_announcement(usage: dict[str, Any]) -> bool:
    return set(usage) <= {"input_tokens", "output_tokens"} and usage["output_tokens"] == 0


def _tokens(usage: dict[str, Any]) -> dict[str, int]:
    names = ("input_tokens", "output_tokens")
    cached = ("cache_creation_input_tokens", "cache_read_input_tokens")
    return {name: usage.get(name) or 0 for name in (*names, *cached)}


def test_each_call_is_told_once(known: list[AnyEvent], answers: list[dict[str, Any]]) -> None:
    calls = {
        block["id"]
        for record in answers
        for block in record["message"]["content"]
        if isinstance(block, dict) and block.get("type") == "tool_use"
    }
    told_calls = [event.call for event in known if isinstance(event, ToolCall)]
    assert len(told_calls) == len(set(told_calls))
    assert set(told_calls) == calls


def test_every_event_survives_the_codec(known: list[AnyEvent]) -> None:
    for event in known:
        assert codec.decode(codec.encode(event)) == event


def test_reading_in_small_pieces_tells_the_same(told: dict[Path, list[Reading]]) -> None:
    for path in list(told)[::25]:
        whole = latest(event for part in told[path] for event in part.events)
        pieces = readings(transcript_at(path), 10_000)
        assert latest(event for part in pieces for event in part.events) == whole


def test_every_list_of_prompts_is_read() -> None:
    for path in (CORPUS / "claude_history").rglob("history.jsonl"):
        (reading,) = readings(Transcript(SOURCE.name, path, HISTORY))
        lines = [line for line in path.read_bytes().split(b"\n") if line.strip()]
        assert reading.records == len(lines)
        assert reading.problems == []
        assert len(reading.events) == len(set(lines))
