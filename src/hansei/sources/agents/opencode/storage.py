"""Where sessions are kept: in a database, or as a file for each session, message and part.

Both are asked the same few questions. A message is the unit of reading: it is read again, with all
its parts, when it or one of them has changed. What changed is found by the times that rows, or
files, carry.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from hansei.sources.agents.opencode import EARLY, messages_of
from hansei.sources.agents.opencode.progress import Changed, Found
from hansei.sources.agents.opencode.removals import Kept, Removed, end_of_log, logged, removals
from hansei.sources.agents.opencode.stored import Stored
from hansei.sources.families import sqlite
from hansei.sources.families.records import FAILURES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hansei.sources.agents.opencode.progress import State
    from hansei.sources.contract import Transcript

WANTED = {
    "session": ("id", "time_updated"),
    "message": ("id", "session_id", "time_created", "time_updated", "data"),
    "part": ("id", "message_id", "session_id", "time_updated", "data"),
}
"""Tables and columns without which a database says nothing to us."""

_SESSION_COLUMNS = {
    "parent_id": "parentID",
    "directory": "directory",
    "title": "title",
    "version": "version",
    "agent": "agent",
}
_SESSION_VALUES = {"permission": "permission", "revert": "revert"}
"""Columns that hold JSON."""
_CLOCK_BITS = 36
"""An id begins with the last bits of the time it was made at, in milliseconds."""
_NEAR_MS = 60_000
"""A message's id is made this close to the message's time, unless it is a copy."""


class Storage(Protocol):
    """What both layouts can tell."""

    damage: set[str]

    def reach(self) -> tuple[int, int]:
        """The time of the last change, and the place of the last part."""
        ...

    def changed(self, state: State, since: int) -> list[Found]:
        """Messages that were read before, and have new parts or changed since a time."""
        ...

    def beyond(self, place: int) -> Iterator[Found]:
        """Messages behind a place, in their order."""
        ...

    def sessions(self, since: int) -> list[Changed]:
        """Sessions whose own record changed since the given time."""
        ...

    def session(self, session: str) -> bytes | None:
        """A session's own record, as its file has it."""
        ...

    def message(self, message: str) -> Stored | None: ...
    def parts(self, message: str) -> list[Stored]:
        """The parts of a message in their order."""
        ...

    def first(self, session: str) -> Stored | None:
        """A session's first message."""
        ...

    def origin(self, session: str, began: int) -> str | None:
        """The session that messages older than their own were copied from, if it is there."""
        ...


