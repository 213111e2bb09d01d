"""Forgetting sessions for good, in both tiers.

Forgotten sessions are remembered by id alone, so that a transcript still on disk does not bring
them back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.store import bets, cold, experiments, measurements, skips
from hansei.store.rows import json_list

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from hansei.store.database import Store

FACTS = "fact_"
"""Begins the name of every table that is made from the rows of a fold."""

PAGES = "pages"
"""The folder of a store that holds pages for people; they quote sessions."""

_BY_SESSION = (
    "events", "keys", "requests", "replays", "tallies", "spend", "stale", "evidence", "unexposed",
    "ledger", "exposure", "unprojected",
)  # fmt: skip


def forget(
    store: Store,
    sessions: Sequence[int],
    *,
    now: int,
    for_good: bool = True,
    workspaces: Sequence[int] = (),
) -> int:
    """Remove sessions and everything derived from them; returns how many there were.

    Not for good means up to now: a session that goes on later is taken in from there. What was
    imported goes with `workspaces`, and with the last session of any other; what can be undone goes
    with `workspaces` alone.
    """
    gone = set(sessions)
    until = None if for_good else now
    with store.transaction() as db:
        _rewrite_sealed(store, gone, now=now)
        numbers = [(number,) for number in gone]
        _hand_over(db, gone)
        for table in (*_BY_SESSION, *fact_tables(db)):
            db.executemany(f"DELETE FROM {table} WHERE session = ?", numbers)
        db.executemany("DELETE FROM replays WHERE owner = ?", numbers)
        db.executemany(
            "INSERT OR REPLACE INTO forgotten SELECT agent, native, ? FROM sessions WHERE id = ?",
            [(until, number) for number in gone],
        )
        left = {*workspaces, *_workspaces(db, gone)}
        natives = _natives(db, gone)
        db.executemany("DELETE FROM sessions WHERE id = ?", numbers)
        db.executemany(
            "DELETE FROM reviews WHERE workspace = ?1"
            " AND ?1 NOT IN (SELECT workspace FROM sessions)",
            [(number,) for number in sorted(left)],
        )
        _drop_journal(db, workspaces)
        bets.forget(db, natives, sorted(left))
        measurements.forget(db, natives, workspaces)
        experiments.forget(db, natives, workspaces)
        skips.forget(db, natives, sorted(left))
        db.execute(
            'DELETE FROM committed WHERE "commit" NOT IN (SELECT "commit" FROM sessions'
            ' WHERE "commit" IS NOT NULL)'
        )
        db.execute("DELETE FROM replayed")
        db.execute("DELETE FROM judged")  # both can be worked out again
        _drop_empty_workspaces(store)
    cold.sweep(store)
    for copy in store.folder.glob("hansei.db.*.damaged*"):  # kept by a rebuild; they hold it too
        copy.unlink()
    for page in (store.folder / PAGES).glob("*.html"):
        page.unlink()
    store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # the log of changes held the rows too
    return len(gone)


def fact_tables(db: sqlite3.Connection) -> list[str]:
    """Tables that projection made for what follows from sessions."""
    rows = db.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, ?) = ?",
        (len(FACTS), FACTS),
    )
    return [name for (name,) in rows]


def _hand_over(db: sqlite3.Connection, gone: set[int]) -> None:
    """Have sessions that copied from the forgotten ones read again: what they share is theirs now.

    Their transcripts still hold it, and it is counted there from the next reading on.
    """
    heirs = json_list(
        session
        for (session,) in db.execute(
            "SELECT DISTINCT session FROM replays WHERE owner IN (SELECT value FROM json_each(?))",
            (json_list(gone),),
        )
        if session not in gone
    )
    db.execute(
        "UPDATE transcripts SET fingerprint = '', cursor = '', bytes = 0, records = 0, skipped = 0"
        " WHERE id IN (SELECT transcript FROM sessions"
        "  WHERE id IN (SELECT value FROM json_each(?)))",
        (heirs,),
    )
    db.execute("INSERT OR IGNORE INTO stale SELECT value FROM json_each(?)", (heirs,))


def _rewrite_sealed(store: Store, gone: set[int], *, now: int) -> None:
    db = store.db
    files = db.execute(
        "SELECT DISTINCT s.id, s.path FROM sealed_sessions ss JOIN sealed s ON s.id = ss.file"
        " WHERE ss.session IN (SELECT value FROM json_each(?)) ORDER BY s.id",
        (json_list(gone),),
    ).fetchall()
    for number, path in files:
        table = cold.read_table(store.folder / path)
        kept = table.filter([session not in gone for session in table["session"].to_pylist()])
        if kept.num_rows:
            cold.replace(store, number, path, kept, now=now)
        else:
            cold.unlist(db, [number])


def _workspaces(db: sqlite3.Connection, sessions: set[int]) -> set[int]:
    rows = db.execute(
        "SELECT workspace FROM sessions WHERE id IN (SELECT value FROM json_each(?))",
        (json_list(sessions),),
    )
    return {number for (number,) in rows}


def _drop_journal(db: sqlite3.Connection, workspaces: Sequence[int]) -> None:
    for number in workspaces:
        db.execute(
            "DELETE FROM journal_files WHERE entry IN (SELECT id FROM journal WHERE workspace = ?)",
            (number,),
        )
        db.execute("DELETE FROM journal WHERE workspace = ?", (number,))


def _natives(db: sqlite3.Connection, sessions: set[int]) -> list[str]:
    rows = db.execute(
        "SELECT native FROM sessions WHERE id IN (SELECT value FROM json_each(?))",
        (json_list(sessions),),
    )
    return [native for (native,) in rows]


def _drop_empty_workspaces(store: Store) -> None:
    """A workspace that holds nothing keeps nothing but its folder's name: remove that too."""
    store.db.execute(
        "DELETE FROM workspaces WHERE id NOT IN (SELECT workspace FROM sessions)"
        " AND id NOT IN (SELECT workspace FROM reviews)"
        " AND id NOT IN (SELECT workspace FROM journal)"
        " AND id NOT IN (SELECT workspace FROM bets)"
        " AND id NOT IN (SELECT workspace FROM skips)"
    )
    store.db.execute("DELETE FROM folders WHERE workspace NOT IN (SELECT id FROM workspaces)")
