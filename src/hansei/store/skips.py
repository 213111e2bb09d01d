"""Offers that a person did not want: for now, or never again.

No transcript holds that, so it is kept over a rebuild. An offer is known by a fingerprint of what
it is about, never by its words; beside it stand the sessions that showed it, which go when they are
forgotten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from hansei.store.rows import json_list

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from hansei.store.database import Store


class Skip(NamedTuple):
    """One offer, as the table holds it."""

    workspace: int
    about: str
    """A fingerprint of detector and key."""
    at: int
    for_ever: bool
    evidence: tuple[str, ...] = ()
    """The sessions that showed it then."""


_COLUMNS = ", ".join(Skip._fields)


def _is_kept(db: sqlite3.Connection) -> bool:
    """Whether there is a table: a read-only store may be older than this."""
    query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'skips'"
    return db.execute(query).fetchone() is not None


def known(store: Store, workspaces: Iterable[int]) -> dict[tuple[int, str], Skip]:
    """What is not wanted, by workspace and what an offer is about."""
    where = "workspace IN (SELECT value FROM json_each(?))"
    found = _found(store.db, where, (json_list(workspaces),))
    return {(it.workspace, it.about): it for it in found}


def keep(db: sqlite3.Connection, skip: Skip) -> None:
    """Put a skip in the place of what was remembered of that offer."""
    evidence = msgspec.json.encode(skip.evidence).decode()
    db.execute(
        f"INSERT OR REPLACE INTO skips ({_COLUMNS}) VALUES (?, ?, ?, ?, ?)", (*skip[:-1], evidence)
    )


def reset(db: sqlite3.Connection, workspace: int | None) -> int:
    """Have everything offered again in a workspace, or in all; returns how many were skipped."""
    return db.execute("DELETE FROM skips WHERE ?1 IS NULL OR workspace = ?1", (workspace,)).rowcount


def forget(db: sqlite3.Connection, natives: Iterable[str], workspaces: Iterable[int]) -> None:
    """Remove these sessions from the evidence, and whole workspaces without sessions."""
    gone = set(natives)
    for skip in _found(db, "evidence != '[]'", ()):
        if gone.intersection(skip.evidence):
            left = tuple(it for it in skip.evidence if it not in gone)
            keep(db, skip._replace(evidence=left))
    for number in workspaces:
        db.execute(
            "DELETE FROM skips WHERE workspace = ?1 AND ?1 NOT IN (SELECT workspace FROM sessions)",
            (number,),
        )


def salvage(old: sqlite3.Connection) -> list[tuple[int, Skip]]:
    """Every skip of a damaged database; none where it is older than they are."""
    found = _found(old, "workspace IN (SELECT id FROM workspaces)", ())
    return [(it.workspace, it) for it in found]


def _found(db: sqlite3.Connection, condition: str, values: Sequence[Any]) -> list[Skip]:
    if not _is_kept(db):
        return []
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM skips WHERE {condition} ORDER BY workspace, about", values
    )
    return [
        Skip(workspace, about, at, bool(for_ever), tuple(msgspec.json.decode(evidence)))
        for workspace, about, at, for_ever, evidence in rows
    ]