@dataclass
class Database:
    """The current layout. All questions must be asked within one reading of the database."""

    connection: sqlite.Connection
    damage: set[str] = field(default_factory=set)
    logged: dict[str, Kept] = field(default_factory=dict)
    """Messages of sessions in which some were deleted, as the log has them, by their ids."""

    def __post_init__(self) -> None:
        def rows_by(
            table: str, column: str, selected: str = "rowid, id, data, time_updated"
        ) -> sqlite.Lookup:
            return sqlite.Lookup(self.connection, table, column, selected, self.damage)

        self._sessions = rows_by("session", "id", "*")
        self._by_id = rows_by("message", "id")
        self._by_message = rows_by("part", "message_id")

    def reach(self) -> tuple[int, int]:
        messages = self._last("time_updated", "message")
        return max(messages, self._last("time_updated", "session")), self._last("rowid", "part")

    def _last(self, column: str, table: str) -> int:
        return sqlite.number(self._one(f"SELECT max({column}) FROM {table}")) or 0

    def _one(self, query: str, *values: object) -> Any:
        return sqlite.one(self.connection, query, values, self.damage)

    def changed(self, state: State, since: int) -> list[Found]:
        if not state.row:
            return []
        found = {item.id: item for item in self._messages("time_updated >= ?", since)}
        touched = self._touched(state)
        for session in {item.session for item in found.values()}:
            touched |= self._touched_since(session, since)
        for message in touched.keys() - found.keys():
            found |= {item.id: item for item in self._messages("id = ?", message)}
        return sorted(
            item._replace(parts=touched.get(item.id, 0))
            for item in found.values()
            if item.place <= state.row
        )

    def beyond(self, place: int) -> Iterator[Found]:
        return self._messages("rowid > ?", place)

    def _messages(self, condition: str, value: object) -> Iterator[Found]:
        query = f"SELECT rowid, id, session_id, time_updated FROM message WHERE {condition}"
        for row in sqlite.rows(self.connection, query, (value,), self.damage):
            place, message, session, updated = row
            stamp = sqlite.number(updated) or 0
            yield Found(place, sqlite.text(message), sqlite.text(session), stamp)

    def _touched(self, state: State) -> dict[str, int]:
        """Messages with new parts, and unfinished ones that have gone on."""
        touched = {
            message: last
            for message, known in state.open.items()
            if (last := self._last_change(message)) != known
        }
        if state.part is not None:
            query = "SELECT rowid, message_id FROM part WHERE rowid > ?"
            found = sqlite.rows(self.connection, query, (state.part,), self.damage)
            touched |= {sqlite.text(message): place for place, message in found}
        return touched

    def _touched_since(self, session: str, since: int) -> dict[str, int]:
        """Messages of a session at work whose parts changed: old outputs are pruned on the way."""
        query = (
            "SELECT rowid, message_id, time_updated FROM part"
            " WHERE session_id = ? AND time_updated >= ?"
        )
        touched: dict[str, int] = {}
        for _, message, updated in sqlite.rows(
            self.connection, query, (session, since), self.damage
        ):
            name = sqlite.text(message)
            touched[name] = max(touched.get(name, 0), sqlite.number(updated) or 0)
        return touched

    def _last_change(self, message: str) -> int:
        """When a message or one of its parts last changed."""
        query = (
            "SELECT max(time_updated) FROM (SELECT time_updated FROM message WHERE id = ?"
            " UNION ALL SELECT time_updated FROM part WHERE message_id = ?)"
        )
        return sqlite.number(self._one(query, message, message)) or 0

    def sessions(self, since: int) -> list[Changed]:
        query = "SELECT rowid, id, time_updated FROM session WHERE time_updated >= ?"
        found = sqlite.rows(self.connection, query, (since,), self.damage)
        return sorted(Changed(sqlite.text(row[1]), sqlite.number(row[2]) or 0) for row in found)

    def session(self, session: str) -> bytes | None:
        found = self._sessions.find(session)
        if not found:
            return None
        described = self.connection.execute("SELECT * FROM session LIMIT 0").description
        columns = dict(zip([column[0] for column in described], found[0], strict=True))
        times = {
            name: sqlite.number(columns.get(f"time_{name}")) for name in ("created", "updated")
        }
        record: dict[str, Any] = {"id": session, "time": times}
        for column, name in _SESSION_COLUMNS.items():
            record[name] = sqlite.text(columns.get(column)) or None
        for column, name in _SESSION_VALUES.items():
            record[name] = _value(columns.get(column))
        return msgspec.json.encode(record)

    def message(self, message: str) -> Stored | None:
        found = self._by_id.find(message)
        if not found:
            return self.logged[message].message if message in self.logged else None
        return _stored(found[0])

    def parts(self, message: str) -> list[Stored]:
        found = sorted(map(_stored, self._by_message.find(message)), key=lambda part: part.id)
        return found or (self.logged[message].parts if message in self.logged else [])

    def first(self, session: str) -> Stored | None:
        query = "SELECT id FROM message WHERE session_id = ? ORDER BY id LIMIT 1"
        found = self._one(query, session)
        return None if found is None else self.message(sqlite.text(found))

    def origin(self, session: str, began: int) -> str | None:
        """By the last of those messages: where its id was made at its own time, it is no copy."""
        query = "SELECT max(time_created) FROM message WHERE session_id = ? AND time_created < ?"
        made = sqlite.number(self._one(query, session, began))
        if made is None:
            return None
        query = (
            "SELECT session_id FROM message"
            " WHERE id BETWEEN ? AND ? AND time_created = ? AND session_id <> ? ORDER BY id"
        )
        bounds = (_id_at(made - _NEAR_MS), _id_at(made + _NEAR_MS))
        return sqlite.text(self._one(query, *bounds, made, session)) or None

    def removals(self, beyond: int) -> tuple[list[Removed], int]:
        """Messages that were deleted, by lines of the log behind a place, and where it ends.

        From now on they can be read like any other.
        """
        end = end_of_log(self.connection)
        # A log that has become shorter was put together anew, and all places in it with it.
        start = beyond if beyond <= end else 0
        found = removals(self.connection, start, self.damage) if end else []
        for session in dict.fromkeys(removed.session for removed in found):
            self.logged |= logged(self.connection, session)
        return found, end

    def only_newer(self) -> int:
        """Sessions that are told only in the tables that are to replace those we read."""
        if "session_id" not in sqlite.columns(self.connection, "session_message"):
            return 0
        query = (
            "SELECT count(DISTINCT session_id) FROM session_message"
            " WHERE session_id NOT IN (SELECT session_id FROM message)"
        )
        return sqlite.number(self._one(query)) or 0


