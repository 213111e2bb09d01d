"""Which rows of a database are new: by their numbers, in passes.

A row that is written again gets a new, higher number, so what is new is what has a higher number
than the last row known. A few rows are remembered as anchors: if the newest one was deleted, its
number may have been given away again, and the next anchor holds. If none is left the database was
packed, and all of it is read again under the same keys.

A pass covers the numbers up to the highest at its beginning; what is written meanwhile waits for
the next one.
"""

from __future__ import annotations

import re
import sqlite3
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from hansei.events.keys import digest
from hansei.sources.agents.cursor.records import CHAT, CONTENT, IGNORED, MESSAGE
from hansei.sources.families import sqlite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

ANCHORS = (0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 1023)
"""How far below the highest number anchors are looked for."""
MOST_WAITING = 64
"""Edits that are told again when more states of files have come."""
MOST_KINDS = 256
"""Kinds of rows that are looked at: a table with more of them holds something else."""

_UNBOUNDED = 2**62
_CONTENTS = f"{CONTENT}.".encode()
_KIND = re.compile(r"[A-Za-z][A-Za-z.]{0,40}(?=[:.-]|$)")
_ID = re.compile(r"[\w.-]{1,80}")
_BY_NUMBER = """SELECT rowid, key FROM cursorDiskKV NOT INDEXED
    WHERE rowid > ? AND rowid <= ?"""
_BETWEEN = "SELECT rowid, key FROM cursorDiskKV WHERE key >= ? AND key < ? AND +rowid <= ?"
_NEXT = f"""SELECT key FROM cursorDiskKV WHERE key >= CAST(? AS TEXT) AND key < '{MESSAGE};'
    ORDER BY key LIMIT 1"""


class Anchor(msgspec.Struct, array_like=True):
    """A row that was there: its number, and what its key is known by."""

    row: int
    mark: str


class State(msgspec.Struct, omit_defaults=True):
    """How far a database has been read."""

    anchors: list[Anchor] = []
    since: int = 0
    until: int = 0
    """The pass under way: rows after the first and up to the second; none if the second is 0."""
    chat: str = ""
    bubble: str = ""
    """How far it is: the last chat told, and the last message of it unless all of it is told."""
    marks: dict[str, str] = {}
    """Digests of what is read beside the chats, to see whether it changed."""
    waiting: list[list[str]] = []
    """Chat and message of edits of which the file before or after was not there."""
    noted: list[str] = []
    """Kinds of rows and of faults that were told of already."""


class Row(NamedTuple):
    """A changed row of a chat: a message's, or the chat's own, which has no message."""

    number: int
    bubble: str


def begin(db: sqlite3.Connection, state: State) -> None:
    """Start a pass over what is new."""
    try:
        (highest,) = db.execute("SELECT max(rowid) FROM cursorDiskKV").fetchone()
        state.since, state.until = _intact(db, state.anchors), highest or 0
    except sqlite3.DatabaseError:
        state.since, state.until = 0, _UNBOUNDED
    state.chat = state.bubble = ""


def _intact(db: sqlite3.Connection, anchors: list[Anchor]) -> int:
    """The highest anchor that still stands; nothing below it can be new."""
    for anchor in anchors:
        row = db.execute("SELECT key FROM cursorDiskKV WHERE rowid = ?", (anchor.row,)).fetchone()
        if row is not None and digest(as_bytes(row[0])) == anchor.mark:
            return anchor.row
    return 0


def end(db: sqlite3.Connection, state: State, *, damaged: bool) -> None:
    """Finish the pass. What is damaged may be whole again next time, so all of it is read then."""
    found: dict[int, Anchor] = {}
    for below in () if damaged else ANCHORS:
        row = db.execute(
            "SELECT rowid, key FROM cursorDiskKV WHERE rowid <= ? ORDER BY rowid DESC LIMIT 1",
            (state.until - below,),
        ).fetchone()
        if row is not None:
            found[row[0]] = Anchor(row[0], digest(as_bytes(row[1])))
    state.anchors = list(found.values())
    state.since = state.until = 0
    state.chat = state.bubble = ""


def place(chat: str) -> str:
    """Where a chat stands in the order of a pass, which is that of the keys of its messages."""
    return f"{chat}:"


def chats(
    db: sqlite3.Connection, state: State, note: Callable[[str], None]
) -> Iterator[tuple[str, list[Row]]]:
    """The chats of the pass from where it is, each with its changed rows.

    After an anchor all new rows are had at once by their numbers. Without one there are many, and
    the index over the keys leads from chat to chat. `note` is told of what cannot be had.
    """
    if not state.since:
        try:
            yield from _by_key(db, state, note)
        except sqlite3.DatabaseError:
            note(sqlite.DAMAGED)
        else:
            return
    yield from _by_number(db, state, note)


