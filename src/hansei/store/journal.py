"""What hansei wrote into other people's instruction files, and how to take it back.

No transcript holds this, so it is kept over a rebuild and by age; `forget` of a workspace removes
it. Of a file that is not ours only what changed is kept, with hashes of the whole.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

import msgspec

from hansei.errors import NotFound

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence


class State(StrEnum):
    """How far an entry got. The two in between are met only after a crash."""

    INTENDED = "intended"
    DONE = "done"
    UNDOING = "undoing"
    UNDONE = "undone"
    VOID = "void"  # it was never made, or was taken back while it was made


class Written(msgspec.Struct, frozen=True):
    """One file of an entry. A hash or text of None means that there is none."""

    path: str
    """From the top of the repository, links followed."""
    item: str | None
    """The item's name in the block; None for a file of our own."""
    old: str | None
    new: str | None
    """The item's text before and after, or all of our own file's."""
    before: str | None
    after: str | None
    """Hashes of the whole file."""
    position: int
    removed: str
    inserted: str
    """Where the text differs, what stood there, and what stands there now."""
    frame: bytes | None
    """How our block or file came to be, as `instructions` tells it."""


class Entry(msgspec.Struct, frozen=True):
    """One change that was asked for, over one or several files."""

    id: int
    at: int
    workspace: int
    repository: str
    reference: str
    """What it was for: a bet, a skill. Opaque here."""
    state: State
    files: tuple[Written, ...]
    commit: str | None = None
    undone_at: int | None = None


_HEAD = 'id, at, workspace, repository, reference, state, "commit", undone_at'
_FILE = "path, item, old, new, before, after, position, removed, inserted, frame"
OPEN = (State.INTENDED, State.UNDOING)


def intend(
    db: sqlite3.Connection,
    workspace: int,
    repository: str,
    reference: str,
    files: Sequence[Written],
    *,
    now: int,
) -> Entry:
    """Note what is about to be written."""
    made = db.execute(
        "INSERT INTO journal (at, workspace, repository, reference, state) VALUES (?, ?, ?, ?, ?)",
        (now, workspace, repository, reference, State.INTENDED),
    )
    assert made.lastrowid is not None
    marks = ", ".join("?" * (len(_FILE.split(", ")) + 2))
    db.executemany(
        f"INSERT INTO journal_files (entry, place, {_FILE}) VALUES ({marks})",
        [(made.lastrowid, n, *msgspec.structs.astuple(file)) for n, file in enumerate(files)],
    )
    return find(db, made.lastrowid)


def mark(db: sqlite3.Connection, entry: int, state: State, *, undone_at: int | None = None) -> None:
    """Note how far an entry got."""
    db.execute(
        "UPDATE journal SET state = ?, undone_at = coalesce(?, undone_at) WHERE id = ?",
        (state, undone_at, entry),
    )


def note_commit(db: sqlite3.Connection, entry: int, commit: str) -> None:
    db.execute('UPDATE journal SET "commit" = ? WHERE id = ?', (commit, entry))


def find(db: sqlite3.Connection, entry: int) -> Entry:
    """An entry by its number."""
    found = _entries(db, "id = ?", (entry,))
    if not found:
        raise NotFound(
            f"there is no change {entry}", hint="`hansei undo --list --all` shows their numbers."
        )
    return found[0]


def listed(db: sqlite3.Connection, workspace: int | None = None) -> list[Entry]:
    """The entries of a workspace, or of all, newest first; none that was never made."""
    return _entries(
        db, "state != 'void' AND (?1 IS NULL OR workspace = ?1) ORDER BY id DESC", (workspace,)
    )


def unfinished(db: sqlite3.Connection) -> list[Entry]:
    """Entries that a crash cut short, newest first."""
    return _entries(db, "state IN (?, ?) ORDER BY id DESC", OPEN)


def standing(db: sqlite3.Connection, repository: str, path: str) -> list[tuple[Entry, Written]]:
    """What we wrote into a file and did not undo, oldest first."""
    found = _entries(
        db,
        "state = 'done' AND repository = ? AND id IN (SELECT entry FROM journal_files"
        " WHERE path = ?) ORDER BY id",
        (repository, path),
    )
    return [(entry, file) for entry in found for file in entry.files if file.path == path]


def count(db: sqlite3.Connection, workspace: int) -> int:
    """How many changes of a workspace can still be undone."""
    (number,) = db.execute(
        "SELECT count(*) FROM journal WHERE workspace = ? AND state = 'done'", (workspace,)
    ).fetchone()
    return int(number)


def _entries(db: sqlite3.Connection, condition: str, values: Sequence[Any]) -> list[Entry]:
    heads = db.execute(f"SELECT {_HEAD} FROM journal WHERE {condition}", values).fetchall()
    return [_entry(db, head) for head in heads]


def _entry(db: sqlite3.Connection, head: tuple[Any, ...]) -> Entry:
    rows = db.execute(
        f"SELECT {_FILE} FROM journal_files WHERE entry = ? ORDER BY place", (head[0],)
    )
    number, at, workspace, repository, reference, state, commit, undone_at = head
    return Entry(
        id=number,
        at=at,
        workspace=workspace,
        repository=repository,
        reference=reference,
        state=State(state),
        files=tuple(Written(*row) for row in rows),
        commit=commit,
        undone_at=undone_at,
    )
