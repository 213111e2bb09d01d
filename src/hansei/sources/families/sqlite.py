"""SQLite databases of agents that may be running: read, never locked, never changed.

There is no one way to open a live database that writes nothing and misses nothing. A reader usually
locks, and where the agent keeps a rollback journal it cannot commit meanwhile. In WAL mode the
newest rows, often all of them, lie beside the database in `-wal`; reading them takes the index
`-shm`, and a reader usually creates it or writes into it. So the way in depends on what lies beside
the database; the table of ways is in docs/guides/add-an-agent.md. Where one is refused, another is
tried, a private copy last.

Where no lock keeps others from writing, what was read counts only if the files held still.
"""

from __future__ import annotations

import shutil
import sqlite3
import sys
import tempfile
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from hansei.errors import UnreadableTranscript
from hansei.sources.families import folders

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

T = TypeVar("T")

Connection: TypeAlias = sqlite3.Connection
Row: TypeAlias = tuple[Any, ...]

WAL, SHARED, JOURNAL, NOTHING = "-wal", "-shm", "-journal", ""
"""What may lie beside a database, and the ways of reading it that each calls for."""
WAIT_SECONDS = 1.0
"""How long a lock is waited for: an agent's transactions take milliseconds."""
TRIES = 5
"""How often a database that changes while it is read is read again."""
PAUSE_SECONDS = 0.05
"""Between two tries: a commit takes a few milliseconds."""
LONGEST_VALUE = 64 * 1024 * 1024
"""A longer value is passed over and never held in memory."""
TOO_LONG = f"the row is longer than {LONGEST_VALUE // 1024**2} MiB"
DAMAGED = "the database is damaged: some rows cannot be read"
_HINT = "It is read again when it changes. If it stays so, let its agent repair it."
_REFUSALS = frozenset(
    (
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_IOERR,
    )
)
"""That a database cannot be opened or locked here and now; a copy can."""
_LOCKLESS = "win32-none" if sys.platform == "win32" else "unix-none"
"""The part of SQLite that opens files and takes no locks. Not every build of it has one."""
_PRIMARY = 0xFF
"""The bits of an error's number that say its kind."""
_COMMITS = 24, 4
"""Where in its file a database counts its commits, and in how many bytes."""
_JOURNAL_HEAD = 8
"""Bytes a journal begins with; zeros once its transaction is over."""
_NAMES_SHOWN = 8
"""Tables an unknown database is described by."""


class _Changed(Exception):
    """The database was written while it was read."""


class _Look(NamedTuple):
    """A database and the files beside it, from outside."""

    fingerprint: str
    commits: bytes
    wal: bool
    shared: bool
    journal: bool
    """Whether a transaction is half in the file, to be finished or rolled back."""


def beside(path: Path, suffix: str) -> Path:
    """One of the files that SQLite keeps beside a database."""
    return path.with_name(path.name + suffix)


def fingerprint(path: Path) -> str:
    """Changes whenever the database does, also while its newest rows are only in `-wal`."""
    main = folders.fingerprint(path.stat())
    around = [_stamp(beside(path, suffix)) for suffix in (WAL, JOURNAL)]
    return "+".join([main, *(stamp for stamp in around if stamp)])


def _stamp(path: Path) -> str:
    """An empty file beside a database says nothing, like none."""
    try:
        status = path.stat()
    except OSError:
        return ""
    return folders.fingerprint(status) if status.st_size else ""


def _look(path: Path) -> _Look:
    return _Look(
        fingerprint=fingerprint(path),
        commits=_part(path, *_COMMITS),
        wal=bool(_stamp(beside(path, WAL))),
        shared=beside(path, SHARED).exists(),
        journal=_is_hot(beside(path, JOURNAL)),
    )


def _part(path: Path, start: int, length: int) -> bytes:
    with path.open("rb") as file:
        file.seek(start)
        return file.read(length)


