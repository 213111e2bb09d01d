"""What the log says of texts in force: the few rows that the exposure ledger is made from.

They stay in SQLite when their events are sealed, as requests do, so that the ledger never unpacks
the history. A row here belongs to the event with its key and changes with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hansei.events.keys import digest
from hansei.events.model import Notice, Observation, Origin, Prompt

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence

    from hansei.events.model import AnyEvent

HOOK, TRANSCRIPT = "hook", "transcript"
LOOKED = "looked"
"""Stands for a look at the repository itself, which may have found nothing."""
DELIVERED = "delivered"
ASSIGNED = "assigned"
"""The arm of an experiment that a hook put the session in: path is the item, hash the arm."""
MARKED = "marked"
"""A text with our marker that stood in a transcript."""
SHOWN = "shown"
"""Under this name a notice says which instruction it shows: its kind and path."""


class Evidence(NamedTuple):
    """One text that was in force, and who says so."""

    basis: str
    kind: str
    path: str
    hash: str
    bytes: int


def evidence_of(event: AnyEvent) -> tuple[Evidence, ...]:
    """What an event says of texts in force; mostly nothing."""
    if isinstance(event, Observation):
        return tuple(_seen(event))
    if isinstance(event, Prompt) and event.origin is Origin.HANSEI:
        return (Evidence(TRANSCRIPT, MARKED, "", *_measure(event.text)),)
    if isinstance(event, Notice) and isinstance(shown := event.data.get(SHOWN), dict):
        kind, path = str(shown.get("kind", "")), str(shown.get("path", ""))
        return (Evidence(TRANSCRIPT, kind, path, *_measure(event.text)),)
    return ()


def _seen(seen: Observation) -> Iterator[Evidence]:
    if seen.instructions is not None:
        yield Evidence(HOOK, LOOKED, "", "", 0)
        for it in seen.instructions:
            yield Evidence(HOOK, it.kind, it.path, it.hash, it.bytes)
    for item, arm in sorted(seen.arms.items()):
        yield Evidence(HOOK, ASSIGNED, item, arm, 0)
    for item in seen.delivered:
        mark, size = (seen.context.hash, seen.context.bytes) if seen.context else ("", 0)
        yield Evidence(HOOK, DELIVERED, item, mark, size)


def _measure(text: str) -> tuple[str, int]:
    data = text.strip().encode("utf-8", "surrogatepass")
    return digest(data), len(data)


class Said(NamedTuple):
    """Which event says it: its key, session and time."""

    key: int
    session: int
    at: int | None


def save(db: sqlite3.Connection, told: Iterable[tuple[Said, Sequence[Evidence]]]) -> None:
    """Write what events say, in place of what they said before."""
    for said, rows in told:
        db.execute("DELETE FROM evidence WHERE key = ?", (said.key,))
        db.executemany(
            "INSERT OR IGNORE INTO evidence VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [(*said, *row) for row in rows],
        )
