"""The database of one agent's sessions, which newer versions keep in the place of files.

A row is what a line of a file was. Rows come behind those that are there; where a session is
deleted or written anew their numbers may be used again, so the last row read is looked at first:
if it is not what it was, all rows are read anew, under the same keys.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from hansei.events.keys import digest
from hansei.events.model import Relation
from hansei.sources.agents.openclaw.reading import DIALECT, SPEAKERS, Listed, driver_of, facts_of
from hansei.sources.contract import Cursor, Problem, Reading
from hansei.sources.families import sqlite
from hansei.sources.families.records import FAILURES, rescue, salvage, take_lines
from hansei.sources.families.streams import remember, short
from hansei.sources.families.tree import records
from hansei.sources.families.tree.lines import take
from hansei.sources.families.tree.reader import Reader
from hansei.sources.families.tree.reader import State as Session

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hansei.events.model import AnyEvent, SessionFacts
    from hansei.sources.contract import Transcript
    from hansei.sources.families.tree.records import Entry

EVENTS, WINDOWS, NODES = "transcript_events", "session_windows", "session_nodes"
WANTED = {
    EVENTS: ("session_id", "seq", "event_json", "created_at"),
    WINDOWS: ("session_id", "session_key"),
    NODES: ("session_key", "current_session_id", "entry_json"),
}
"""Tables and columns without which a database says nothing to us."""
PACKED, PACKED_SIZE = "event_zstd", "event_utf8_bytes"
LONGEST_EVENT = 64 * 1024 * 1024
SESSIONS_KEPT = 256
"""Sessions whose calls may still be answered."""


class State(msgspec.Struct, omit_defaults=True):
    """What is remembered of a database."""

    row: int = 0
    """Every row up to this one has been read."""
    check: str = ""
    """What the last row read was known by."""
    sessions: dict[str, Session] = {}
    unknown: str = ""
    """What was told to be wrong with the schema."""
    damaged: bool = False


@dataclass
class RowReader(Reader):
    """A session under way whose lines are rows."""

    database: Database | None = None

    def entry_at(self, offset: int) -> Entry:
        line = self.database.line(offset) if self.database else b""
        try:
            return records.decode(line)
        except FAILURES:
            return salvage(rescue(line).value or {}, records.Entry)


@dataclass
class Database:
    """One unchanging state of a database, and what is being read from it."""

    connection: sqlite.Connection
    path: Path
    state: State
    readers: dict[str, RowReader] = field(default_factory=dict)
    events: dict[int, AnyEvent] = field(default_factory=dict)
    damage: set[str] = field(default_factory=set)
    problems: list[Problem] = field(default_factory=list)
    records: int = 0
    taken: int = 0

    def __post_init__(self) -> None:
        packed = {PACKED, PACKED_SIZE} <= sqlite.columns(self.connection, EVENTS)
        self._event = f"event_json, {f'{PACKED}, {PACKED_SIZE}' if packed else 'NULL, NULL'}"

    def one(self, query: str, *values: object) -> Any:
        return sqlite.one(self.connection, query, values, self.damage)

    def known_by(self, row: int) -> str:
        """What tells a row from another that has its number later; empty if there is none."""
        query = (
            f"SELECT session_id || ' ' || seq || ' ' || created_at FROM {EVENTS} WHERE rowid = ?"
        )
        return digest(sqlite.text(self.one(query, row)).encode()) if row else ""

    def rows(self, after: int) -> Iterator[tuple[int, str]]:
        query = f"SELECT rowid, session_id FROM {EVENTS} WHERE rowid > ?"
        for row, session in sqlite.rows(self.connection, query, (after,), self.damage):
            yield row, sqlite.text(session)

    def line(self, row: int) -> bytes:
        """An event as it was written; empty if it cannot be had."""
        try:
            found = self.connection.execute(
                f"SELECT {self._event} FROM {EVENTS} WHERE rowid = ?", (row,)
            ).fetchone()
        except sqlite3.DataError:
            self.problems.append(Problem(row, row, sqlite.TOO_LONG))
            return b""
        except sqlite3.DatabaseError:
            self.damage.add(sqlite.DAMAGED)
            return b""
        plain, packed, size = found or (None, None, None)
        if plain is not None:
            return plain if isinstance(plain, bytes) else sqlite.text(plain).encode()
        return self._unpacked(row, packed, size)

    def _unpacked(self, row: int, packed: Any, size: Any) -> bytes:
        if not isinstance(packed, bytes) or not isinstance(size, int) or size > LONGEST_EVENT:
            return b""
        # pyarrow takes 0.2 s to load; only packed rows need it.
        import pyarrow as pa

        try:
            return bytes(pa.Codec("zstd").decompress(packed, decompressed_size=size))
        except (OSError, ValueError, pa.ArrowException):
            self.problems.append(Problem(row, row, "packed, and cannot be unpacked"))
            return b""

    def reader(self, session: str) -> RowReader:
        """The reading of one session, which goes on where an earlier one was."""
        known = self.readers.get(session)
        if known is not None:
            return known
        name = short(session)
        state = self.state.sessions.get(name) or Session()
        reader = RowReader(DIALECT, self.path, state, state.session or name, database=self)
        reader.events = self.events  # in the order of the rows, whosever they are
        if state.header is not None:
            reader.use_header(reader.entry_at(state.header))
        if state.model is not None:
            reader.use_model(reader.entry_at(state.model))
        driver = driver_of(self._key_of(session))
        reader.speaker = SPEAKERS.get(driver) if driver else None
        self.readers[session] = reader
        return reader

    def _key_of(self, session: str) -> str:
        query = f"SELECT session_key FROM {WINDOWS} WHERE session_id = ?"
        return sqlite.text(self.one(query, session))

    def facts(self, session: str) -> SessionFacts | None:
        """What the tables say of a session beside its events."""
        key = self._key_of(session)
        if not key:
            return None
        query = f"SELECT entry_json FROM {NODES} WHERE session_key = ? AND current_session_id = ?"
        entry = _object(self.one(query, key, session))
        spawner = entry.get("spawnedBy")
        query = f"SELECT current_session_id FROM {NODES} WHERE session_key = ?"
        parent = sqlite.text(self.one(query, spawner)) if isinstance(spawner, str) else ""
        keys = {str(spawner): short(parent)} if parent else {}
        return facts_of(Listed(key, short(session), entry), keys)


def read(transcript: Transcript, since: Cursor, limit: int) -> Reading:
    """What is new since the cursor."""
    take_from = partial(_read, path=transcript.path, since=since, limit=max(limit, 1))
    reading = sqlite.read(transcript.path, take_from)
    # A cursor at the end of its file says that nothing waits to be read.
    place = since.offset + reading.taken if reading.more else transcript.path.stat().st_size
    reading.cursor = msgspec.structs.replace(reading.cursor, offset=place)
    return reading


def _read(connection: sqlite.Connection, path: Path, since: Cursor, limit: int) -> Reading:
    try:
        state = msgspec.convert(since.state, State)
    except msgspec.ValidationError:  # notes of another version of this file: begin again
        state = State()
    wrong = sqlite.unknown_schema(connection, WANTED)
    if wrong is not None or not sqlite.tables(connection):
        return _unknown(state, wrong or "")
    database = Database(connection, path, state)
    restarted = bool(state.row) and (state.damaged or database.known_by(state.row) != state.check)
    if restarted:
        state = database.state = State()
    more = _take_rows(database, limit)
    state.check = database.known_by(state.row)
    state.damaged = bool(database.damage)
    return _told(database, more=more, restarted=restarted)


def _unknown(state: State, wrong: str) -> Reading:
    """A database that is not ours to read; said once. One without tables is new."""
    mark = digest(wrong.encode()) if wrong else ""
    problems = [Problem(0, 0, wrong)] if mark and mark != state.unknown else []
    return Reading(cursor=Cursor(state={"unknown": mark} if mark else {}), problems=problems)


def _take_rows(database: Database, limit: int) -> bool:
    """Read the rows behind the last one; returns whether more are left."""
    for row, session in database.rows(database.state.row):
        # A damaged one is begun anew by the next reading: cut into slices, it would never end.
        if database.taken >= limit and not database.damage:
            return True
        line = database.line(row)
        database.taken += max(len(line), 1)
        reader = database.reader(session)
        take_lines(reader, [(row, row, line)], records.Entry, records.decode, take)
        remember(database.state.sessions, short(session), reader.state, SESSIONS_KEPT)
        database.state.row = max(database.state.row, row)
    return False


def _told(database: Database, *, more: bool, restarted: bool) -> Reading:
    reading = Reading(
        cursor=Cursor(state=msgspec.to_builtins(database.state)),
        events=list(database.events.values()),
        problems=[*database.problems, *(Problem(0, 0, it) for it in sorted(database.damage))],
        taken=database.taken,
        more=more,
        restarted=restarted,
    )
    for session, reader in database.readers.items():
        reading.problems += reader.problems
        reading.records += reader.records
        for name, facts in reader.sessions.items():
            reading.sessions[name] = _with(facts, database.facts(session))
    return reading


def _with(facts: SessionFacts, listed: SessionFacts | None) -> SessionFacts:
    """What the events tell of a session, with what the tables say of it."""
    if listed is None:
        return facts
    if listed.driver_recorded and not facts.driver_recorded:
        facts.driver, facts.driver_recorded = listed.driver, True
    facts.title = facts.title or listed.title
    facts.entrypoint = facts.entrypoint or listed.entrypoint
    if listed.relation is Relation.SUBAGENT:
        facts.parent, facts.relation = listed.parent, listed.relation
    return facts


def _object(stored: Any) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(stored) if stored else {}
    except FAILURES:
        return {}
    return value if isinstance(value, dict) else {}