def _stored(row: sqlite.Row) -> Stored:
    place, identity, data, changed = row
    content = data if isinstance(data, bytes) else sqlite.text(data).encode()
    return Stored(place, sqlite.text(identity), content, sqlite.number(changed) or 0)


def _value(content: object) -> Any:
    """JSON in a column; None for what is none."""
    try:
        return msgspec.json.decode(content) if isinstance(content, bytes) else None
    except FAILURES:
        return None


def _id_at(milliseconds: int) -> str:
    """How the id of a message made at a time begins."""
    return f"msg_{milliseconds & ((1 << _CLOCK_BITS) - 1):09x}"


@dataclass
class Files:
    """The earlier layouts: one session, whose files stand in folders named for what they hold."""

    transcript: Transcript
    damage: set[str] = field(default_factory=set)

    def reach(self) -> tuple[int, int]:
        own = _changed(self.transcript.path)
        return max((item.stamp for item in self.beyond(0)), default=own), 0

    def changed(self, state: State, since: int) -> list[Found]:
        return [item for item in self.beyond(0) if item.place <= state.row and item.stamp >= since]

    def beyond(self, place: int) -> Iterator[Found]:
        session = self.transcript.path.stem
        for number, path in enumerate(_json_files(messages_of(self.transcript)), 1):
            if number > place:
                files = (path, *_json_files(self._parts_of(path.stem)))
                stamp, size = max(map(_changed, files)), sum(map(_size, files))
                yield Found(number, path.stem, session, stamp, size)

    def sessions(self, since: int) -> list[Changed]:
        path = self.transcript.path
        stamp = _changed(path)
        return [Changed(path.stem, stamp)] if stamp >= since else []

    def session(self, session: str) -> bytes | None:
        path = self.transcript.path
        return path.read_bytes() if session == path.stem else None

    def message(self, message: str) -> Stored | None:
        path = messages_of(self.transcript) / f"{message}.json"
        return _file(path) if _is_name(message) and path.is_file() else None

    def parts(self, message: str) -> list[Stored]:
        return [_file(path) for path in _json_files(self._parts_of(message))]

    def first(self, session: str) -> Stored | None:
        del session
        return next(map(_file, _json_files(messages_of(self.transcript))), None)

    def origin(self, session: str, began: int) -> str | None:
        """Not looked for: it would mean to open the files of every other session."""
        del session, began
        return None

    def _parts_of(self, message: str) -> Path:
        folder = messages_of(self.transcript).parents[1] / "part"
        if self.transcript.variant == EARLY:
            folder /= self.transcript.path.stem
        return folder / message


def _json_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.json"))


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns // 1_000_000
    except OSError:  # gone since its folder was listed
        return 0


def _size(path: Path) -> int:
    """Of a file that is written twice in one tick of the clock, this is what changes."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _file(path: Path) -> Stored:
    return Stored(zlib.crc32(path.name.encode()), path.stem, path.read_bytes())


def _is_name(message: str) -> bool:
    """Whether an id can be the name of a file beside others, and not a way out of their folder."""
    return "/" not in message and "\\" not in message and message not in ("", ".", "..")
