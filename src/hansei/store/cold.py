"""Sealed history: Parquet files that never change once the manifest lists them.

A file is written under a temporary name, flushed to disk, renamed, its folder flushed, and only
then listed, in the same transaction that moves cursors and removes hot rows. A file that is not
listed does not exist. Each file also carries the sessions it speaks of, so that the history can be
read back without the database.
"""

from __future__ import annotations

import os
from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import blake2b
from itertools import groupby
from typing import TYPE_CHECKING, Any, cast

import msgspec

from hansei.errors import StoreDamaged
from hansei.store.rows import COLUMNS, json_list

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence
    from concurrent.futures import Future
    from pathlib import Path

    import pyarrow as pa
    from pyarrow.parquet import RowGroupMetaData

    from hansei.store.database import Store

StoredRow = tuple[Any, ...]

ROW_GROUP_BYTES = 8 * 1024 * 1024
"""Text per row group: small enough that showing one session unpacks little."""

COMPRESSION_LEVEL = 3
SMALL_FILE_BYTES = 512 * 1024
SMALL_FILES = 16
"""When a workspace has this many small files, sealing folds them into one."""

WRITERS = 4
"""Files written at the same time."""

_INTEGERS = ("session", "seq", "key", "at")
_WORDS = ("kind", "tool", "name", "status", "origin", "model", "cwd", "branch")
SESSIONS = b"hansei.sessions"
NUMBER = b"hansei.number"
"""The file's place in the manifest: where two files tell of one row, the higher number is right."""


@dataclass(frozen=True)
class SealedFile:
    """A written file that is about to be listed."""

    number: int
    path: str
    rows: int
    bytes: int
    first_at: int | None
    last_at: int | None
    sessions: dict[int, int]


def seal_rows(store: Store, rows: Sequence[StoredRow], *, now: int) -> None:
    """Write rows to new files, one per workspace, and list them. Call inside a transaction."""
    workspace_of = homes(store.db)
    by_workspace = sorted(rows, key=lambda row: (workspace_of[row[0]], row[0], row[1]))
    groups = groupby(by_workspace, key=lambda row: workspace_of[row[0]])
    tables = ((workspace, table_of(list(group))) for workspace, group in groups)
    seal_tables(store, tables, now=now)


def seal_tables(store: Store, tables: Iterable[tuple[int, pa.Table]], *, now: int) -> None:
    """The same for rows that are in columns already, in order of session and number."""
    writing: deque[Future[SealedFile]] = deque()
    with ThreadPoolExecutor(WRITERS) as pool:  # most of the time goes by waiting for the disk
        for draft in _drafts(store, tables):
            writing.append(pool.submit(write_file, draft))
            if len(writing) == WRITERS:  # what waits to be written fills memory
                register(store.db, writing.popleft().result(), now=now)
        for written in writing:
            register(store.db, written.result(), now=now)


def homes(db: sqlite3.Connection) -> dict[int, int]:
    """The workspace of every session."""
    return dict(db.execute("SELECT id, workspace FROM sessions").fetchall())


def table_of(rows: Sequence[StoredRow]) -> pa.Table:
    """Rows as columns."""
    import pyarrow as pa

    columns = list(zip(*rows, strict=True)) if rows else [()] * len(COLUMNS)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, _types(), strict=True)]
    return pa.table(arrays, names=list(COLUMNS))


def _types() -> list[pa.DataType]:
    import pyarrow as pa

    return [pa.int64() if name in _INTEGERS else pa.string() for name in COLUMNS]


@dataclass(frozen=True)
class Draft:
    """A file about to be written, with all that takes the database to know."""

    store: Path
    folder: Path
    table: pa.Table
    number: int


def _drafts(store: Store, tables: Iterable[tuple[int, pa.Table]]) -> Iterator[Draft]:
    """What to write for each workspace; where there are many small files, with their rows."""
    import pyarrow as pa

    number = _last_number(store.db)
    for workspace, rows in tables:
        table, number = rows, number + 1
        small = _foldable(store.db, workspace)
        if len(small) >= SMALL_FILES:
            old = [read_table(store.folder / path) for _, path in small]
            table = newest_rows(pa.concat_tables([*old, table]))
            unlist(store.db, [one for one, _ in small])
        yield drafted(store, store.cold / str(workspace), table, number)


def drafted(store: Store, folder: Path, table: pa.Table, number: int) -> Draft:
    """A file of these rows, described."""
    sessions = describe_sessions(store.db, _sessions(table))
    noted = table.replace_schema_metadata({SESSIONS: sessions, NUMBER: str(number).encode()})
    return Draft(store.folder, folder, noted, number)


