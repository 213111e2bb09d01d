"""Sealed history: Parquet files that never change once the manifest lists them.

A file is written under a temporary name, flushed to disk, renamed, its folder flushed, and only
then listed, in the same transaction that moves cursors and removes hot rows. A file that is not
listed does not exist. Each file also carries the sessions it speaks of, so that the history can be
read back without the database.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b
from itertools import groupby
from typing import TYPE_CHECKING, Any

import msgspec

from hansei.errors import StoreDamaged
from hansei.store.rows import COLUMNS, json_list

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

    from hansei.store.database import Store

StoredRow = tuple[Any, ...]

ROW_GROUP_BYTES = 8 * 1024 * 1024
"""Text per row group: small enough that showing one session unpacks little."""

COMPRESSION_LEVEL = 3
SMALL_FILE_BYTES = 4 * 1024 * 1024
SMALL_FILES = 8
"""When a workspace has this many small files, sealing folds them into one."""

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


def schema(sessions: bytes, number: int) -> pa.Schema:
    import pyarrow as pa

    types: dict[str, pa.DataType] = {name: pa.int64() for name in _INTEGERS}
    types |= {name: pa.dictionary(pa.int32(), pa.string()) for name in _WORDS}
    return pa.schema(
        [(name, types.get(name, pa.string())) for name in COLUMNS],
        metadata={SESSIONS: sessions, NUMBER: str(number).encode()},
    )


def seal_rows(store: Store, rows: Sequence[StoredRow], *, now: int) -> None:
    """Write rows to new files, one per workspace, and list them. Call inside a transaction."""
    db = store.db
    homes = dict(db.execute("SELECT id, workspace FROM sessions").fetchall())
    by_workspace = sorted(rows, key=lambda row: (homes[row[0]], row[0], row[1]))
    for workspace, group in groupby(by_workspace, key=lambda row: homes[row[0]]):
        _seal_workspace(store, workspace, list(group), now=now)


def _seal_workspace(store: Store, workspace: int, rows: list[StoredRow], *, now: int) -> None:
    small = _foldable(store.db, workspace)
    if len(small) >= SMALL_FILES:
        old = (row for _, path in small for row in read_file(store.folder / path))
        rows = newest([*old, *rows])
        unlist(store.db, [number for number, _ in small])
    file = write_file(store, store.cold / str(workspace), rows, _next_number(store.db))
    register(store.db, file, now=now)


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


def _next_number(db: sqlite3.Connection) -> int:
    (last,) = db.execute("SELECT coalesce(max(id), 0) FROM sealed").fetchone()
    return int(last) + 1


def newest(rows: Iterable[StoredRow]) -> list[StoredRow]:
    """One row per number, the last one given, in order of session and number."""
    latest = {(row[0], row[1]): row for row in rows}
    return [latest[number] for number in sorted(latest)]


def write_file(store: Store, folder: Path, rows: list[StoredRow], number: int) -> SealedFile:
    """Write one file so that it is whole or absent, and return what to list."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    _make_private(folder)
    table_schema = schema(describe_sessions(store.db, {row[0] for row in rows}), number)
    temporary = folder / f".{os.getpid()}.tmp"
    try:
        with pq.ParquetWriter(
            temporary,
            table_schema,
            compression="zstd",
            compression_level=COMPRESSION_LEVEL,
            store_decimal_as_integer=False,
        ) as writer:
            for part in _row_groups(rows):
                columns = list(zip(*part, strict=True))
                arrays = [
                    pa.array(column, type=field.type)
                    for column, field in zip(columns, table_schema, strict=True)
                ]
                writer.write_batch(pa.record_batch(arrays, schema=table_schema), len(part))
        name = _content_name(temporary)
        final = folder / name
        temporary.chmod(0o600)
        _flush(temporary)
        temporary.replace(final)
        _flush(folder)
    finally:
        temporary.unlink(missing_ok=True)
    return describe_file(store, final, rows, number)


def describe_file(store: Store, path: Path, rows: list[StoredRow], number: int) -> SealedFile:
    """What the manifest says of a file."""
    times = [row[3] for row in rows if row[3] is not None]
    return SealedFile(
        number=number,
        path=path.relative_to(store.folder).as_posix(),
        rows=len(rows),
        bytes=path.stat().st_size,
        first_at=min(times, default=None),
        last_at=max(times, default=None),
        sessions=dict(Counter(row[0] for row in rows)),
    )


def describe_sessions(db: sqlite3.Connection, numbers: Iterable[int]) -> bytes:
    """The sessions of a file with their workspaces, for reading it without the database."""
    described = {}
    for number in sorted(numbers):
        cursor = db.execute(
            "SELECT s.*, w.identity, w.name AS workspace_name, w.basis, w.folder, w.remote"
            " FROM sessions s JOIN workspaces w ON w.id = s.workspace WHERE s.id = ?",
            (number,),
        )
        names = [column[0] for column in cursor.description]
        values = dict(zip(names, cursor.fetchone(), strict=True))
        described[str(number)] = {name: v for name, v in values.items() if v is not None}
    return msgspec.json.encode(described, order="deterministic")


def _row_groups(rows: list[StoredRow]) -> Iterator[list[StoredRow]]:
    part: list[StoredRow] = []
    size = 0
    for row in rows:
        part.append(row)
        size += 200 + len(row[-1] or "") + len(row[-2] or "")  # 200: the small columns, about
        if size >= ROW_GROUP_BYTES:
            yield part
            part, size = [], 0
    if part:
        yield part


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


def replace(store: Store, number: int, path: str, rows: list[StoredRow], *, now: int) -> None:
    """Put a file with other rows in the place of a listed one, under the same number."""
    unlist(store.db, [number])
    register(store.db, write_file(store, (store.folder / path).parent, rows, number), now=now)


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


def read_file(path: Path, session: int | None = None) -> list[StoredRow]:
    """The rows of a sealed file, or those of one session in it."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    filters = None if session is None else pc.field("session") == session
    try:
        table = pq.read_table(path, filters=filters, partitioning=None, columns=list(COLUMNS))
    except (OSError, pa.ArrowException) as problem:
        raise StoreDamaged(
            f"the sealed file {path} cannot be read: {problem}",
            hint="`hansei doctor --rebuild` reads again what the transcripts still hold.",
        ) from problem
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))
