"""A generated history as heuristics see it, beside what was planted in it."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hansei.config import Config, Environment, Settings
from hansei.ops.ingest import ingest
from hansei.ops.projecting import refresh
from hansei.projection.facts import folds
from hansei.projection.window import Session, Window
from hansei.store.database import open_store
from hansei.synth import World, build

if TYPE_CHECKING:
    from pathlib import Path

    from hansei.projection.facts.tables import Table
    from hansei.store.database import Store

NOW = 1_790_000_000_000
_READ: tuple[Table[Any], ...] = (
    folds.CALLS,
    folds.COMMANDS,
    folds.PIECES,
    folds.TOUCHES,
    folds.CROWDED,
    folds.USES,
    folds.STANDS,
)


@dataclass(frozen=True)
class Seen:
    """A world, and everything heuristics about waste are given of it."""

    world: World
    window: Window

    @property
    def requests(self) -> dict[str, int]:
        """Requests of every session, by the agent's own id of it."""
        return {it.name: it.requests for it in self.window.sessions.values()}


def seen(folder: Path, *, seed: int, sessions: int, weeks: int = 8) -> Seen:
    """Make a world, take it in, and work out its facts."""
    agents = ("claude_code", "codex")
    world = build(folder, seed=seed, now_ms=NOW, sessions=sessions, weeks=weeks, agents=agents)
    config = Config(folder / "store", Settings(), Environment(world.home, {}))
    with closing(open_store(config.store, now=NOW)) as store:
        ingest(store, config, now=NOW)
        refresh(store, config, workspace=None, now=NOW)
        window = Window(store, _sessions(store), 0, NOW)
        for table in _READ:
            window.rows(table)
        for session in window.sessions:
            window.told(session)
    return Seen(world, window)


def _sessions(store: Store) -> dict[int, Session]:
    rows = store.db.execute(
        "SELECT id, native, agent, driver, parent, workspace, started_at, ended_at,"
        " (SELECT COUNT(*) FROM requests r WHERE r.session = s.id), NULL"
        " FROM sessions s ORDER BY id"
    )
    return {row[0]: Session(*row) for row in rows}
