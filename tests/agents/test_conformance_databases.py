"""What every source must do that reads databases, over every fixture made of rows.

An agent writes its rows one by one, and rewrites some, while it is being read.
"""

from __future__ import annotations

import json
import random
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import databases
from hansei.config import Environment
from hansei.errors import UnreadableTranscript
from hansei.events import codec
from hansei.events.model import MARKER, AnyEvent, Origin, Prompt, SlashCommand
from hansei.sources import catalogue
from hansei.sources.contract import START, Cursor, Problem, Source, Transcript, latest
from hansei.sources.families import sqlite
from spoiling import swapped

ROWS = sorted(databases.FIXTURES.glob("*/*/**/*.rows"))
FUZZ_SECONDS = 1.5

every_database = pytest.mark.parametrize(
    "rows", ROWS, ids=lambda path: f"{path.parents[1].name}-{path.parent.name}"
)
quick = settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@dataclass
class Told:
    """What the readings of one database have brought."""

    events: list[AnyEvent] = field(default_factory=list)
    problems: set[Problem] = field(default_factory=set)
    cursor: Cursor = START

    @property
    def known(self) -> dict[int, AnyEvent]:
        return {event.key: event for event in latest(self.events)}

    def read(self, source: Source, transcript: Transcript) -> Told:
        while True:
            reading = source.read(transcript, self.cursor)
            assert len({event.key for event in reading.events}) == len(reading.events)
            assert not reading.restarted
            self.events += reading.events
            self.problems |= set(reading.problems)
            self.cursor = msgspec.json.decode(msgspec.json.encode(reading.cursor), type=Cursor)
            if not reading.more:
                return self


def agent_of(rows: Path) -> str:
    return rows.relative_to(databases.FIXTURES).parts[0]


def source_of(rows: Path) -> Source:
    return catalogue.load(agent_of(rows))


def transcript_of(rows: Path, folder: Path) -> Transcript:
    """The one database in a folder, as the agent's source finds it."""
    nowhere = Environment(home=folder / "no-home", variables={})
    (found,) = source_of(rows).discover(nowhere, [str(folder)])
    return found


@contextmanager
def written(rows: Path, folder: Path, content: list[dict[str, Any]]) -> Iterator[Transcript]:
    """A database that holds these rows, and whose agent is still at work."""
    with closing(begun(rows, folder)) as agent:
        for row in content:
            databases.write(agent, row)
        yield transcript_of(rows, folder)


def begun(rows: Path, folder: Path) -> sqlite3.Connection:
    folder.mkdir(parents=True)
    return databases.begin(rows, folder / rows.with_suffix("").name)


def look(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        path.name: (path.stat().st_mtime_ns, path.read_bytes())
        for path in folder.iterdir()
        if not path.name.endswith(sqlite.SHARED)
    }


