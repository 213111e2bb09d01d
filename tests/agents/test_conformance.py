"""What every source must do, over every built-in source and every fixture it brings.

A fixture is a folder `tests/fixtures/agents/<agent>/<case>/` with files as the agent writes them
and `expected.json`, the truth worked out by hand. Where the agent writes a database, the fixture
has its rows, and the database is made from them; tests/databases.py says how.
"""

from __future__ import annotations

import json
import random
import shutil
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import databases
from hansei import plugins
from hansei.config import Environment
from hansei.events import codec
from hansei.events.model import (
    MARKER,
    Origin,
    Prompt,
    SlashCommand,
)
from hansei.sources import catalogue
from hansei.sources.contract import SLICE_BYTES, START, Cursor, Transcript, latest
from spoiling import swapped
from truth import Told, assert_truth, summarise

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hansei.sources.contract import Source

FIXTURES = Path(__file__).parents[1] / "fixtures" / "agents"
AGENTS = plugins.builtin_names(catalogue.PACKAGE)
CASES = sorted(path.parent for path in FIXTURES.glob("*/*/expected.json"))
LONGEST_IN_A_CURSOR = 100
FUZZ_SECONDS = 5.0
PERSONS = {Origin.HUMAN, Origin.QUEUED_HUMAN}

every_case = pytest.mark.parametrize(
    "case", CASES, ids=lambda path: f"{path.parent.name}-{path.name}"
)
quick = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


# --- reading --------------------------------------------------------------------------------------


def source_of(case: Path) -> Source:
    return catalogue.load(case.relative_to(FIXTURES).parts[0])


def transcripts(source: Source, folder: Path) -> list[Transcript]:
    nowhere = Environment(home=folder / "no-home", variables={})
    place = databases.made(folder) if folder in CASES else folder
    return source.reading_order(list(source.discover(nowhere, [str(place)])))


def read(
    source: Source,
    transcript: Transcript,
    told: Told | None = None,
    limit: int = SLICE_BYTES,
) -> Told:
    """Read on from where an earlier reading stopped, until there is no more."""
    told = told or Told()
    while True:
        reading = source.read(transcript, told.cursor, limit)
        assert len({event.key for event in reading.events}) == len(reading.events)
        told.events += reading.events
        told.problems += reading.problems
        told.restarted |= reading.restarted
        for facts in reading.sessions.values():
            told.learn(facts)
        told.cursor = msgspec.json.decode(msgspec.json.encode(reading.cursor), type=Cursor)
        if not reading.more:
            return told


def read_all(source: Source, folder: Path) -> Told:
    whole = Told()
    for transcript in transcripts(source, folder):
        whole.cursor = START
        read(source, transcript, whole)
    return whole


@contextmanager
def copied(case: Path) -> Iterator[Path]:
    """A copy of a fixture that a test may spoil."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        shutil.copytree(databases.made(case), copy)
        yield copy


def growing(case: Path) -> list[Transcript]:
    """The fixture's transcripts that grow line by line."""
    return [item for item in transcripts(source_of(case), case) if item.path.suffix == ".jsonl"]


def moved(transcript: Transcript, case: Path, copy: Path) -> Transcript:
    path = copy / transcript.path.relative_to(databases.made(case))
    return Transcript(transcript.agent, path, transcript.variant)


# --- the truth ------------------------------------------------------------------------------------


@every_case
def test_what_is_told_equals_the_fixtures_truth(case: Path) -> None:
    expected = json.loads((case / "expected.json").read_text("utf-8"))
    assert_truth(expected, summarise(read_all(source_of(case), case)))


# --- laws -----------------------------------------------------------------------------------------


@every_case
def test_reading_again_adds_nothing(case: Path) -> None:
    source = source_of(case)
    for transcript in transcripts(source, case):
        first = read(source, transcript)
        again = source.read(transcript, first.cursor)
        assert again.events == []
        assert again.problems == []
        assert not again.more
        assert not again.restarted
        assert again.cursor == first.cursor


@every_case
@given(limit=st.integers(1, 5_000))
@quick
def test_reading_in_pieces_equals_reading_whole(case: Path, limit: int) -> None:
    source = source_of(case)
    for transcript in transcripts(source, case):
        whole = read(source, transcript)
        pieces = read(source, transcript, limit=limit)
        assert pieces.known == whole.known
        assert pieces.sessions == whole.sessions
        assert pieces.problems == whole.problems
        assert pieces.cursor == whole.cursor


