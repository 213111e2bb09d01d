"""What has been read of which transcript, and what could not be."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from hansei.sources.contract import Cursor, Problem
from hansei.store.bodies import Bodies

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from hansei.events.model import SessionFacts
    from hansei.store.database import Store
    from hansei.store.rows import Row

_SAVED_NAMES = (
    *("agent", "path", "variant", "fingerprint", "cursor", "watched"),
    *("bytes", "records", "skipped", "unreadable", "read_at"),
)
_SAVED = ", ".join(_SAVED_NAMES)

PROBLEMS_KEPT = 50
"""Skipped records listed per transcript; their number is exact, the list need not be whole."""

_PLACES = (
    "SELECT agent, path, fingerprint, cursor, watched, missing_since IS NOT NULL FROM transcripts"
)


@dataclass
class Piece:
    """One reading of one transcript, cleaned and turned into rows."""

    agent: str
    path: str
    variant: str
    fingerprint: str
    """Empty while there is more to read, so that the next run goes on."""
    cursor: Cursor
    watched: list[str] = field(default_factory=list)
    """Calls whose results, still to come, show secret values."""
    rows: list[Row] = field(default_factory=list)
    bodies: Bodies = field(default_factory=Bodies)
    """What the rows say, in the same order."""
    sessions: list[SessionFacts] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    records: int = 0
    taken: int = 0
    restarted: bool = False
    unreadable: str | None = None
    others: list[Piece] = field(default_factory=list)
    """What a place of no agent tells of agents' sessions; these have no cursor of their own."""


class Place(NamedTuple):
    """How far a transcript has been read."""

    fingerprint: str
    cursor: bytes
    watched: str
    missing: bool


def places(
    store: Store, only: Iterable[tuple[str, str]] | None = None
) -> dict[tuple[str, str], Place]:
    """Transcripts read so far, by agent and path: every one, or those asked for."""
    if only is None:
        rows = store.db.execute(_PLACES).fetchall()
    else:
        asked = f"{_PLACES} WHERE agent = ? AND path = ?"
        rows = [row for at in only for row in store.db.execute(asked, at)]
    return {(agent, path): Place(*place) for agent, path, *place in rows}


def agents(store: Store) -> list[str]:
    """Every source of which something was read, by name."""
    return [name for (name,) in store.db.execute("SELECT DISTINCT agent FROM transcripts")]


def decode_cursor(data: bytes) -> Cursor:
    return msgspec.json.decode(data, type=Cursor)


def save(db: sqlite3.Connection, piece: Piece, now: int) -> int:
    """Move a transcript's cursor on and return its number."""
    if piece.restarted:
        _forget_counts(db, piece)
    (number,) = db.execute(
        f"INSERT INTO transcripts ({_SAVED}) VALUES ({', '.join('?' * len(_SAVED_NAMES))})"
        " ON CONFLICT DO UPDATE SET fingerprint = excluded.fingerprint, cursor = excluded.cursor,"
        " watched = excluded.watched, bytes = bytes + excluded.bytes,"
        " records = records + excluded.records, skipped = skipped + excluded.skipped,"
        " unreadable = excluded.unreadable, missing_since = NULL, read_at = excluded.read_at"
        " RETURNING id",
        (
            piece.agent,
            piece.path,
            piece.variant,
            piece.fingerprint,
            msgspec.json.encode(piece.cursor),
            msgspec.json.encode(piece.watched).decode(),
            piece.taken,
            piece.records,
            len(piece.problems),
            piece.unreadable,
            now,
        ),
    ).fetchone()
    for problem in piece.problems[:PROBLEMS_KEPT]:
        db.execute(
            "INSERT OR IGNORE INTO problems VALUES (?, ?, ?, ?)",
            (number, problem.offset, problem.reason, problem.line),
        )
    return int(number)


def _forget_counts(db: sqlite3.Connection, piece: Piece) -> None:
    at = (piece.agent, piece.path)
    db.execute(
        "DELETE FROM problems WHERE transcript IN"
        " (SELECT id FROM transcripts WHERE agent = ? AND path = ?)",
        at,
    )
    db.execute(
        "UPDATE transcripts SET bytes = 0, records = 0, skipped = 0, restarts = restarts + 1"
        " WHERE agent = ? AND path = ?",
        at,
    )


def mark_missing(db: sqlite3.Connection, gone: Iterable[tuple[str, str]], now: int) -> None:
    """Note transcripts that their agent has removed. What they said stays."""
    db.executemany(
        "UPDATE transcripts SET missing_since = ? WHERE agent = ? AND path = ?",
        [(now, agent, path) for agent, path in gone],
    )