def _is_ahead(state: State, chat: str) -> bool:
    at = place(state.chat)
    return place(chat) > at or (chat == state.chat and state.bubble != "")


def _by_key(
    db: sqlite3.Connection, state: State, note: Callable[[str], None]
) -> Iterator[tuple[str, list[Row]]]:
    bounds = (f"{CHAT}:", f"{CHAT};", state.until)
    listed = _grouped(db.execute(_BETWEEN, bounds), note)
    waiting = sorted((chat for chat in listed if _is_ahead(state, chat)), key=place, reverse=True)
    after = b""
    if state.chat:
        after = (place(state.chat) if state.bubble else f"{state.chat};").encode()
    after = f"{MESSAGE}:".encode() + after
    while True:
        row = db.execute(_NEXT, (after,)).fetchone()
        spoken = _chat_in(as_bytes(row[0])) if row is not None else None
        while waiting and (spoken is None or place(waiting[-1]) < place(spoken)):
            chat = waiting.pop()
            yield chat, listed[chat]
        if spoken is None:
            return
        if waiting and waiting[-1] == spoken:
            waiting.pop()
        end = f"{MESSAGE}:{spoken};"
        bounds = (f"{MESSAGE}:{spoken}", end, state.until)
        rows = [
            *listed.get(spoken, ()),
            *_grouped(db.execute(_BETWEEN, bounds), note).get(spoken, ()),
        ]
        if rows:
            yield spoken, rows
        # An id that is no text is passed over by itself.
        after = max(end.encode(), as_bytes(row[0]) + b"\0")


def _by_number(
    db: sqlite3.Connection, state: State, note: Callable[[str], None]
) -> Iterator[tuple[str, list[Row]]]:
    damage: set[str] = set()
    rows = sqlite.rows(db, _BY_NUMBER, (state.since, state.until), damage)
    found = {number: as_bytes(key) for number, key in rows}
    for reason in damage:
        note(reason)
    if any(key.startswith(_CONTENTS) for key in found.values()):
        found |= _waiting(db, state)
    grouped = _grouped(found.items(), note)
    for chat in sorted(grouped, key=place):
        if _is_ahead(state, chat):
            yield chat, grouped[chat]


def _waiting(db: sqlite3.Connection, state: State) -> dict[int, bytes]:
    """Messages that are told already, and can be told better now."""
    keys = [f"{MESSAGE}:{chat}:{bubble}" for chat, bubble in state.waiting]
    rows = (db.execute("SELECT rowid FROM cursorDiskKV WHERE key = ?", (key,)) for key in keys)
    found = zip((row.fetchone() for row in rows), keys, strict=True)
    return {number[0]: key.encode() for number, key in found if number is not None}


def wait(state: State, chat: str, bubble: str, *, lacking: bool) -> None:
    """Remember whether a message is to be told again."""
    identity = [chat, bubble]
    if identity in state.waiting:
        state.waiting.remove(identity)
    if lacking:
        state.waiting.append(identity)
        del state.waiting[:-MOST_WAITING]


def _chat_in(key: bytes) -> str:
    return key.decode("utf-8", "replace").split(":")[1]


def _grouped(
    rows: Iterable[tuple[int, bytes]], note: Callable[[str], None]
) -> dict[str, list[Row]]:
    """Rows of chats and messages by chat."""
    found: dict[str, list[Row]] = {}
    for number, key in rows:
        kind, _, rest = as_bytes(key).decode("utf-8", "replace").partition(":")
        if kind not in (CHAT, MESSAGE):
            continue
        chat, _, message = rest.partition(":")
        if not _ID.fullmatch(chat) or (kind == MESSAGE and not _ID.fullmatch(message)):
            note(f"rows of the kind {kind} with ids that are none")
            continue
        found.setdefault(chat, []).append(Row(number, message if kind == MESSAGE else ""))
    return found


def unknown_kinds(db: sqlite3.Connection) -> Iterator[str]:
    """Kinds of rows that nobody knows; every kind is one step of the index."""
    after = b""
    for _ in range(MOST_KINDS):
        try:
            row = db.execute(
                "SELECT key FROM cursorDiskKV WHERE key > CAST(? AS TEXT) ORDER BY key LIMIT 1",
                (after,),
            ).fetchone()
        except sqlite3.DatabaseError:
            return
        if row is None:
            return
        key = as_bytes(row[0])
        found = _KIND.match(key.decode("utf-8", "replace"))
        kind = found[0] if found else ""
        if kind not in IGNORED and kind not in (CHAT, MESSAGE):
            yield kind or "without a name"
        after = f"{kind};".encode() if kind else key


def as_bytes(value: object) -> bytes:
    """A column's value as the bytes it is stored as."""
    return value if isinstance(value, bytes) else b"" if value is None else str(value).encode()
