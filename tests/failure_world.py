"""Failures of a generated history, beside what was planted in it."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.config import Config, Environment, Settings
from hansei.ops.ingest import ingest
from hansei.projection.calls import Call, calls
from hansei.projection.failures import Episode, Failure, Verdict, episodes, failures, verdicts
from hansei.store import reading
from hansei.store.database import open_store
from hansei.synth import World, build

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

NOW = 1_790_000_000_000


@dataclass(frozen=True)
class Told:
    """What was found of one session."""

    calls: list[Call]
    verdicts: list[Verdict]
    failures: list[Failure]
    episodes: list[Episode]


@dataclass(frozen=True)
class Findings:
    world: World
    sessions: dict[int, Told]

    def verdicts(self) -> dict[str, Verdict]:
        """The verdict of every call by the agent's id of it."""
        return {
            call.event.call: verdict
            for told in self.sessions.values()
            for call, verdict in zip(told.calls, told.verdicts, strict=True)
        }

    def failures(self) -> dict[str, Failure]:
        return {
            _name(told, row.seq): row for told in self.sessions.values() for row in told.failures
        }

    def episodes(self) -> dict[str, tuple[Episode, str]]:
        """Every episode and the call it ended with, by the call it began with."""
        return {
            _name(told, row.seq): (row, _name(told, row.end))
            for told in self.sessions.values()
            for row in told.episodes
        }


def _name(told: Told, seq: int) -> str:
    return next(call.event.call for call in told.calls if call.seq == seq)


def failures_of_a_world(
    folder: Path, *, seed: int, sessions: int, agents: Sequence[str]
) -> Findings:
    """Make a world, take it in, and find what failed in it."""
    world = build(folder, seed=seed, now_ms=NOW, sessions=sessions, weeks=8, agents=agents)
    config = Config(folder / "store", Settings(), Environment(world.home, {}))
    found = {}
    with closing(open_store(config.store, now=NOW)) as store:
        ingest(store, config, now=NOW)
        for (number,) in store.db.execute("SELECT id FROM sessions ORDER BY id").fetchall():
            events = list(reading.events(store, number))
            made = calls(events)
            judged = verdicts(made)
            rows = failures(made, judged)
            found[number] = Told(made, judged, rows, episodes(made, judged, events, rows))
    return Findings(world, found)
