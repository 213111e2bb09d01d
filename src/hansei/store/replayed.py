"""What became of bets that could have been made on past days, by workspace and day.

It follows from sessions, so a rebuild works it out again. The stamp says what it was made from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hansei.store.database import Store


class Replayed(NamedTuple):
    """One day of a workspace's past."""

    workspace: int
    cut: int
    stamp: str
    body: str
    """What is told of it, as JSON; opaque here."""


def known(store: Store, workspace: int) -> dict[int, Replayed]:
    """What was replayed of a workspace, by day; a read-only store may be older than this."""
    query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'replayed'"
    if store.db.execute(query).fetchone() is None:
        return {}
    rows = store.db.execute("SELECT * FROM replayed WHERE workspace = ? ORDER BY cut", (workspace,))
    return {it.cut: it for it in map(Replayed._make, rows)}


def keep(store: Store, workspace: int, rows: Iterable[Replayed]) -> None:
    """Put these days in the place of all that was known of a workspace."""
    with store.transaction() as db:
        db.execute("DELETE FROM replayed WHERE workspace = ?", (workspace,))
        db.executemany("INSERT INTO replayed VALUES (?, ?, ?, ?)", rows)
