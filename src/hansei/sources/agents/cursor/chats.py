"""How a database is read: the chats with new rows one after the other, each in its own order."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import msgspec

from hansei.sources.agents.cursor import heads, passes
from hansei.sources.agents.cursor.bubbles import bubble
from hansei.sources.agents.cursor.passes import State, as_bytes
from hansei.sources.agents.cursor.reader import Reader
from hansei.sources.agents.cursor.records import CHAT, Bubble, Chat, decoded
from hansei.sources.contract import START, Cursor, Reading
from hansei.sources.families import sqlite
from hansei.sources.families.streams import text_digest

if TYPE_CHECKING:
    from hansei.sources.agents.cursor.bubbles import Context
    from hansei.sources.agents.cursor.passes import Row
    from hansei.sources.contract import Transcript

KNOWN_VERSION = 1
"""The version that the editor has written into every database so far."""
MOST_NOTED = 64
_TABLES = {"cursorDiskKV", "ItemTable", "composerHeaders"}


def read(transcript: Transcript, since: Cursor, limit: int) -> Reading:
    """What is new in a database since the cursor."""
    return sqlite.read(transcript.path, lambda db: _read(db, transcript, since, limit))


def _read(db: sqlite3.Connection, transcript: Transcript, since: Cursor, limit: int) -> Reading:
    try:
        state = msgspec.convert(since.state, State)
    except msgspec.ValidationError:  # notes of another version of this file: begin again
        reading = _read(db, transcript, START, limit)
        reading.restarted = True
        return reading
    reader = Reader(transcript)
    folder = heads.folder_beside(transcript.path)
    tables = _tables(reader, db, state)
    more = restarted = False
    if not state.until:
        heads.tell(reader, db, tables, state.marks, folder)
    if "cursorDiskKV" in tables:
        if not state.until:
            passes.begin(db, state)
            restarted = bool(state.anchors) and not state.since
            for kind in passes.unknown_kinds(db):
                _note(reader, state, f"rows of an unknown kind: {kind}")
        more = _take_chats(reader, db, state, folder, limit)
    return Reading(
        cursor=Cursor(
            offset=0 if more else transcript.path.stat().st_size,
            state=msgspec.to_builtins(state),
        ),
        events=list(reader.events.values()),
        sessions=reader.sessions,
        problems=reader.problems,
        records=reader.records,
        taken=reader.taken,
        more=more,
        restarted=restarted,
    )


def _tables(reader: Reader, db: sqlite3.Connection, state: State) -> set[str]:
    """The tables there are. A database that is not as we know it is read as far as it goes."""
    tables = set(sqlite.tables(db))
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version > KNOWN_VERSION:
        _note(reader, state, f"version {version} of the database is not known")
    if tables and not tables & _TABLES:
        _note(reader, state, "none of the tables in the database is known")
    return tables


def _note(reader: Reader, state: State, reason: str) -> None:
    """Tell of a fault once."""
    mark = text_digest(reason)
    if mark not in state.noted and len(state.noted) < MOST_NOTED:
        state.noted.append(mark)
        reader.problem(0, reason)


def _take_chats(
    reader: Reader, db: sqlite3.Connection, state: State, folder: str | None, limit: int
) -> bool:
    """Tell the chats of the pass until the slice is full; whether there are more."""
    damaged = False

    def note(reason: str) -> None:
        nonlocal damaged
        damaged |= reason == sqlite.DAMAGED
        _note(reader, state, reason)

    for chat, rows in passes.chats(db, state, note):
        _take_chat(reader, db, state, chat, rows, folder, limit)
        if reader.taken >= limit:
            return True
    passes.end(db, state, damaged=damaged)
    return False


# --- one chat -------------------------------------------------------------------------------------


def _take_chat(
    reader: Reader,
    db: sqlite3.Connection,
    state: State,
    chat: str,
    rows: list[Row],
    folder: str | None,
    limit: int,
) -> None:
    """Tell the changed rows of one chat: first the chat itself, then its messages in order."""
    resumed = chat == state.chat
    rewritten = not resumed and any(not row.bubble for row in rows)
    whole = _chat(reader, db, chat, rewritten=rewritten)
    headers = whole.full_conversation_headers_only or ()
    order = {header.bubble_id: number for number, header in enumerate(headers)}
    spoken = bool(order) or any(row.bubble for row in rows)
    context = heads.chat(reader, db, chat, whole, folder, told=spoken)
    if rewritten:
        heads.early_messages(reader, context, whole)
    messages = sorted(
        (row for row in rows if row.bubble),
        key=lambda row: (order.get(row.bubble, len(order)), row.number),
    )
    places = [row.bubble for row in messages]
    start = places.index(state.bubble) + 1 if resumed and state.bubble in places else 0
    for row in messages[start:]:
        reader.lacking = False
        _take_message(reader, db, context, row)
        passes.wait(state, chat, row.bubble, lacking=reader.lacking)
        state.chat, state.bubble = chat, row.bubble
        if reader.taken >= limit and row is not messages[-1]:
            return
    state.chat, state.bubble = chat, ""


def _chat(reader: Reader, db: sqlite3.Connection, chat: str, *, rewritten: bool) -> Chat:
    """What is recorded of a chat as a whole: nothing if it was deleted, but not its messages.

    It is looked at for every new message; only when it is new itself it counts as a record.
    """
    try:
        row = db.execute(
            "SELECT rowid FROM cursorDiskKV WHERE key = ?", (f"{CHAT}:{chat}",)
        ).fetchone()
    except sqlite3.DatabaseError:
        row = None
    noted = reader if rewritten else Reader(reader.transcript)
    value = _value(noted, db, row[0]) if row is not None else None
    if value is None:
        return Chat()
    record, reason = decoded(value, Chat)
    if reason is not None:
        noted.problem(row[0], reason)
    noted.records += 1
    return record or Chat()


def _take_message(reader: Reader, db: sqlite3.Connection, context: Context, row: Row) -> None:
    value = _value(reader, db, row.number)
    reader.records += 1
    if value is None:
        return
    record, reason = decoded(value, Bubble)
    if reason is not None:
        reader.problem(row.number, reason)
    if record is not None:
        bubble(reader, context, record, row.bubble, value)


def _value(reader: Reader, db: sqlite3.Connection, number: int) -> bytes | None:
    try:
        row = db.execute("SELECT value FROM cursorDiskKV WHERE rowid = ?", (number,)).fetchone()
    except sqlite3.DataError:
        reader.problem(number, sqlite.TOO_LONG)
        return None
    except sqlite3.DatabaseError:
        reader.problem(number, "the row is damaged")
        return None
    value = as_bytes(row[0]) if row is not None else b""
    reader.taken += len(value)
    return value