def _foldable(db: sqlite3.Connection, workspace: int) -> list[tuple[int, str]]:
    """Small files that may become one newer file without overtaking any other.

    A row may stand in several files, and the newest file is right. So a file that a later one
    speaks of too can only be folded together with that later one.
    """
    small = dict(
        db.execute(
            "SELECT id, path FROM sealed WHERE path LIKE ? AND bytes < ?",
            (f"cold/{workspace}/%", SMALL_FILE_BYTES),
        ).fetchall()
    )
    later = db.execute(
        "SELECT DISTINCT a.file, b.file FROM sealed_sessions a"
        " JOIN sealed_sessions b ON b.session = a.session AND b.file > a.file"
        " WHERE a.file IN (SELECT value FROM json_each(?))",
        (json_list(small),),
    ).fetchall()
    while overtaken := {one for one, other in later if one in small and other not in small}:
        small = {number: path for number, path in small.items() if number not in overtaken}
    return sorted(small.items())


def _last_number(db: sqlite3.Connection) -> int:
    (last,) = db.execute("SELECT coalesce(max(id), 0) FROM sealed").fetchone()
    return int(last)


def newest(rows: Iterable[StoredRow]) -> list[StoredRow]:
    """One row per number, the last one given, in order of session and number."""
    latest = {(row[0], row[1]): row for row in rows}
    return [latest[number] for number in sorted(latest)]


def newest_rows(table: pa.Table) -> pa.Table:
    """The same for a table."""
    import pyarrow as pa

    numbers = zip(table["session"].to_pylist(), table["seq"].to_pylist(), strict=True)
    latest = {number: index for index, number in enumerate(numbers)}
    return table.take(pa.array([latest[number] for number in sorted(latest)], type=pa.int64()))


