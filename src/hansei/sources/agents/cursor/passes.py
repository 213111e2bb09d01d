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
from hansei.sources.agents.cursor.records import CHAT, IGNORED, MESSAGE

if TYPE_CHECKING:
    from collections.abc import Iterator

ANCHORS = (0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 1023)
"""How far below the highest number anchors are looked for."""
MOST_KINDS = 256
"""Kinds of rows that are looked at: a table with more of them holds something else."""

_UNBOUNDED = 2**62
_KIND = re.compile(r"[A-Za-z][A-Za-z.]{0,40}(?=[:.-]|$)")
_ID = re.compile(r"[\w.-]{1,80}")
_BY_KEY = f"""SELECT rowid, key FROM cursorDiskKV WHERE +rowid <= :until AND
    (key >= '{CHAT}:' AND key < '{CHAT};' OR key >= '{MESSAGE}:' AND key < '{MESSAGE};')"""
_BY_NUMBER = """SELECT rowid, key FROM cursorDiskKV NOT INDEXED
    WHERE rowid > :since AND rowid <= :until ORDER BY rowid"""


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
    noted: list[str] = []
    """Kinds of rows and of faults that were told of already."""


class Row(NamedTuple):
    """A changed row of a chat: a message's, or the chat's own, which has no message."""

    number: int
    bubble: str


class Changed(NamedTuple):
    """The rows of a pass by chat, and what was wrong with others."""

    chats: dict[str, list[Row]]
    odd: set[str]
    """Kinds of rows with ids that are none."""
    damaged: bool


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


def changed(db: sqlite3.Connection, state: State) -> Changed:
    """The rows of the pass."""
    keys, damaged = _keys(db, state)
    found = Changed({}, set(), damaged)
    for number, key in keys.items():
        kind, _, rest = key.decode("utf-8", "replace").partition(":")
        chat, _, message = rest.partition(":")
        if kind not in (CHAT, MESSAGE):
            continue
        if not _ID.fullmatch(chat) or (kind == MESSAGE and not _ID.fullmatch(message)):
            found.odd.add(kind)
            continue
        row = Row(number, message if kind == MESSAGE else "")
        found.chats.setdefault(chat, []).append(row)
    return found


def _keys(db: sqlite3.Connection, state: State) -> tuple[dict[int, bytes], bool]:
    """Keys by number, and whether some cannot be had.

    A damaged page ends the way through a table. What lies behind it is reached from the other end.
    """
    ways = [_BY_NUMBER, f"{_BY_NUMBER} DESC"]
    if not state.since:
        ways.insert(0, _BY_KEY)
    found: dict[int, bytes] = {}
    bounds = {"since": state.since, "until": state.until}
    for attempt, way in enumerate(ways):
        try:
            for number, key in db.execute(way, bounds):
                found[number] = as_bytes(key)
        except sqlite3.DatabaseError:
            continue
        return found, attempt > 0
    return found, True


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
