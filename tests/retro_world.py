"""A generated history as a window, for heuristics to find what was planted in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from hansei.bets.model import Finding
from hansei.config import Config, Environment, Settings
from hansei.events.model import ToolCall
from hansei.ops.ingest import ingest
from hansei.ops.projecting import refresh
from hansei.projection.window import Session, Window
from hansei.retro.contract import Heuristic
from hansei.store import reading
from hansei.store.database import Store, open_store
from hansei.synth import Truth, build

NOW = 1_790_000_000_000


@dataclass(frozen=True)
class Place:
    """A world, the window on it, and where each call of an agent is."""

    truth: Truth
    window: Window
    numbers: dict[str, int]
    """Sessions by the id that the agent gave them."""
    calls: dict[str, tuple[int, int]]
    """Session and event by the agent's id of a call."""

    def find(self, heuristic: Heuristic) -> list[Finding]:
        return list(heuristic.find(self.window))


@contextmanager
def place(folder: Path, *, seed: int, sessions: int) -> Iterator[Place]:
    """A world of eight weeks, taken in and worked out."""
    agents = ("claude_code", "codex")
    world = build(folder, seed=seed, now_ms=NOW, sessions=sessions, weeks=8, agents=agents)
    config = Config(folder / "store", Settings(), Environment(world.home, {}))
    with closing(open_store(config.store, now=NOW)) as store:
        ingest(store, config, now=NOW)
        refresh(store, config, workspace=None, now=NOW)
        yield Place(world.truth, window(store), *_places(store))


def window(store: Store) -> Window:
    """Everything in a store, as one window."""
    rows = store.db.execute(
        "SELECT id, native, agent, driver, workspace, started_at, ended_at FROM sessions"
    ).fetchall()
    sessions = {
        number: Session(number, native, agent, driver, None, home, start, end, 0, None)
        for number, native, agent, driver, home, start, end in rows
    }
    return Window(store, sessions, 0, NOW)


def _places(store: Store) -> tuple[dict[str, int], dict[str, tuple[int, int]]]:
    natives = dict(store.db.execute("SELECT native, id FROM sessions").fetchall())
    calls = {
        event.call: (number, seq)
        for number in natives.values()
        for seq, event in reading.events(store, number)
        if isinstance(event, ToolCall)
    }
    return natives, calls


def by_name(planted: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Amounts added up by name."""
    sums: dict[str, int] = defaultdict(int)
    for name, amount in planted:
        sums[name] += amount
    return dict(sums)
