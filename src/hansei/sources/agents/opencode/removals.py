"""Messages that were deleted: what a person reverted, and had paid for.

Going on after a revert deletes the messages behind it. Since 2026 the program also keeps a log of
everything that happened to a session, and there they still stand, as they last were. This file is
the only one that reads that log: all else in it is told better by the tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from hansei.sources.agents.opencode.stored import Stored
from hansei.sources.families import sqlite
from hansei.sources.families.records import FAILURES

if TYPE_CHECKING:
    from collections.abc import Iterator

_COLUMNS = {"aggregate_id", "type", "data"}
_REMOVED = "message.removed.%"
_WRITTEN = ("message.updated.%", "message.part.updated.%")


class Removed(NamedTuple):
    """A message that was deleted, by the line of the log that says so."""

    place: int
    session: str
    message: str


class Kept(NamedTuple):
    """A deleted message with its parts, as the log has them."""

    message: Stored
    parts: list[Stored]


class _Ids(msgspec.Struct, gc=False):
    id: str = ""
    messageID: str = ""  # noqa: N815 - as it is written


class _Line(msgspec.Struct, gc=False):
    messageID: str = ""  # noqa: N815
    info: msgspec.Raw = msgspec.Raw()
    part: msgspec.Raw = msgspec.Raw()


_decode_line = msgspec.json.Decoder(_Line).decode
_decode_ids = msgspec.json.Decoder(_Ids).decode


def end_of_log(connection: sqlite.Connection) -> int:
    """The place of the log's last line; 0 where there is no log."""
    if not sqlite.columns(connection, "event") >= _COLUMNS:
        return 0
    return sqlite.number(connection.execute("SELECT max(rowid) FROM event").fetchone()[0]) or 0


def removals(connection: sqlite.Connection, beyond: int, damage: set[str]) -> list[Removed]:
    """Messages that were deleted, by lines of the log behind a place."""
    query = "SELECT rowid, aggregate_id, data FROM event WHERE rowid > ? AND type LIKE ?"
    return [
        Removed(place, sqlite.text(session), line.messageID)
        for place, session, data in sqlite.rows(connection, query, (beyond, _REMOVED), damage)
        if (line := _line(data)) is not None and line.messageID
    ]


def logged(connection: sqlite.Connection, session: str) -> dict[str, Kept]:
    """Every message of a session as it last was, deleted or not, by its id."""
    messages: dict[str, Stored] = {}
    parts: dict[str, dict[str, Stored]] = {}
    for place, line in _lines(connection, session):
        told = bytes(line.info) or bytes(line.part)
        try:
            ids = _decode_ids(told)
        except FAILURES:
            continue
        if bytes(line.info):
            messages[ids.id] = Stored(place, ids.id, told)
        else:
            parts.setdefault(ids.messageID, {})[ids.id] = Stored(place, ids.id, told)
    return {
        name: Kept(message, [part for _, part in sorted(parts.get(name, {}).items())])
        for name, message in messages.items()
    }


def _lines(connection: sqlite.Connection, session: str) -> Iterator[tuple[int, _Line]]:
    """What was written into a session, oldest first."""
    query = (
        "SELECT rowid, data FROM event WHERE aggregate_id = ? AND (type LIKE ? OR type LIKE ?)"
        " ORDER BY rowid"
    )
    for place, data in connection.execute(query, (session, *_WRITTEN)):
        line = _line(data)
        if line is not None:
            yield place, line


def _line(data: object) -> _Line | None:
    try:
        return _decode_line(data) if isinstance(data, bytes) else None
    except FAILURES:
        return None
