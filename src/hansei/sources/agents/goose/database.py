"""A database of sessions, read while the program may be writing it.

Messages only ever come behind those that are there: when a conversation is replaced, its rows are
deleted and written anew with higher numbers. So the last number read is the place to go on from.
Sessions are rewritten in place; those that changed lately are looked at again, and known by a
digest of their row.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from hansei.events.keys import digest, event_key
from hansei.events.model import Driver, RequestUsage
from hansei.sources.agents.goose import AGENT, messages, records, sessions
from hansei.sources.agents.goose.calls import Asked, asked_in
from hansei.sources.agents.goose.messages import Owner, Said, Told
from hansei.sources.agents.goose.records import Block, Visibility, words
from hansei.sources.agents.goose.sessions import Found, sound
from hansei.sources.contract import Cursor, Problem, Reading
from hansei.sources.families import sqlite
from hansei.sources.families.clock import instant
from hansei.sources.families.records import FAILURES, rescue, salvage
from hansei.sources.families.streams import Counts, billed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hansei.sources.contract import Transcript

WANTED = {
    "sessions": ("id", "working_dir", "updated_at"),
    "messages": ("session_id", "role", "content_json", "created_timestamp"),
}
"""Tables and columns without which a database says nothing to us."""
SESSION_COLUMNS = (
    "id", "name", "description", "session_type", "working_dir", "created_at", "updated_at",
    "schedule_id", "parent_session_id", "model_config_json", "accumulated_input_tokens",
    "accumulated_output_tokens", "accumulated_cache_read_tokens", "accumulated_cache_write_tokens",
)  # fmt: skip
LEDGER = "usage_ledger"
LEDGER_COLUMNS = (
    "session_id", "created_timestamp", "model", "input_tokens", "output_tokens", "total_tokens",
    "cache_read_tokens", "cache_write_tokens",
)  # fmt: skip
LOOKED_AT_AGAIN_MS = 10_000
"""Times of sessions are whole seconds, set by several programs at once."""
LOOKED_BACK = 64
"""How many answers before a result are searched for its call: it mostly is in the last one."""


class State(msgspec.Struct, omit_defaults=True):
    """What is remembered of a database."""

    row: int = 0
    """Every message up to this one has been read."""
    ledger: int = 0
    """So has every row of the ledger up to this one."""
    until: int | None = None
    """Every change of a session up to this time has been read."""
    seen: list[int] = []
    """Sessions that changed shortly before it, as they were read."""
    unknown: str = ""
    """What was told to be wrong with the schema."""
    damaged: bool = False


class _Held(msgspec.Struct):
    content: list[Block] | None = None


@dataclass
class Database:
    """One unchanging state of a database, and what is being read from it."""

    connection: sqlite.Connection
    told: Told = field(default_factory=Told)
    damage: set[str] = field(default_factory=set)
    found: dict[str, Found] = field(default_factory=dict)
    records: int = 0
    taken: int = 0

    def __post_init__(self) -> None:
        self.session_columns = self._present("sessions", SESSION_COLUMNS)
        self.ledger_columns = self._present(LEDGER, LEDGER_COLUMNS)
        notes = "metadata_json" in sqlite.columns(self.connection, "messages")
        self.message = f"content_json, {'metadata_json' if notes else 'NULL'}"
        selected = ", ".join(self.session_columns)
        self._sessions = sqlite.Lookup(self.connection, "sessions", "id", selected, self.damage)

    def _present(self, table: str, wanted: Sequence[str]) -> list[str]:
        there = sqlite.columns(self.connection, table)
        return [name for name in wanted if name in there]

    def one(self, query: str, *values: object) -> Any:
        return sqlite.one(self.connection, query, values, self.damage)

    def last_number(self) -> int:
        """The highest number a message ever had here: those of deleted ones are not used again."""
        if "sqlite_sequence" not in sqlite.tables(self.connection):
            return 0
        return self.one("SELECT seq FROM sqlite_sequence WHERE name = 'messages'") or 0

    def session(self, session: str) -> Found:
        """A session by its id, looked up once."""
        known = self.found.get(session)
        if known is None:
            rows = self._sessions.find(session)
            row = dict(zip(self.session_columns, rows[0], strict=True)) if rows else {"id": session}
            known = self.found[session] = sessions.of_row(row)
        return known

    def places(self, table: str, after: int) -> list[int]:
        """Numbers of the rows behind one, in their order."""
        query = f"SELECT rowid FROM {table} WHERE rowid > ?"
        return [place for (place,) in sqlite.rows(self.connection, query, (after,), self.damage)]

    def row(self, query: str, place: int) -> sqlite.Row | None:
        """One row; one that is too long or damaged costs no other."""
        try:
            found: sqlite.Row | None = self.connection.execute(query, (place,)).fetchone()
        except sqlite3.DataError:
            self.told.problems.append(Problem(place, place, sqlite.TOO_LONG))
        except sqlite3.DatabaseError:
            self.damage.add(sqlite.DAMAGED)
        else:
            return found
        return None

    def before(self, session: bytes, place: int) -> str:
        """The text of the message before one, if the program put it in."""
        query = (
            f"SELECT {self.message} FROM messages WHERE session_id = CAST(? AS TEXT)"
            " AND rowid < ? ORDER BY rowid DESC LIMIT 1"
        )
        for content, notes in self._several(query, session, place):
            return words(content_of(content)[0]) if visibility_of(notes).agent_only else ""
        return ""

    def asked(self, session: bytes, place: int, call: str) -> Asked | None:
        """The call with an id that an earlier message made."""
        query = (
            "SELECT created_timestamp, content_json FROM messages WHERE rowid < ? AND role ="
            " 'assistant' AND session_id = CAST(? AS TEXT) ORDER BY rowid DESC LIMIT ?"
        )
        for created, content in self._several(query, place, session, LOOKED_BACK):
            for part in content_of(content)[0]:
                if part.tool_call is not None and part.id == call:
                    return asked_in(created, part)
        return None

    def _several(self, query: str, *values: object) -> list[sqlite.Row]:
        try:
            return self.connection.execute(query, values).fetchall()
        except sqlite3.DatabaseError:
            self.damage.add(sqlite.DAMAGED)
            return []


def read(transcript: Transcript, since: Cursor, limit: int) -> Reading:
    """What is new since the cursor."""
    reading = sqlite.read(transcript.path, partial(_read, since=since, limit=max(limit, 1)))
    # A cursor at the end of its file says that nothing waits to be read.
    place = since.offset + reading.taken if reading.more else transcript.path.stat().st_size
    reading.cursor = msgspec.structs.replace(reading.cursor, offset=place)
    return reading


def _read(connection: sqlite.Connection, since: Cursor, limit: int) -> Reading:
    try:
        state = msgspec.convert(since.state, State)
    except msgspec.ValidationError:  # notes of another version of this file: begin again
        state = State()
    wrong = sqlite.unknown_schema(connection, WANTED)
    if wrong is not None or not sqlite.tables(connection):
        return _unknown(state, wrong or "")
    database = Database(connection)
    restarted = bool(state.row) and (state.damaged or database.last_number() < state.row)
    if restarted:
        state = State()
    more = _take_messages(database, state, limit)
    if not more:
        _take_sessions(database, state)
        _take_ledger(database, state)
    state.damaged = bool(database.damage)
    told = database.told
    told.problems += [Problem(0, 0, reason) for reason in sorted(database.damage)]
    return Reading(
        cursor=Cursor(state=msgspec.to_builtins(state)),
        events=list(told.events.values()),
        sessions=told.sessions,
        problems=told.problems,
        records=database.records,
        taken=database.taken,
        more=more,
        restarted=restarted,
    )


def _unknown(state: State, wrong: str) -> Reading:
    """A database that is not ours to read; said once. One without tables is new."""
    mark = digest(wrong.encode()) if wrong else ""
    problems = [Problem(0, 0, wrong)] if mark and mark != state.unknown else []
    return Reading(cursor=Cursor(state={"unknown": mark} if mark else {}), problems=problems)


# --- messages -------------------------------------------------------------------------------------


def _take_messages(database: Database, state: State, limit: int) -> bool:
    """Read messages behind the last one; returns whether more are left."""
    query = (
        f"SELECT session_id, role, created_timestamp, {database.message}"
        " FROM messages WHERE rowid = ?"
    )
    for place in database.places("messages", state.row):
        # A damaged one is begun anew by the next reading: cut into slices, it would never end.
        if database.taken >= limit and not database.damage:
            return True
        row = database.row(query, place)
        database.records += 1
        if row is not None:
            _take_message(database, place, row)
        if database.told.met_a_copy and not database.damage:
            return True  # a reading tells each thing once: who has it again is told by the next
        state.row = max(state.row, place)
    return False


def _take_message(database: Database, place: int, row: sqlite.Row) -> None:
    session, role, created, stored, notes = row
    content, reason = content_of(stored)
    data = _bytes(stored)
    database.taken += max(len(data), 1)
    if reason is not None:
        database.told.problems.append(Problem(place, place, reason))
    found = database.session(sqlite.text(session))
    database.told.sessions[found.owner.id] = found.facts
    stamp = sqlite.text(created) if isinstance(created, bytes) else created
    said = Said(
        owner=found.owner,
        role=sqlite.text(role),
        created=stamp,
        content=content,
        visibility=visibility_of(notes),
        before=partial(database.before, _bytes(session), place),
        ask=partial(database.asked, _bytes(session), place),
    )
    messages.take(database.told, said, data)


def content_of(stored: Any) -> tuple[list[Block], str | None]:
    """What a column holds: as many parts of a message as can be had, and why not all."""
    data = _bytes(stored)
    try:
        return records.decode_content(data), None
    except FAILURES:
        value, reason = rescue(b'{"content":' + data + b"}")
    held = salvage(value, _Held).content if value is not None else None
    return held or [], reason if held else reason or "not a list"


def visibility_of(stored: Any) -> Visibility:
    try:
        return records.decode_visibility(_bytes(stored)) if stored else Visibility()
    except FAILURES:
        return salvage(rescue(_bytes(stored)).value or {}, Visibility)


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else sqlite.text(value).encode()


# --- sessions -------------------------------------------------------------------------------------


def _take_sessions(database: Database, state: State) -> None:
    """Tell sessions that changed; the program adds up what they take as they go on."""
    since = (state.until or 0) - LOOKED_AT_AGAIN_MS
    changed = _changed(database, since)
    until = max([state.until or 0, *(at for _, at in changed)])
    seen, kept = set(state.seen), []
    for session, at in changed:
        if not _has_spoken(database, session):
            continue
        found = database.session(session)
        mark = event_key(session, str(found))
        if mark not in seen:
            sessions.tell(database.told, found, _untold(database, found))
        if at >= until - LOOKED_AT_AGAIN_MS:
            kept.append(mark)
    state.until, state.seen = until, sorted(kept)


def _changed(database: Database, since: int) -> list[tuple[str, int]]:
    """Sessions that changed since a time, with when they did."""
    query = "SELECT rowid, id, updated_at FROM sessions"
    found = []
    for _, session, stamp in sqlite.rows(database.connection, query, (), database.damage):
        at = instant(sqlite.text(stamp) if isinstance(stamp, bytes) else stamp) or 0
        if at >= since:
            found.append((sqlite.text(session), at))
    return found


def _has_spoken(database: Database, session: str) -> bool:
    query = "SELECT 1 FROM messages WHERE session_id = ? LIMIT 1"
    return database.one(query, session) is not None


def _untold(database: Database, found: Found) -> Counts:
    """What a session took, but for what the ledger tells.

    A session that began when there already was a ledger has all its requests in it, though its
    total may be written a moment before them.
    """
    if not database.ledger_columns:
        return found.total
    applied = database.one("SELECT max(applied_at) FROM schema_version")
    since = instant(sqlite.text(applied))
    if since is None or found.began is None or found.began >= since:
        return Counts()
    told = [_counts(row) for row in _ledger_of(database, found.owner.id)]
    left = [
        None if value is None else max(value - sum(item[place] or 0 for item in told), 0)
        for place, value in enumerate(found.total)
    ]
    return Counts(*left)


# --- requests -------------------------------------------------------------------------------------


def _take_ledger(database: Database, state: State) -> None:
    """One request for each row that is new."""
    if not database.ledger_columns:
        return
    query = f"SELECT {', '.join(database.ledger_columns)} FROM {LEDGER} WHERE rowid = ?"
    for place in database.places(LEDGER, state.ledger):
        state.ledger = max(state.ledger, place)
        values = database.row(query, place)
        if values is None:
            continue
        database.records += 1
        row = dict(zip(database.ledger_columns, values, strict=True))
        session = sqlite.text(row.get("session_id"))
        owner = database.session(session).owner if session else Owner("unknown", Driver.HUMAN)
        database.told.sessions.setdefault(owner.id, database.session(owner.id).facts)
        usage = RequestUsage(
            key=event_key(AGENT, "request", owner.id, str(place)),
            session=owner.id,
            at=instant(row.get("created_timestamp")),
            cwd=owner.cwd,
            model=sqlite.text(row.get("model")) or owner.model,
            **_counts(row)._asdict(),
        )
        database.told.emit(usage)


def _ledger_of(database: Database, session: str) -> list[dict[str, Any]]:
    names = database.ledger_columns
    query = f"SELECT {', '.join(names)} FROM {LEDGER} WHERE session_id = ?"
    try:
        found = database.connection.execute(query, (session,)).fetchall()
    except sqlite3.DatabaseError:
        database.damage.add(sqlite.DAMAGED)
        return []
    return [dict(zip(names, values, strict=True)) for values in found]


def _counts(row: dict[str, Any]) -> Counts:
    """Disjoint counts. The total beside them shows whether the input includes the cache."""
    names = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    taken, given, read, written = (row.get(name) for name in names)
    apart = Counts(sound(taken), sound(read), sound(written), None, sound(given))
    total = sound(row.get("total_tokens"))
    if total is not None and total == billed(apart):
        return apart if total else Counts()
    return sessions.counts(taken, given, read, written)
