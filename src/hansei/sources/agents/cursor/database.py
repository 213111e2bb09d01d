"""Reading a database that another program has open, without that program noticing.

A reader of SQLite usually locks: in a database with a rollback journal it keeps the writer from
committing, and in one with a write-ahead log it writes into the shared index beside it. So the way
in depends on what lies in the folder:

- Nothing is pending (no log, or an empty one): the file alone is the whole truth. It is opened as
  immutable, which takes no lock, and the answer counts only if the file did not change meanwhile.
- A log and its index: somebody has it open, or had. The log must be read too. Readers of a log
  never hold up a writer, and the index is opened for reading only, so no byte is written anywhere.
- A log without an index, or a journal to be rolled back: the program was killed, or keeps the index
  to itself. Reading would mean repairing, so a private copy is repaired instead.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import time
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from hansei.errors import UnreadableTranscript
from hansei.sources.families import folders

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")

TRIES = 5
PAUSE_SECONDS = 0.05
"""Between two tries: a commit takes a few milliseconds."""
LONGEST_VALUE = 64 * 1024 * 1024
"""A longer value is passed over and never held in memory."""
LOG, INDEX, JOURNAL = "-wal", "-shm", "-journal"

_MAGIC = b"SQLite format 3\x00"
_COUNTER = slice(24, 28)
"""Where a database counts its commits."""


class Look(NamedTuple):
    """A database and the files beside it, from outside."""

    file: str
    commits: bytes
    log: str
    shared: bool
    journal: bool
    """Whether a transaction is half in the file, to be finished or rolled back."""


def read(path: Path, work: Callable[[sqlite3.Connection], T]) -> T:
    """What `work` makes of one unchanging state of the database; it may be asked several times."""
    for attempt in range(TRIES):
        if attempt:
            time.sleep(PAUSE_SECONDS)
        before = _look(path)
        if before.journal and attempt < TRIES - 1:
            continue  # most often a commit under way
        done = _ask(path, before, work)
        if done is not None:
            return done[0]
    raise UnreadableTranscript(f"{path} is being written all the time; it is read later")


def _ask(path: Path, before: Look, work: Callable[[sqlite3.Connection], T]) -> tuple[T] | None:
    """The answer, or None if the database changed under it."""
    try:
        if before.journal or (before.log and not before.shared):
            return _ask_copy(path, before, work)
        if before.log:
            try:
                with _connected(path, "mode=ro&readonly_shm=1") as db:
                    return (work(db),)
            except sqlite3.OperationalError:  # the index cannot be used from here
                return _ask_copy(path, before, work)
        with _connected(path, "mode=ro&immutable=1") as db:
            answer = work(db)
        return (answer,) if _look(path) == before else None
    except sqlite3.DatabaseError as problem:
        if _look(path) != before:
            return None
        raise UnreadableTranscript(f"{path} cannot be read: {problem}") from problem


def _ask_copy(path: Path, before: Look, work: Callable[[sqlite3.Connection], T]) -> tuple[T] | None:
    with tempfile.TemporaryDirectory(prefix="hansei-") as folder:
        copy = Path(folder) / "copy.db"
        try:
            shutil.copyfile(path, copy)
            for suffix in (LOG, JOURNAL):
                if _beside(path, suffix).exists():
                    shutil.copyfile(_beside(path, suffix), _beside(copy, suffix))
        except OSError as problem:
            raise UnreadableTranscript(f"{path} cannot be copied: {problem.strerror}") from problem
        if _look(path) != before:
            return None
        with _connected(copy, "mode=rw") as db:
            return (work(db),)


@contextmanager
def _connected(path: Path, options: str) -> Iterator[sqlite3.Connection]:
    """A connection in one transaction, with every text as the bytes it is stored as."""
    uri = f"{path.absolute().as_uri()}?{options}"
    with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as db:
        db.text_factory = bytes
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        # Only with this a file is read that is shorter than its first page says; it writes nothing.
        db.execute("PRAGMA writable_schema = ON")
        db.execute("BEGIN")
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        yield db


def _look(path: Path) -> Look:
    try:
        with path.open("rb") as file:
            head = file.read(100)
            own = folders.fingerprint(os.fstat(file.fileno()))
    except OSError as problem:
        raise UnreadableTranscript(f"{path} cannot be read: {problem.strerror}") from problem
    if head and not head.startswith(_MAGIC):
        raise UnreadableTranscript(f"{path} is not a SQLite database")
    return Look(
        file=own,
        commits=head[_COUNTER],
        log=_stamp(_beside(path, LOG)),
        shared=_beside(path, INDEX).exists(),
        journal=_is_hot(_beside(path, JOURNAL)),
    )


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _stamp(path: Path) -> str:
    """What a file is known by; nothing if it is empty or not there."""
    try:
        status = path.stat()
    except OSError:
        return ""
    return folders.fingerprint(status) if status.st_size else ""


def _is_hot(journal: Path) -> bool:
    """Whether a journal holds something: one that is done is deleted, cut or begins with zeros."""
    try:
        with journal.open("rb") as file:
            return any(file.read(8))
    except OSError:
        return False
