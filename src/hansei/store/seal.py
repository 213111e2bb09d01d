"""Moving what has cooled from SQLite to Parquet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.store import cold
from hansei.store.rows import COLUMNS

if TYPE_CHECKING:
    from hansei.store.database import Store

ROWS_AT_ONCE = 20_000
"""Rows sealed in one transaction: about 80 MB of text at the size real events have."""

_LIST = ", ".join(f"e.{name}" for name in COLUMNS)
_COOLED = "coalesce(e.at, s.ended_at) < ?"


def seal(store: Store, *, now: int, seal_before: int) -> int:
    """Seal every hot row older than `seal_before`; returns how many there were."""
    moved = 0
    while True:
        with store.transaction() as db:
            rows = db.execute(
                f"SELECT {_LIST} FROM events e JOIN sessions s ON s.id = e.session"
                f" WHERE {_COOLED} ORDER BY e.session, e.seq LIMIT ?",
                (seal_before, ROWS_AT_ONCE),
            ).fetchall()
            if rows:
                cold.seal_rows(store, rows, now=now)
                db.executemany(
                    "DELETE FROM events WHERE session = ? AND seq = ?", [row[:2] for row in rows]
                )
            else:
                store.set_meta("sealed_at", str(now))
        moved += len(rows)
        if not rows:
            cold.sweep(store)
            return moved
