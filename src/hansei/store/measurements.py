"""Changes whose effect is still to be seen: what was changed for which bet, and what to count.

No transcript holds that, so it is kept over a rebuild. `forget` takes forgotten sessions out of the
evidence, and with the last of them the measurement; a whole workspace goes at once.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from hansei.store.database import Store

INSTRUCTION_FILE: Final = "instruction file"
"""The channel through which a change reaches an agent."""


class State(StrEnum):
    """How far a measurement got."""

    PENDING = "pending"
    MEASURED = "measured"  # an experiment said what came of it
    UNDONE = "undone"  # the change was taken back before there was a verdict


class Measurement(NamedTuple):
    """One change, as the table holds it."""

    entry: int
    """Of the journal: the change itself."""
    bet: str
    workspace: int
    channel: str
    path: str
    hash: str | None
    """Of the text that was written; None where one was removed."""
    commit: str | None
    """That holds the change, or that the repository stood at."""
    fact: str
    subject: str
    """What is counted in later sessions."""
    applied_at: int
    state: str
    evidence: tuple[str, ...]
    """The sessions that led to it: no verdict may count them."""


_COLUMNS = ", ".join(f'"{name}"' for name in Measurement._fields)


def _is_kept(db: sqlite3.Connection) -> bool:
    """Whether there is a table: a read-only store may be older than this."""
    query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'measurements'"
    return db.execute(query).fetchone() is not None


def keep(db: sqlite3.Connection, measurement: Measurement) -> None:
    """Put a measurement in the place of what was known of that change."""
    marks = ", ".join("?" * len(Measurement._fields))
    evidence = msgspec.json.encode(measurement.evidence).decode()
    db.execute(
        f"INSERT OR REPLACE INTO measurements ({_COLUMNS}) VALUES ({marks})",
        (*measurement[:-1], evidence),
    )


def of_entry(store: Store, entry: int) -> Measurement | None:
    """The measurement that a change of the journal left."""
    found = _found(store.db, "entry = ?", (entry,))
    return found[0] if found else None


def pending(store: Store, workspace: int | None = None) -> list[Measurement]:
    """What waits for a verdict in a workspace, or in all, oldest first."""
    return _found(store.db, "state = 'pending' AND (?1 IS NULL OR workspace = ?1)", (workspace,))


def mark(db: sqlite3.Connection, entry: int, state: State) -> None:
    """Note how far the measurement of a change got."""
    db.execute("UPDATE measurements SET state = ? WHERE entry = ?", (state, entry))


def forget(db: sqlite3.Connection, natives: Iterable[str], workspaces: Iterable[int]) -> None:
    """Remove these sessions from the evidence, and all of these workspaces."""
    gone = set(natives)
    for it in _found(db, "1", ()):
        left = tuple(name for name in it.evidence if name not in gone)
        if left and left != it.evidence:
            keep(db, it._replace(evidence=left))
        elif not left and it.evidence:
            db.execute("DELETE FROM measurements WHERE entry = ?", (it.entry,))
    for number in workspaces:
        db.execute("DELETE FROM measurements WHERE workspace = ?", (number,))


def salvage(old: sqlite3.Connection) -> list[tuple[int, Measurement]]:
    """Every measurement of a damaged database; none where it is older than they are."""
    if not _is_kept(old):
        return []
    found = _found(old, "workspace IN (SELECT id FROM workspaces)", ())
    return [(it.workspace, it) for it in found]


def _found(db: sqlite3.Connection, condition: str, values: Sequence[Any]) -> list[Measurement]:
    if not _is_kept(db):
        return []
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM measurements WHERE {condition} ORDER BY entry", values
    )
    return [Measurement._make((*row[:-1], tuple(msgspec.json.decode(row[-1])))) for row in rows]