def write_file(draft: Draft) -> SealedFile:
    """Write one file so that it is whole or absent, and return what to list."""
    import pyarrow.parquet as pq

    table, folder = draft.table, draft.folder
    _make_private(folder)
    temporary = folder / f".{os.getpid()}.tmp"
    try:
        pq.write_table(
            table,
            temporary,
            row_group_size=max(1, table.num_rows * ROW_GROUP_BYTES // max(1, table.nbytes)),
            compression="zstd",
            compression_level=COMPRESSION_LEVEL,
            use_dictionary=list(_WORDS),  # type: ignore[arg-type] # the stubs know only bool
        )
        name = _content_name(temporary)
        final = folder / name
        temporary.chmod(0o600)
        _flush(temporary)
        temporary.replace(final)
        _flush(folder)
    finally:
        temporary.unlink(missing_ok=True)
    return describe_file(draft.store, final, table, draft.number)


def _sessions(table: pa.Table) -> list[int]:
    return cast("list[int]", table["session"].to_pylist())


def describe_file(store: Path, path: Path, table: pa.Table, number: int) -> SealedFile:
    """What the manifest says of a file."""
    times = [at for at in table["at"].to_pylist() if at is not None]
    return SealedFile(
        number=number,
        path=path.relative_to(store).as_posix(),
        rows=table.num_rows,
        bytes=path.stat().st_size,
        first_at=min(times, default=None),
        last_at=max(times, default=None),
        sessions=dict(Counter(_sessions(table))),
    )


def describe_sessions(db: sqlite3.Connection, numbers: Iterable[int]) -> bytes:
    """The sessions of a file with their workspaces, for reading it without the database."""
    cursor = db.execute(
        "SELECT s.*, w.identity, w.name AS workspace_name, w.basis, w.folder, w.remote"
        " FROM sessions s JOIN workspaces w ON w.id = s.workspace"
        " WHERE s.id IN (SELECT value FROM json_each(?)) ORDER BY s.id",
        (json_list(numbers),),
    )
    names = [column[0] for column in cursor.description]
    described = {}
    for row in cursor:
        values = {name: it for name, it in zip(names, row, strict=True) if it is not None}
        described[str(values["id"])] = values
    return msgspec.json.encode(described, order="deterministic")


def _content_name(path: Path) -> str:
    """A name from the content, so that no two files ever meet under one."""
    digest = blake2b(digest_size=12)
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return f"{digest.hexdigest()}.parquet"


def _make_private(folder: Path) -> None:
    for part in (folder.parent, folder):
        part.mkdir(exist_ok=True, mode=0o700)


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def register(db: sqlite3.Connection, file: SealedFile, *, now: int) -> None:
    """List a file: from now on it exists."""
    db.execute(
        "INSERT INTO sealed (id, path, rows, bytes, first_at, last_at, created_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (file.number, file.path, file.rows, file.bytes, file.first_at, file.last_at, now),
    )
    db.executemany(
        "INSERT INTO sealed_sessions VALUES (?, ?, ?)",
        [(session, file.number, rows) for session, rows in file.sessions.items()],
    )
    db.execute("DELETE FROM doomed WHERE path = ?", (file.path,))


def replace(store: Store, number: int, path: str, table: pa.Table, *, now: int) -> None:
    """Put a file with other rows in the place of a listed one, under the same number."""
    unlist(store.db, [number])
    written = write_file(drafted(store, (store.folder / path).parent, table, number))
    register(store.db, written, now=now)


def unlist(db: sqlite3.Connection, numbers: Sequence[int]) -> None:
    """Take files out of the manifest; `sweep` removes them from disk later."""
    for number in numbers:
        db.execute("INSERT OR IGNORE INTO doomed SELECT path FROM sealed WHERE id = ?", (number,))
        db.execute("DELETE FROM sealed WHERE id = ?", (number,))
        db.execute("DELETE FROM sealed_sessions WHERE file = ?", (number,))


def sweep(store: Store) -> int:
    """Remove what is left over on disk. Only the writing process may call this.

    That is files taken out of the manifest, and files of a process that died before listing them:
    of those only what the log holds anyway. Anything else stays, whatever the manifest says, since
    it may be all that is left of a history.
    """
    left_over = unlisted(store)
    doomed = {path for (path,) in store.db.execute("SELECT path FROM doomed")}
    gone = [path for path in left_over if _name(store, path) in doomed or _is_known(store, path)]
    if gone or doomed:
        # The manifest must be on disk before the files it no longer lists are gone.
        store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for path in gone:
            path.unlink(missing_ok=True)
        store.db.execute("DELETE FROM doomed")
    return len(gone)


def unlisted(store: Store) -> list[Path]:
    """Files in the cold tier that the manifest does not list."""
    if not store.cold.is_dir():
        return []
    listed = {path for (path,) in store.db.execute("SELECT path FROM sealed")}
    found = sorted(store.cold.glob("*/*"))
    return [path for path in found if _name(store, path) not in listed]


def _name(store: Store, path: Path) -> str:
    return path.relative_to(store.folder).as_posix()


def _is_known(store: Store, path: Path) -> bool:
    """Whether the log holds every event of a file: it was written, but never listed."""
    if path.suffix == ".tmp":
        return True
    try:
        keys = {row[2] for row in read_file(path)}
    except StoreDamaged:
        return False
    (known,) = store.db.execute(
        "SELECT count(*) FROM keys WHERE key IN (SELECT value FROM json_each(?))",
        (json_list(keys),),
    ).fetchone()
    return bool(known == len(keys))


def read_file(path: Path, sessions: Sequence[int] | None = None) -> list[StoredRow]:
    """The rows of a sealed file, or those of some sessions in it."""
    return rows_of(read_table(path, sessions))


def rows_of(table: pa.Table) -> list[StoredRow]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def read_table(path: Path, sessions: Sequence[int] | None = None) -> pa.Table:
    """The same in columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            groups = list(range(file.num_row_groups))
            if sessions is not None:
                groups = [it for it in groups if _may_hold(file.metadata.row_group(it), sessions)]
            table = file.read_row_groups(groups, columns=list(COLUMNS), use_threads=False)
    except (OSError, pa.ArrowException) as problem:
        raise StoreDamaged(
            f"the sealed file {path} cannot be read: {problem}",
            hint="`hansei doctor --rebuild` reads again what the transcripts still hold.",
        ) from problem
    table = table.replace_schema_metadata()
    return table if sessions is None else _only(table, sessions)


def _may_hold(group: RowGroupMetaData, sessions: Sequence[int]) -> bool:
    """Whether the least and the greatest number of a row group leave room for any session."""
    told = group.column(COLUMNS.index("session")).statistics
    if told is None or told.min is None or told.max is None:
        return True
    return bool(told.min <= max(sessions) and told.max >= min(sessions))


def _only(table: pa.Table, sessions: Sequence[int]) -> pa.Table:
    import pyarrow as pa
    import pyarrow.compute as pc

    wanted = pc.is_in(table["session"], value_set=pa.array(sessions, pa.int64()))
    return table if pc.all(wanted).as_py() else table.filter(wanted)
