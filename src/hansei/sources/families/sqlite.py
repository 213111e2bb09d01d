"""SQLite databases of agents that may be running: read, never locked, never changed.

There is no one way to open a live database that writes nothing and misses nothing. A database in
WAL mode has its newest rows beside it, in `-wal`, and reading those needs the shared `-shm`. If
that is not there, opening the database creates it; and reading only the main file misses the
newest rows, often all of them. So the way depends on what lies beside it:

- nothing: the main file is whole, and is read as an unchanging file. That takes no lock and
  creates nothing.
- `-wal` and `-shm`: read beside the agent, as WAL mode is made for. Nobody waits for anybody.
- `-wal` alone (a crash or a copy left it, or a program holds the database for itself): read without
  asking for a lock, and with what `-shm` would hold in our own memory.
- `-journal` (a writer was cut off): a copy in a temporary folder is read, which may be repaired.

Where no lock keeps others from writing, what was read counts only if the files held still.
"""

from __future__ import annotations

import shutil
import sqlite3
import sys
import tempfile
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

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
"""How long a busy database is waited for: an agent's transactions take milliseconds."""
TRIES = 3
"""How often a database that changes while it is read is read again."""
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
_NAMES_SHOWN = 8
"""Tables an unknown database is described by."""


def beside(path: Path, suffix: str) -> Path:
    """One of the files that SQLite keeps beside a database."""
    return path.with_name(path.name + suffix)


def fingerprint(path: Path) -> str:
    """Changes whenever the database does, also while its newest rows are only in `-wal`."""
    main = folders.fingerprint(path.stat())
    around = [_look(beside(path, suffix)) for suffix in (WAL, JOURNAL)]
    return "+".join([main, *(look for look in around if look)])


def _look(path: Path) -> str:
    """An empty file beside a database says nothing, like none."""
    try:
        status = path.stat()
    except OSError:
        return ""
    return folders.fingerprint(status) if status.st_size else ""


def read(path: Path, take: Callable[[Connection], T]) -> T:
    """What `take` makes of the database as it is now; it may be asked more than once.

    Text comes as bytes, since not all of it need be text. Raises UnreadableTranscript for what is
    no database, and for one that cannot be had in a state that holds still.
    """
    ways = [SHARED, WAL, NOTHING, JOURNAL]
    try:
        for _ in range(TRIES):
            before = fingerprint(path)
            way = next((way for way in ways if _suits(path, way)), JOURNAL)
            try:
                taken = _from_copy(path, take) if way == JOURNAL else _in_place(path, take, way)
            except sqlite3.OperationalError as problem:
                code = getattr(problem, "sqlite_errorcode", 0)
                if code & _PRIMARY not in _REFUSALS and way != WAL:
                    raise
                ways = [other for other in ways if other != way]
                continue
            if way == SHARED or fingerprint(path) == before:
                return taken
    except OSError as problem:
        raise UnreadableTranscript(f"{path} cannot be read: {problem.strerror}") from problem
    except sqlite3.DatabaseError as problem:
        raise UnreadableTranscript(f"{path} cannot be read: {problem}", _HINT) from problem
    raise UnreadableTranscript(f"{path} is locked, or written faster than it can be read", _HINT)


def _suits(path: Path, way: str) -> bool:
    """Whether a way of reading suits what lies beside the database; each is named for that."""
    wal, journal = _look(beside(path, WAL)), _look(beside(path, JOURNAL))
    if way == JOURNAL or journal:
        return way == JOURNAL
    if not wal:
        return way == NOTHING
    return way == WAL or (way == SHARED and beside(path, SHARED).exists())


def _in_place(path: Path, take: Callable[[Connection], T], way: str) -> T:
    address = f"{path.absolute().as_uri()}?mode=ro"
    if way == WAL:
        return _taken(f"{address}&vfs={_LOCKLESS}", take, "PRAGMA locking_mode = EXCLUSIVE")
    return _taken(address if way == SHARED else f"{address}&immutable=1", take)


def _from_copy(path: Path, take: Callable[[Connection], T]) -> T:
    """The same of a copy, which may be repaired as SQLite does when a writer was cut off."""
    with tempfile.TemporaryDirectory(prefix="hansei-") as folder:
        copy = Path(folder) / path.name
        for suffix in ("", WAL, JOURNAL):
            if not suffix or beside(path, suffix).exists():
                shutil.copyfile(beside(path, suffix), beside(copy, suffix))
        return _taken(f"{copy.as_uri()}?mode=rw", take)


def _taken(address: str, take: Callable[[Connection], T], *first: str) -> T:
    with closing(sqlite3.connect(address, uri=True, timeout=WAIT_SECONDS)) as connection:
        connection.text_factory = bytes
        connection.isolation_level = None
        # Lets a file that was cut off be read as far as it goes. Nothing is written either way.
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("PRAGMA trusted_schema = OFF")  # it is not ours
        for statement in first:
            connection.execute(statement)
        connection.execute("BEGIN")  # one state for all that is read
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

    The table's index leads to them. Where that is damaged, the table itself is looked through once
    and the places of its rows are remembered.
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
            try:
                query = f"{select} WHERE {self.column} = ?"
                return self.connection.execute(query, (value,)).fetchall()
            except sqlite3.DatabaseError:
                self.damage.add(DAMAGED)
                self.places = self._look_through()
        found: list[Row] = []
        for place in self.places.get(value, ()):
            with suppress(sqlite3.DatabaseError):
                found += self.connection.execute(f"{select} WHERE rowid = ?", (place,))
        return found

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