def _is_hot(journal: Path) -> bool:
    """Whether a journal holds something: one that is done is deleted, cut or begins with zeros."""
    try:
        return any(_part(journal, 0, _JOURNAL_HEAD))
    except FileNotFoundError:
        return False


def read(path: Path, take: Callable[[Connection], T]) -> T:
    """What `take` makes of one unchanging state of the database; it may be asked more than once.

    Text comes as bytes, since not all of it need be text. Raises UnreadableTranscript for what is
    no database, and for one that cannot be had in a state that holds still.
    """
    refused: set[str] = set()
    try:
        for attempt in range(TRIES):
            if attempt:
                time.sleep(PAUSE_SECONDS)
            before = _look(path)
            if before.journal and attempt < TRIES - 1:
                continue
            way = next((way for way in _ways(before) if way not in refused), JOURNAL)
            try:
                return _taken_by(way, path, before, take)
            except _Changed:
                refused.clear()  # what was locked may be free now
            except sqlite3.DatabaseError as problem:
                if _look(path) == before:
                    if not _is_refusal(problem, way):
                        raise
                    refused.add(way)
    except OSError as problem:
        raise UnreadableTranscript(f"{path} cannot be read: {problem.strerror}") from problem
    except sqlite3.DatabaseError as problem:
        raise UnreadableTranscript(f"{path} cannot be read: {problem}", _HINT) from problem
    raise UnreadableTranscript(f"{path} is locked, or written faster than it can be read", _HINT)


def _ways(look: _Look) -> list[str]:
    """The ways of reading that suit what lies beside a database, the best first."""
    if look.journal:
        return [JOURNAL]
    if not look.wal:
        return [NOTHING]
    return [SHARED, WAL] if look.shared else [WAL]


def _is_refusal(problem: sqlite3.DatabaseError, way: str) -> bool:
    """Whether another way may work where this one did not."""
    code = getattr(problem, "sqlite_errorcode", 0)
    unknown_part = way == WAL and isinstance(problem, sqlite3.OperationalError)
    return unknown_part or code & _PRIMARY in _REFUSALS


def _taken_by(way: str, path: Path, before: _Look, take: Callable[[Connection], T]) -> T:
    if way == JOURNAL:
        return _from_copy(path, before, take)
    address = f"{path.absolute().as_uri()}?mode=ro"
    if way == SHARED:
        return _taken(f"{address}&readonly_shm=1", take)
    if way == WAL:
        taken = _taken(f"{address}&vfs={_LOCKLESS}", take, "PRAGMA locking_mode = EXCLUSIVE")
    else:
        taken = _taken(f"{address}&immutable=1", take)
    _must_be(path, before)
    return taken


def _from_copy(path: Path, before: _Look, take: Callable[[Connection], T]) -> T:
    """The same of a copy, which may be repaired as SQLite does when a writer was cut off."""
    with tempfile.TemporaryDirectory(prefix="hansei-") as folder:
        copy = Path(folder) / path.name
        for suffix in ("", WAL, JOURNAL):
            if not suffix or beside(path, suffix).exists():
                shutil.copyfile(beside(path, suffix), beside(copy, suffix))
        _must_be(path, before)
        return _taken(f"{copy.as_uri()}?mode=rw", take)


def _must_be(path: Path, before: _Look) -> None:
    if _look(path) != before:
        raise _Changed


def _taken(address: str, take: Callable[[Connection], T], *first: str) -> T:
    with closing(sqlite3.connect(address, uri=True, timeout=WAIT_SECONDS)) as connection:
        connection.text_factory = bytes
        connection.isolation_level = None
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        # Lets a file that was cut off be read as far as it goes. Nothing is written either way.
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("PRAGMA trusted_schema = OFF")  # it is not ours
        for statement in first:
            connection.execute(statement)
        connection.execute("BEGIN")  # one state for all that is read
        # The state is had with the first row. A refusal is to be ours, not taken for damage.
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        return take(connection)


