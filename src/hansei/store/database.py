"""Opening the store: one SQLite database in WAL mode, private to the user.

Whatever SQLite or the disk complains about leaves this file as an error that says what to do.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.errors import NotFound, StoreDamaged, StoreError, StoreLocked, StoreUnwritable
from hansei.store.lock import exclusive
from hansei.store.migrations import migrate, refuse_newer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DATABASE = "hansei.db"
LOCK = "writer.lock"
BUSY_MS = 10_000
CACHE_KIB = 16 * 1024
USUAL_PAGES, SELDOM_PAGES = 1000, 32_000
"""Pages of 4 kB in the log of changes before they are put into the database."""

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NO_RIGHT = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST}


@dataclass
class Store:
    """An open store."""

    folder: Path
    db: sqlite3.Connection
    writable: bool

    @property
    def cold(self) -> Path:
        return self.folder / "cold"

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing."""
        with complaints(self.folder):
            self.db.execute("BEGIN IMMEDIATE")
            try:
                yield self.db
                self.db.execute("COMMIT")
            except BaseException:
                if self.db.in_transaction:
                    self.db.execute("ROLLBACK")
                raise

    @contextmanager
    def writing(self, *, wait_seconds: float) -> Iterator[None]:
        """Be the only process that takes in transcripts, seals or removes."""
        if not self.writable:
            raise StoreUnwritable(
                f"{self.folder} is read-only", hint="Set HANSEI_HOME to a folder you can write to."
            )
        with (
            complaints(self.folder),
            exclusive(self.folder / LOCK, wait_seconds=wait_seconds),
        ):
            yield

    @contextmanager
    def seldom_settling(self) -> Iterator[None]:
        """Let the log of changes grow while much is written: settling it waits for the disk."""
        self.db.execute(f"PRAGMA wal_autocheckpoint = {SELDOM_PAGES}")
        try:
            yield
        finally:
            self.db.execute(f"PRAGMA wal_autocheckpoint = {USUAL_PAGES}")

    def meta(self, name: str) -> str | None:
        row = self.db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def set_meta(self, name: str, value: str) -> None:
        self.db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    def close(self) -> None:
        self.db.close()


def open_store(folder: Path, *, now: int, create: bool = True) -> Store:
    """Open the store in a folder, making it where there is none and `create` is set."""
    path = folder / DATABASE
    with complaints(folder):
        if not path.exists():
            if not create:
                raise NotFound(f"there is no store in {folder}", hint="`hansei ingest` makes one.")
            _make(folder, path)
        writable = os.access(path, os.W_OK) and os.access(folder, os.W_OK)
        db = _connect(path, writable=writable)
        try:
            if writable:
                migrate(db, now)
            else:
                refuse_newer(db)
            return Store(folder=folder, db=db, writable=writable)
        except BaseException:
            db.close()
            raise


def _make(folder: Path, path: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    ignore = folder / ".gitignore"  # a store inside a repository must never be committed
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")


def _connect(path: Path, *, writable: bool) -> sqlite3.Connection:
    mode = "rw" if writable else "ro"
    if not writable and not path.with_name(f"{path.name}-wal").exists():
        mode += "&immutable=1"  # nobody writes here, and SQLite may make no file beside it
    db = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        isolation_level=None,
        timeout=BUSY_MS / 1000,
    )
    try:
        db.execute("PRAGMA temp_store = MEMORY")
        db.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        if writable:
            # What is removed or moved to Parquet is wiped from the file, not only unlinked in it.
            db.execute("PRAGMA secure_delete = ON")
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        db.close()
        raise
    return db


@contextmanager
def complaints(folder: Path) -> Iterator[None]:
    """Turn what SQLite and the system say into errors a person can act on."""
    try:
        yield
    except sqlite3.Error as problem:
        raise _from_sqlite(folder, problem) from problem
    except OSError as problem:
        if problem.errno in _NO_ROOM:
            raise StoreUnwritable(f"no room left for {folder}", hint=_ROOM) from problem
        if problem.errno in _NO_RIGHT:
            raise StoreUnwritable(
                f"{folder} cannot be written: {problem.strerror}", hint=_ELSEWHERE
            ) from problem
        raise


_ROOM = "Nothing stored was lost. Free some space and run the command again."
_ELSEWHERE = "Set HANSEI_HOME to a folder you can write to."


def _from_sqlite(folder: Path, problem: sqlite3.Error) -> StoreError:
    text = str(problem)
    name = getattr(problem, "sqlite_errorname", "") or ""
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StoreLocked(f"{folder} is in use by another hansei", hint="Try again in a moment.")
    if name.startswith(("SQLITE_FULL", "SQLITE_IOERR_WRITE")):
        return StoreUnwritable(f"no room left for {folder}", hint=_ROOM)
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN")):
        return StoreUnwritable(f"{folder} cannot be opened: {text}", hint=_ELSEWHERE)
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_IOERR")):
        return StoreDamaged(
            f"{folder / DATABASE} cannot be read: {text}",
            hint="`hansei doctor --rebuild` keeps the damaged file, makes a new one from the "
            "sealed history in cold/ and reads the transcripts again.",
        )
    return StoreError(f"{folder / DATABASE}: {text}")
