"""How the spool is: how full, what of it could not be read, and what hooks told.

Records that could not be read are counted the same way for the spool as for transcripts.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hansei.hook.record import LINES, MOST_BYTES
from hansei.ops.exposure import disagreements
from hansei.ops.spool import rotated
from hansei.sources import catalogue
from hansei.sources.spool import spool_folder
from hansei.store.transcripts import decode_cursor

if TYPE_CHECKING:
    from hansei.config import Config
    from hansei.ops.exposure import Disagreement
    from hansei.store.database import Store

SAMPLES = 3


@dataclass(frozen=True)
class Skipped:
    """A kind of record that could not be read, with places to look at."""

    reason: str
    records: int
    examples: list[str]


@dataclass(frozen=True)
class HookCalls:
    """What the hooks of one agent have told."""

    agent: str
    calls: int
    last_at: int | None
    """When the last one ran, if that was not so long ago that it is sealed."""


@dataclass(frozen=True)
class SpoolHealth:
    """The spool that hooks write to, and what came of it."""

    path: str
    bytes: int
    full: bool
    """At this size hooks write nothing more: `hansei ingest` makes room."""
    waiting: bool
    """Whether lines have not been taken in yet."""
    rotated: int
    skipped: list[Skipped]
    agents: list[HookCalls]
    disagreements: list[Disagreement]


def spool_health(store: Store, config: Config) -> SpoolHealth:
    """Examine the spool."""
    folder = spool_folder(config.environment)
    live = folder / LINES
    size = live.stat().st_size if live.is_file() else 0
    rows = store.db.execute(
        "SELECT s.agent, sum(t.n), (SELECT max(e.at) FROM events e JOIN sessions x"
        "  ON x.id = e.session WHERE e.kind = 'observation' AND x.agent = s.agent)"
        " FROM tallies t JOIN sessions s ON s.id = t.session"
        " WHERE t.kind = 'observation' GROUP BY s.agent ORDER BY s.agent"
    )
    return SpoolHealth(
        path=str(live),
        bytes=size,
        full=size >= MOST_BYTES,
        waiting=str(live) in waiting(store, catalogue.SPOOL),
        rotated=len(rotated(folder)),
        skipped=skipped(store, catalogue.SPOOL),
        agents=[HookCalls(*row) for row in rows],
        disagreements=disagreements(store),
    )


def waiting(store: Store, agent: str) -> list[str]:
    """Transcripts that were read, but not to the last byte."""
    rows = store.db.execute(
        "SELECT path, cursor FROM transcripts WHERE agent = ? AND missing_since IS NULL"
        " AND unreadable IS NULL ORDER BY path",
        (agent,),
    )
    unread = []
    for path, cursor in rows:
        try:
            size = Path(path).stat().st_size
        except OSError:
            continue
        plain = not path.endswith(".zst")  # packed files are counted unpacked
        if plain and cursor and size > decode_cursor(cursor).offset:
            unread.append(path)
    return unread


def skipped(store: Store, agent: str) -> list[Skipped]:
    """Records of an agent that could not be read, by reason."""
    rows = store.db.execute(
        "SELECT p.reason, count(*) FROM problems p JOIN transcripts t ON t.id = p.transcript"
        " WHERE t.agent = ? GROUP BY 1 ORDER BY 2 DESC, 1",
        (agent,),
    ).fetchall()
    found = []
    for reason, records in rows:
        examples = store.db.execute(
            "SELECT t.path, p.line FROM problems p JOIN transcripts t ON t.id = p.transcript"
            " WHERE t.agent = ? AND p.reason = ? ORDER BY t.path, p.line LIMIT ?",
            (agent, reason, SAMPLES),
        )
        found.append(Skipped(reason, records, [f"{path}:{line}" for path, line in examples]))
    return found