# --- what is in it --------------------------------------------------------------------------------


def tables(connection: Connection) -> list[str]:
    """The names of all tables."""
    found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    return [text(name) for (name,) in found]


def columns(connection: Connection, table: str) -> set[str]:
    """The names of a table's columns; none if there is no such table."""
    found = connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
    return {text(name) for (name,) in found}


def unknown_schema(connection: Connection, wanted: Mapping[str, Sequence[str]]) -> str | None:
    """Why a database cannot be one that has these columns; None if it can.

    One without any table is new: it is known, and empty.
    """
    present = tables(connection)
    for table, names in wanted.items() if present else ():
        if table not in present:
            shown = ", ".join(name[:32] for name in present[:_NAMES_SHOWN])
            return f"unknown schema: no table {table}, but {shown}"
        absent = sorted(set(names) - columns(connection, table))
        if absent:
            return f"unknown schema: table {table} has no {absent[0]}"
    return None


def rows(
    connection: Connection, query: str, values: Sequence[object], damage: set[str]
) -> Iterator[Row]:
    """The rows of one table, as many of them as can be read; `query` selects the rowid first.

    A damaged page ends the way through a table. What lies behind it is reached from the other end.
    """
    last: int | None = None
    try:
        for row in connection.execute(f"{query} ORDER BY rowid", values):
            last = row[0]
            yield row
    except sqlite3.DatabaseError:
        damage.add(DAMAGED)
    else:
        return
    try:
        for row in connection.execute(f"{query} ORDER BY rowid DESC", values):
            if last is not None and row[0] <= last:
                return
            yield row
    except sqlite3.DatabaseError:
        return


@dataclass
class Lookup:
    """Rows of one table by the value of a column.

    The table's index leads to them, and one that cannot be read costs no other. Where the index is
    damaged, the table itself is looked through once and the places of its rows are remembered.
    """

    connection: Connection
    table: str
    column: str
    selected: str
    """The columns to select."""
    damage: set[str]
    places: dict[str, list[int]] | None = None

    def find(self, value: str) -> list[Row]:
        """All rows with a value, as many of them as can be read."""
        select = f"SELECT {self.selected} FROM {self.table}"
        if self.places is None:
            with suppress(sqlite3.DatabaseError):  # if so, each row is asked for by itself
                query = f"{select} WHERE {self.column} = ?"
                return self.connection.execute(query, (value,)).fetchall()
        found: list[Row] = []
        for place in self._places_of(value):
            try:
                found += self.connection.execute(f"{select} WHERE rowid = ?", (place,))
            except sqlite3.DataError:
                self.damage.add(TOO_LONG)
            except sqlite3.DatabaseError:
                self.damage.add(DAMAGED)
        return found

    def _places_of(self, value: str) -> list[int]:
        if self.places is None:
            try:
                query = f"SELECT rowid FROM {self.table} WHERE {self.column} = ?"
                return [place for (place,) in self.connection.execute(query, (value,))]
            except sqlite3.DatabaseError:
                self.damage.add(DAMAGED)
                self.places = self._look_through()
        return self.places.get(value, [])

    def _look_through(self) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        query = f"SELECT rowid, {self.column} FROM {self.table} NOT INDEXED"
        for place, value in rows(self.connection, query, (), self.damage):
            places.setdefault(text(value), []).append(place)
        return places


def one(connection: Connection, query: str, values: Sequence[object], damage: set[str]) -> Any:
    """The first value of the first row; None if there is none, or if it cannot be read."""
    try:
        row = connection.execute(query, values).fetchone()
    except sqlite3.DatabaseError:
        damage.add(DAMAGED)
        return None
    return row[0] if row else None


def text(value: object) -> str:
    """A column's value as text, whatever was put in it; empty for none."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def number(value: object) -> int | None:
    """A column's value as a whole number, if it is one."""
    return value if isinstance(value, int) else None
