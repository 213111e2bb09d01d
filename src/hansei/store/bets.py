"""What is remembered of bets: when they were shown, and what a person decided about each.

No transcript holds that, so it is kept over a rebuild. A bet is known by a fingerprint of what it
is about. Only of decided ones do we keep the words, and they go when a session that showed them is
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


class Kept(NamedTuple):
    """One bet, as the table holds it."""

    workspace: int
    about: str
    """A fingerprint of heuristic and key."""
    id: str
    state: str
    first_shown: int
    last_shown: int
    decided_at: int | None = None
    reason: str | None = None
    """Why, in the person's words."""
    claim: str | None = None
    evidence: tuple[str, ...] = ()
    """The sessions that showed it when it was decided about."""


class Listed(NamedTuple):
    """The list that a person saw last, so that a number in it goes on meaning what they saw."""

    at: int
    since: int | None
    until: int | None
    agent: str | None
    driver: str | None
    bets: tuple[str, ...]
    """Ids, by rank."""


EVERYWHERE = 0
"""The place of the list over all workspaces; any other is a workspace's number."""

_COLUMNS = ", ".join(Kept._fields)


def is_kept(db: sqlite3.Connection) -> bool:
    """Whether there is a table: a read-only store may be older than this."""
    query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'bets'"
    return db.execute(query).fetchone() is not None


def known(store: Store, workspaces: Iterable[int]) -> dict[tuple[int, str], Kept]:
    """What is remembered, by workspace and what a bet is about."""
    if not is_kept(store.db):
        return {}
    rows = store.db.execute(
        f"SELECT {_COLUMNS} FROM bets WHERE workspace IN (SELECT value FROM json_each(?))"
        " ORDER BY workspace, about",
        (json_list(workspaces),),
    )
    found = (_kept(row) for row in rows)
    return {(it.workspace, it.about): it for it in found}


def named(store: Store, name: str) -> Kept | None:
    """The bet of that id, where something is remembered of it."""
    rows = store.db.execute(f"SELECT {_COLUMNS} FROM bets WHERE id = ?", (name,)).fetchall()
    return _kept(rows[0]) if rows else None


def _kept(row: Sequence[Any]) -> Kept:
    return Kept._make((*row[:-1], tuple(msgspec.json.decode(row[-1]))))


def keep(db: sqlite3.Connection, bet: Kept) -> None:
    """Put a bet in the place of what was remembered of it."""
    marks = ", ".join("?" * len(Kept._fields))
    evidence = msgspec.json.encode(bet.evidence).decode()
    db.execute(f"INSERT OR REPLACE INTO bets ({_COLUMNS}) VALUES ({marks})", (*bet[:-1], evidence))


def listed(store: Store, place: int) -> Listed | None:
    """The list that was shown last."""
    if not is_kept(store.db):
        return None
    row = store.db.execute("SELECT body FROM bet_lists WHERE place = ?", (place,)).fetchone()
    return None if row is None else msgspec.json.decode(row[0], type=Listed)


def keep_list(db: sqlite3.Connection, place: int, shown: Listed) -> None:
    """Put a list in the place of the last one."""
    body = msgspec.json.encode(shown).decode()
    db.execute("INSERT OR REPLACE INTO bet_lists (place, body) VALUES (?, ?)", (place, body))


def count(db: sqlite3.Connection, workspace: int) -> int:
    """How many are remembered of a workspace."""
    (number,) = db.execute("SELECT count(*) FROM bets WHERE workspace = ?", (workspace,)).fetchone()
    return int(number)


def forget(db: sqlite3.Connection, natives: Iterable[str], workspaces: Iterable[int]) -> None:
    """Remove the words of bets that these sessions showed, and whole workspaces without sessions.

    That a person dismissed something stays known, by its fingerprint.
    """
    gone = set(natives)
    rows = db.execute(f"SELECT {_COLUMNS} FROM bets WHERE evidence != '[]'").fetchall()
    for bet in map(_kept, rows):
        if gone.intersection(bet.evidence):
            left = tuple(it for it in bet.evidence if it not in gone)
            keep(db, bet._replace(claim=None, evidence=left))
    for number in workspaces:
        db.execute(
            "DELETE FROM bets WHERE workspace = ?1 AND ?1 NOT IN (SELECT workspace FROM sessions)",
            (number,),
        )
        db.execute("DELETE FROM bet_lists WHERE place = ? OR place = ?", (number, EVERYWHERE))


def salvage(old: sqlite3.Connection) -> list[tuple[int, Kept]]:
    """Every bet of a damaged database; none where it is older than they are."""
    if not is_kept(old):
        return []
    rows = old.execute(
        f"SELECT {_COLUMNS} FROM bets WHERE workspace IN (SELECT id FROM workspaces)"
        " ORDER BY workspace, about"
    )
    return [(bet.workspace, bet) for bet in map(_kept, rows)]