@every_case
@given(data=st.data())
@quick
def test_a_growing_file_tells_what_the_whole_file_tells(case: Path, data: st.DataObject) -> None:
    source = source_of(case)
    with copied(case) as copy:
        for transcript in growing(case):
            whole = read(source, transcript)
            content = transcript.path.read_bytes()
            cuts = data.draw(st.lists(st.integers(0, len(content)), max_size=6).map(sorted))
            live = moved(transcript, case, copy)
            told = Told()
            for cut in [*cuts, len(content)]:
                live.path.write_bytes(content[:cut])
                read(source, live, told)
            assert told.known == whole.known
            assert told.sessions == whole.sessions
            assert told.problems == whole.problems
            assert not told.restarted


@every_case
def test_a_cut_off_last_line_waits_for_its_rest(case: Path) -> None:
    source = source_of(case)
    with copied(case) as copy:
        for transcript in growing(case):
            content = transcript.path.read_bytes()
            live = moved(transcript, case, copy)
            head, _, last = content.rstrip(b"\r\n").rpartition(b"\n")
            live.path.write_bytes(head + b"\n" if head else b"")
            before = read(source, live)
            live.path.write_bytes(content[: len(head) + 1 + len(last) // 2] if head else last[:9])
            waiting = read(source, live, Told(cursor=before.cursor))
            assert waiting.events == []
            assert waiting.problems == []
            live.path.write_bytes(content)
            rest = read(source, live, Told(cursor=waiting.cursor))
            assert latest(before.events + rest.events) == read(source, transcript).known


@every_case
def test_a_rewritten_file_is_read_from_its_start_under_the_same_keys(case: Path) -> None:
    source = source_of(case)
    with copied(case) as copy:
        for transcript in growing(case):
            whole = read(source, transcript)
            live = moved(transcript, case, copy)
            lines = transcript.path.read_bytes().splitlines(keepends=True)
            live.path.write_bytes(b"".join(lines[1:]))
            shorter = read(source, live, Told(cursor=whole.cursor))
            assert shorter.restarted
            live.path.write_bytes(b"\n" * 300 + b"".join(lines))
            longer = read(source, live, Told(cursor=whole.cursor))
            assert longer.restarted
            assert [event.key for event in longer.known] == [event.key for event in whole.known]


GARBAGE = (b"{", b"}{", b"\xff\xfe\x00", b"[]", b"17", b'"text"', b"{'a': 1}", b'{"a":', b"=======")


@every_case
@given(data=st.data())
@quick
def test_broken_lines_are_counted_and_change_nothing_else(case: Path, data: st.DataObject) -> None:
    source = source_of(case)
    with copied(case) as copy:
        for transcript in growing(case):
            whole = read(source, transcript)
            lines = transcript.path.read_bytes().splitlines(keepends=True)
            places = data.draw(st.lists(st.integers(0, len(lines)), min_size=1, max_size=5))
            for place in places:
                lines.insert(place, data.draw(st.sampled_from(GARBAGE)) + b"\n")
            live = moved(transcript, case, copy)
            live.path.write_bytes(b"".join(lines))
            told = read(source, live)
            assert len(told.problems) == len(whole.problems) + len(places)
            assert told.known == whole.known


@every_case
def test_every_event_survives_the_codec(case: Path) -> None:
    for event in read_all(source_of(case), case).events:
        assert codec.decode(codec.encode(event)) == event


@every_case
def test_what_hansei_wrote_is_never_a_persons(case: Path) -> None:
    source = source_of(case)
    with copied(case) as copy:
        for transcript in growing(case):
            live = moved(transcript, case, copy)
            content = transcript.path.read_bytes()
            for text in _persons_texts(read(source, transcript)):
                said = json.dumps(text, ensure_ascii=False)[1:-1].encode()
                content = content.replace(said, f"{MARKER} ".encode() + said)
            live.path.write_bytes(content)
            told = read(source, live)
            for event in told.known:
                if isinstance(event, Prompt):
                    assert (event.origin is Origin.HANSEI) == (MARKER in event.text)
                if isinstance(event, SlashCommand):
                    assert MARKER not in event.text
            unmarked = _persons_texts(told)
            assert all("\ufffd" in text for text in unmarked), (
                "only what stands otherwise in the file"
            )


def _persons_texts(told: Told) -> set[str]:
    said = (event for event in told.known if isinstance(event, Prompt) and event.text)
    return {event.text for event in said if event.origin in PERSONS}


@every_case
def test_a_cursor_survives_storage_and_holds_no_text(case: Path) -> None:
    source = source_of(case)
    for transcript in transcripts(source, case):
        cursor = START
        while True:
            reading = source.read(transcript, cursor, 1)
            cursor = reading.cursor
            assert msgspec.json.decode(msgspec.json.encode(cursor), type=Cursor) == cursor
            texts = list(_strings(cursor.state))
            assert all(len(text) <= LONGEST_IN_A_CURSOR for text in texts)
            assert not any(" " in text or "\n" in text for text in texts)
            if not reading.more:
                break


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _strings(key)
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)


@every_case
def test_finding_transcripts_tells_their_fingerprints(case: Path) -> None:
    source = source_of(case)
    found = transcripts(source, case)
    assert found
    for transcript in found:
        assert transcript.agent == source.name
        assert transcript.fingerprint in ("", source.fingerprint(transcript))


@every_case
def test_the_order_of_reading_does_not_depend_on_the_order_of_finding(case: Path) -> None:
    source = source_of(case)
    ordered = transcripts(source, case)
    assert source.reading_order(ordered[::-1]) == ordered


@pytest.mark.parametrize("agent", AGENTS)
def test_every_source_has_fixtures_and_a_page_on_its_format(agent: str) -> None:
    assert any(case.parent.name == agent for case in CASES)
    assert (Path(__file__).parents[2] / "docs" / "formats" / f"{agent}.md").is_file()
    assert catalogue.load(agent).name == agent


# --- fuzz -----------------------------------------------------------------------------------------

HANGING_ON_ONE_LINE = 2
"""Events of other lines that one line may turn into others: a summary, a prompt in a queue."""


def _mutate(line: bytes, dice: random.Random) -> bytes:
    """Some bytes of a line changed, but never a newline put in."""
    spoiled = bytearray(line)
    for _ in range(dice.randint(1, 6)):
        place = dice.randrange(len(spoiled) or 1)
        action = dice.randrange(3)
        if action == 0:
            del spoiled[place : place + dice.randint(1, 20)]
        elif action == 1:
            spoiled[place:place] = dice.randbytes(dice.randint(1, 4))
        elif place < len(spoiled):
            spoiled[place] = dice.randrange(256)
    return bytes(spoiled).replace(b"\n", b"")


def _swapped(line: bytes, dice: random.Random) -> bytes:
    try:
        return json.dumps(swapped(json.loads(line), dice)).encode()
    except ValueError:
        return _mutate(line, dice)


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("spoil", [_mutate, _swapped])
def test_a_spoiled_line_never_raises_and_never_costs_another(
    agent: str, spoil: Callable[[bytes, random.Random], bytes], tmp_path: Path
) -> None:
    source = catalogue.load(agent)
    dice = random.Random(20261116)
    files = [item for case in CASES if case.parent.name == agent for item in growing(case)]
    if not files:
        pytest.skip(f"no transcript of {agent} grows line by line")
    until = time.monotonic() + FUZZ_SECONDS / 2
    rounds = 0
    while time.monotonic() < until:
        transcript = dice.choice(files)
        lines = transcript.path.read_bytes().split(b"\n")
        place = dice.randrange(len(lines) - 1)
        live = Transcript(agent, tmp_path / transcript.path.name, transcript.variant)
        live.path.write_bytes(b"\n".join(lines[:place] + lines[place + 1 :]))
        without = read(source, live)
        spoiled = spoil(lines[place], dice)
        live.path.write_bytes(b"\n".join([*lines[:place], spoiled, *lines[place + 1 :]]))
        told = read(source, live)
        assert len(told.problems) <= len(without.problems) + 1
        lost = {event.key for event in without.known} - {event.key for event in told.known}
        assert len(lost) <= HANGING_ON_ONE_LINE, spoiled
        for event in told.known:
            assert codec.decode(codec.encode(event)) == event
        assert max(map(len, _strings(told.cursor.state)), default=0) <= LONGEST_IN_A_CURSOR
        rounds += 1
    assert rounds > 20
