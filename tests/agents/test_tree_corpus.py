"""Real sessions of OpenClaw and Pi, where there are any: nothing is lost, unknown or doubled.

They lie outside the repository; `corpus` says where.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from hansei.config import Environment
from hansei.events import codec
from hansei.events.model import AnyEvent, RequestUsage, Status, ToolCall, ToolResult, Unrecognised
from hansei.events.usage import total
from hansei.sources import catalogue
from hansei.sources.contract import START, Reading, latest

NOWHERE = Environment(home=Path("/nowhere"), variables={})
MADE_BY_HAND = {"unknown_future_entry_type": 1}
"""In a test file of another tool, which also has one line that is no record."""


def readings(corpus: Path, agent: str) -> dict[Path, Reading]:
    source = catalogue.load(agent)
    found = source.discover(NOWHERE, [str(corpus / agent)])
    return {item.path: source.read(item, START) for item in source.reading_order(list(found))}


def plain(corpus: Path, agent: str) -> list[dict[str, Any]]:
    """Every message, read in the plainest way."""
    found = []
    for path in sorted((corpus / agent).rglob("*")):
        for line in path.read_text("utf-8").splitlines() if path.is_file() else ():
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if record["type"] == "message":
                found.append(record["message"])
    return found


def events(corpus: Path, agent: str) -> list[AnyEvent]:
    return latest(event for reading in readings(corpus, agent).values() for event in reading.events)


@pytest.mark.parametrize(
    ("agent", "unknown", "problems"), [("openclaw", {}, 0), ("pi", MADE_BY_HAND, 1)]
)
def test_every_record_of_every_file_is_read_and_known(
    corpus: Path, agent: str, unknown: dict[str, int], problems: int
) -> None:
    told = readings(corpus, agent)
    assert set(told) == {path for path in (corpus / agent).rglob("*") if path.is_file()}
    for path, reading in told.items():
        assert reading.cursor.offset == path.read_bytes().rfind(b"\n") + 1
        assert not reading.more
    names = [event.name for event in events(corpus, agent) if isinstance(event, Unrecognised)]
    assert Counter(names) == unknown
    assert sum(len(reading.problems) for reading in told.values()) == problems


@pytest.mark.parametrize("agent", ["openclaw", "pi"])
def test_tokens_calls_and_results_are_those_of_the_files(corpus: Path, agent: str) -> None:
    known, messages = events(corpus, agent), plain(corpus, agent)
    counted = ("input", "output", "cacheRead", "cacheWrite")
    usages = [message["usage"] for message in messages if "usage" in message]
    requests = [event for event in known if isinstance(event, RequestUsage)]
    assert sum(map(total, requests)) == sum(it.get(name, 0) for it in usages for name in counted)
    asked = Counter(
        part["id"]
        for message in messages
        if message["role"] == "assistant"
        for part in message["content"]
        if part["type"] == "toolCall"
    )
    assert Counter(event.call for event in known if isinstance(event, ToolCall)) == asked
    answered = Counter(it["toolCallId"] for it in messages if it["role"] == "toolResult")
    results = [event for event in known if isinstance(event, ToolResult)]
    assert Counter(event.call for event in results) == answered


def test_a_call_failed_where_its_notes_say_so(corpus: Path) -> None:
    failed = Counter(
        message["toolCallId"]
        for message in plain(corpus, "openclaw")
        if isinstance(message.get("details"), dict) and message["details"].get("error")
    )
    results = [event for event in events(corpus, "openclaw") if isinstance(event, ToolResult)]
    found = Counter(event.call for event in results if event.status is Status.FAILED)
    assert failed
    assert not failed - found


@pytest.mark.parametrize("agent", ["openclaw", "pi"])
def test_every_event_survives_the_codec(corpus: Path, agent: str) -> None:
    for event in events(corpus, agent):
        assert codec.decode(codec.encode(event)) == event


def test_reading_in_small_pieces_tells_the_same(corpus: Path) -> None:
    source = catalogue.load("openclaw")
    found = list(source.discover(NOWHERE, [str(corpus / "openclaw")]))
    for transcript in found[::6]:
        whole = latest(source.read(transcript, START).events)
        pieces: list[AnyEvent] = []
        cursor, more = START, True
        while more:
            reading = source.read(transcript, cursor, 10_000)
            pieces += reading.events
            cursor, more = reading.cursor, reading.more
        assert latest(pieces) == whole
