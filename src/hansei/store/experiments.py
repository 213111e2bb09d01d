"""Experiments, and the sessions that somebody or something put in one of their arms.

No transcript holds that, so it is kept over a rebuild. What an experiment is about is opaque here.
`forget` takes forgotten sessions out, and with a whole workspace its experiments.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from hansei.store.database import Store


class Role(StrEnum):
    """What a session is to an experiment."""

    EVIDENCE = "evidence"  # it led to the change: no verdict may count it
    TAG = "tag"  # a person said which arm it belongs to
    SAMPLE = "sample"  # the verdict rests on it, for good


class Row(NamedTuple):
    """One experiment, as the table holds it."""

    id: str
    workspace: int
    stage: str
    created_at: int
    body: str
    """All else, as JSON."""


class Member(NamedTuple):
    """A session of an experiment."""

    experiment: str
    native: str
    role: str
    arm: str
    """Empty where it belongs to none."""


def _is_kept(db: sqlite3.Connection) -> bool:
    """Whether there is a table: a read-only store may be older than this."""
    query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'experiments'"
    return db.execute(query).fetchone() is not None


def keep(db: sqlite3.Connection, row: Row) -> None:
    """Write an experiment in the place of what was known of it."""
    db.execute("INSERT OR REPLACE INTO experiments VALUES (?, ?, ?, ?, ?)", row)


def remove(db: sqlite3.Connection, experiment: str) -> None:
    """Delete an experiment and all it knows."""
    db.execute("DELETE FROM experiment_sessions WHERE experiment = ?", (experiment,))
    db.execute("DELETE FROM experiments WHERE id = ?", (experiment,))


def listed(store: Store, workspace: int | None = None) -> list[Row]:
    """The experiments of a workspace, or of all, oldest first."""
    return _found(store.db, "?1 IS NULL OR workspace = ?1", (workspace,))


def named(store: Store, start: str) -> list[Row]:
    """Experiments whose id begins so."""
    return _found(store.db, "substr(id, 1, length(?1)) = ?1", (start,))


def put(db: sqlite3.Connection, members: Iterable[Member]) -> None:
    """Note what sessions are to experiments; the last word counts."""
    db.executemany("INSERT OR REPLACE INTO experiment_sessions VALUES (?, ?, ?, ?)", members)


def take_out(db: sqlite3.Connection, experiment: str, native: str, role: Role) -> bool:
    """Forget what a session is to an experiment; says whether it was anything."""
    done = db.execute(
        "DELETE FROM experiment_sessions WHERE experiment = ? AND native = ? AND role = ?",
        (experiment, native, role),
    )
    return done.rowcount > 0


def members(store: Store, experiment: str, role: Role) -> dict[str, str]:
    """The sessions of a role, each with its arm."""
    if not _is_kept(store.db):
        return {}
    rows = store.db.execute(
        "SELECT native, arm FROM experiment_sessions WHERE experiment = ? AND role = ?"
        " ORDER BY native",
        (experiment, role),
    )
    return dict(rows.fetchall())


def forget(db: sqlite3.Connection, natives: Iterable[str], workspaces: Iterable[int]) -> None:
    """Remove these sessions from every experiment, and all experiments of these workspaces."""
    db.executemany("DELETE FROM experiment_sessions WHERE native = ?", [(it,) for it in natives])
    for number in workspaces:
        for row in _found(db, "workspace = ?", (number,)):
            remove(db, row.id)


def salvage(old: sqlite3.Connection) -> list[tuple[Row, list[Member]]]:
    """Every experiment of a damaged database; none where it is older than they are."""
    if not _is_kept(old):
        return []
    rows = _found(old, "workspace IN (SELECT id FROM workspaces)", ())
    query = "SELECT * FROM experiment_sessions WHERE experiment = ? ORDER BY role, native"
    return [(row, list(map(Member._make, old.execute(query, (row.id,))))) for row in rows]


def _found(db: sqlite3.Connection, condition: str, values: Sequence[Any]) -> list[Row]:
    if not _is_kept(db):
        return []
    query = f"SELECT * FROM experiments WHERE {condition} ORDER BY created_at, id"
    return list(map(Row._make, db.execute(query, values)))