@every_database
@given(data=st.data())
@quick
def test_a_database_read_while_it_is_written_tells_what_the_whole_tells(
    rows: Path, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder, source = tmp_path_factory.mktemp("live"), source_of(rows)
    content = databases.rows_of(rows)
    with written(rows, folder / "whole", content) as transcript:
        whole = Told().read(source, transcript)
    cuts = data.draw(st.sets(st.integers(0, len(content)), max_size=8))
    live = Told()
    with closing(begun(rows, folder / "live")) as agent:
        transcript = transcript_of(rows, folder / "live")
        for number, row in enumerate(content):
            if number in cuts:
                live.read(source, transcript)
            databases.write(agent, row)
        live.read(source, transcript)
        assert live.known == whole.known
        assert live.problems == whole.problems
        assert live.cursor.state.get("seen") == whole.cursor.state.get("seen")


@every_database
def test_reading_changes_neither_the_database_nor_its_folder(rows: Path, tmp_path: Path) -> None:
    source = source_of(rows)
    with written(rows, tmp_path / "agent", databases.rows_of(rows)) as transcript:
        before = look(tmp_path / "agent")
        assert len(before) == 2, "rows are only in -wal so far"
        live = Told().read(source, transcript)
        assert look(tmp_path / "agent") == before
    before = look(tmp_path / "agent")
    assert list(before) == [transcript.path.name]
    closed = Told().read(source, transcript)
    assert look(tmp_path / "agent") == before
    assert sorted(path.name for path in (tmp_path / "agent").iterdir()) == list(before)
    assert closed.known == live.known


LARGEST = [
    max((path for path in ROWS if agent_of(path) == agent), key=lambda path: path.stat().st_size)
    for agent in sorted(set(map(agent_of, ROWS)))
]
LAPS = 12
"""How often the agent goes through its rows, so that it is at work for a while."""


def every_byte(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.iterdir()}


@pytest.mark.parametrize("journal", ["WAL", "DELETE"])
@pytest.mark.parametrize("rows", LARGEST, ids=agent_of)
def test_another_program_that_goes_on_writing_never_finds_us_in_its_way(
    rows: Path, journal: str, tmp_path: Path
) -> None:
    """It waits for nobody: a lock of ours would be an error it tells."""
    source, folder, content = source_of(rows), tmp_path / "agent", databases.rows_of(rows)
    begun(rows, folder).close()
    transcript, live, answers = transcript_of(rows, folder), Told(), list[str]()
    agent = databases.Program(transcript.path)
    try:
        assert agent(f"PRAGMA journal_mode = {journal}") == [f"[('{journal.lower()}',)]"]
        assert agent("PRAGMA synchronous = OFF") == ["[]"]
        statements = [databases.spelled_out(row) for _ in range(LAPS) for row in content]
        work = threading.Thread(target=lambda: answers.extend(agent(*statements)))
        work.start()
        while work.is_alive():
            with suppress(UnreadableTranscript):  # it never held still; it is read again
                live.read(source, transcript)
        work.join()
        assert set(answers) == {"[]"}
        assert len(answers) == len(statements)
        before = every_byte(folder)
        assert (f"{transcript.path.name}-shm" in before) == (journal == "WAL")
        live.read(source, transcript)
        assert every_byte(folder) == before
    finally:
        agent.kill()
    _left_behind(source, transcript, live)


def _left_behind(source: Source, transcript: Transcript, live: Told) -> None:
    """The program was killed: its log is still read, without an index, and nothing is repaired."""
    folder = transcript.path.parent
    sqlite.beside(transcript.path, sqlite.SHARED).unlink(missing_ok=True)
    folder.chmod(0o500)
    try:
        before = every_byte(folder)
        whole = Told().read(source, transcript)
        assert every_byte(folder) == before
    finally:
        folder.chmod(0o700)
    assert live.known.keys() == whole.known.keys()


@every_database
def test_what_hansei_wrote_is_never_a_persons(rows: Path, tmp_path: Path) -> None:
    source, lines = source_of(rows), rows.read_text("utf-8")
    with written(rows, tmp_path / "plain", databases.rows_of(rows)) as transcript:
        said = list(Told().read(source, transcript).known.values())
    persons = {Origin.HUMAN, Origin.QUEUED_HUMAN}
    texts = {
        event.text
        for event in said
        if isinstance(event, Prompt) and event.origin in persons and event.text
    }
    head, *content = lines.splitlines()
    for text in texts:
        quoted = json.dumps(text, ensure_ascii=False)[1:-1]
        content = [line.replace(quoted, f"{MARKER} {quoted}") for line in content]
    assert json.loads(head)
    marked = [json.loads(line) for line in content]
    with written(rows, tmp_path / "marked", marked) as transcript:
        told = Told().read(source, transcript).known.values()
    for event in told:
        if isinstance(event, Prompt):
            assert (event.origin is Origin.HANSEI) == (MARKER in event.text)
        if isinstance(event, SlashCommand):
            assert MARKER not in event.text


HANGING_ON_ONE_ROW = 2
"""Events of other rows that one row may turn into others."""


def _spoiled(value: Any, dice: random.Random) -> Any:
    """A column's JSON with another value in it, or with bytes that are none."""
    if dice.random() < 0.5:
        return json.dumps(swapped(value, dice))
    content = bytearray(json.dumps(value).encode())
    for _ in range(dice.randint(1, 6)):
        place = dice.randrange(len(content) or 1)
        content[place : place + dice.randint(0, 9)] = dice.randbytes(dice.randint(0, 4))
    return bytes(content)


def _identity(row: dict[str, Any]) -> tuple[Any, ...]:
    """What a row is known by: its table and its first column."""
    return tuple(row.values())[:2]


def _document(row: dict[str, Any]) -> str:
    """The column that holds JSON; empty if none does."""
    return next((name for name, value in row.items() if isinstance(value, dict | list)), "")


@every_database
def test_a_spoiled_row_never_raises_and_never_costs_another(rows: Path, tmp_path: Path) -> None:
    source, content = source_of(rows), databases.rows_of(rows)
    dice = random.Random(20261116)
    last = {_identity(row): row for row in content}
    places = [row for row in last.values() if _document(row)]
    until = time.monotonic() + FUZZ_SECONDS
    number = 0
    while time.monotonic() < until and number < 40:
        number += 1
        row = dice.choice(places)
        others = [item for item in content if _identity(item) != _identity(row)]
        with written(rows, tmp_path / f"without{number}", others) as transcript:
            without = Told().read(source, transcript)
        document = _document(row)
        spoiled = {**row, document: _spoiled(row[document], dice)}
        try:
            with written(rows, tmp_path / f"spoiled{number}", [*others, spoiled]) as transcript:
                told = Told().read(source, transcript)
        except sqlite3.IntegrityError:  # a strict table holds no such row
            continue
        assert len(told.problems) <= len(without.problems) + 1
        lost = Counter(map(type, without.known.values())) - Counter(map(type, told.known.values()))
        assert sum(lost.values()) <= HANGING_ON_ONE_ROW, spoiled[document]
        for event in told.known.values():
            assert codec.decode(codec.encode(event)) == event
    assert number > 3


@every_database
def test_a_damaged_database_is_read_to_its_end_in_the_smallest_steps(
    rows: Path, tmp_path: Path
) -> None:
    source, content = source_of(rows), databases.rows_of(rows)
    dice = random.Random(7)
    for number in range(4):
        folder = tmp_path / str(number)
        with written(rows, folder, content) as transcript:
            pass
        data = bytearray(transcript.path.read_bytes())
        for _ in range(3):
            place = dice.randrange(len(data) // 3, len(data))
            data[place : place + 60] = dice.randbytes(len(data[place : place + 60]))
        transcript.path.write_bytes(data)
        cursor, more = START, True
        with suppress(UnreadableTranscript):  # which ends it too, with the file named
            for _ in range(20 * len(content) + 100):
                reading = source.read(transcript, cursor, 1)
                cursor, more = reading.cursor, reading.more
                if not more:
                    break
            assert not more
