"""Making the database anew from the sealed history, for when it cannot be read any more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.store import adopt
from hansei.store.database import DATABASE, LOCK, complaints, open_store
from hansei.store.lock import exclusive

if TYPE_CHECKING:
    from pathlib import Path

    from hansei.config import Config

LOCK_SECONDS = 30.0


@dataclass(frozen=True)
class Rebuilt:
    kept_as: str | None
    files: int
    events: int
    choices_kept: bool
    """Whether it is still known which sessions were forgotten."""


def rebuild(config: Config, *, now: int) -> Rebuilt:
    """Put the old database aside and adopt every sealed file. Transcripts are read again later."""
    config.store.mkdir(parents=True, exist_ok=True, mode=0o700)
    with complaints(config.store), exclusive(config.store / LOCK, wait_seconds=LOCK_SECONDS):
        kept = _put_aside(config.store, now)
        store = open_store(config.store, now=now)
        try:
            files, events = adopt.adopt_all(store, now=now)
            choices = kept is None or adopt.salvage(store, config.store / kept)
        finally:
            store.close()
    return Rebuilt(kept, files, events, choices)


def _put_aside(folder: Path, now: int) -> str | None:
    database = folder / DATABASE
    if not database.exists():
        return None
    kept = folder / f"{DATABASE}.{now}.damaged"
    database.rename(kept)
    for suffix in ("-wal", "-shm"):
        beside = folder / f"{DATABASE}{suffix}"
        if beside.exists():
            beside.rename(folder / f"{kept.name}{suffix}")
    return kept.name
