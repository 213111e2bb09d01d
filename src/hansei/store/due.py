"""Which sessions have facts to be worked out again.

A session is due once its log or what is known of its instructions changed. Each change raises a
number, and only the number that was worked on is crossed off: what changes in the meantime stays
due.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from hansei.store.database import Store


class Due(NamedTuple):
    """A session to work out, and the change it is due for."""

    session: int
    change: int


def due(store: Store, workspace: int | None) -> list[Due]:
    """The sessions of a workspace, or of all, whose facts are not up to date."""
    rows = store.db.execute(
        "SELECT u.session, u.change FROM unprojected u JOIN sessions s ON s.id = u.session"
        " WHERE :workspace IS NULL OR s.workspace = :workspace ORDER BY u.session",
        {"workspace": workspace},
    )
    return [Due(*row) for row in rows]


def mark(db: sqlite3.Connection, sessions: str, values: Sequence[Any] = ()) -> None:
    """Have sessions worked out again; `sessions` is a query for their numbers."""
    db.execute(
        f"INSERT INTO unprojected SELECT id, 1 FROM ({sessions}) WHERE true"
        " ON CONFLICT (session) DO UPDATE SET change = change + 1",
        values,
    )


def cross_off(db: sqlite3.Connection, session: int, change: int) -> None:
    """Say that a session was worked out as it was after that change."""
    db.execute("DELETE FROM unprojected WHERE session = ? AND change = ?", (session, change))
