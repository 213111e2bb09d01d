"""Forgetting sessions for good, in both tiers.

Forgotten sessions are remembered by id alone, so that a transcript still on disk does not bring
them back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.store import cold
from hansei.store.rows import json_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hansei.store.database import Store

_BY_SESSION = ("events", "keys", "requests", "replays", "tallies", "spend", "stale")


def forget(store: Store, sessions: Sequence[int], *, now: int) -> int:
    """Remove sessions and everything derived from them; returns how many there were."""
    gone = set(sessions)
    store.db.execute("PRAGMA secure_delete = ON")
    try:
        with store.transaction() as db:
            _rewrite_sealed(store, gone, now=now)
            numbers = [(number,) for number in gone]
            for table in _BY_SESSION:
                db.executemany(f"DELETE FROM {table} WHERE session = ?", numbers)
            db.executemany("DELETE FROM replays WHERE owner = ?", numbers)
            db.executemany(
                "INSERT OR IGNORE INTO forgotten SELECT agent, native FROM sessions WHERE id = ?",
                numbers,
            )
            db.executemany("DELETE FROM sessions WHERE id = ?", numbers)
            _drop_empty_workspaces(store)
    finally:
        store.db.execute("PRAGMA secure_delete = OFF")
    cold.sweep(store)
    store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # the log of changes held the rows too
    return len(gone)


def _rewrite_sealed(store: Store, gone: set[int], *, now: int) -> None:
    db = store.db
    files = db.execute(
        "SELECT DISTINCT s.id, s.path FROM sealed_sessions ss JOIN sealed s ON s.id = ss.file"
        " WHERE ss.session IN (SELECT value FROM json_each(?)) ORDER BY s.id",
        (json_list(gone),),
    ).fetchall()
    for number, path in files:
        kept = [row for row in cold.read_file(store.folder / path) if row[0] not in gone]
        if kept:
            cold.replace(store, number, path, kept, now=now)
        else:
            cold.unlist(db, [number])


def _drop_empty_workspaces(store: Store) -> None:
    """A workspace without sessions keeps nothing but its folder's name: remove that too."""
    store.db.execute("DELETE FROM workspaces WHERE id NOT IN (SELECT workspace FROM sessions)")
    store.db.execute("DELETE FROM folders WHERE workspace NOT IN (SELECT id FROM workspaces)")
