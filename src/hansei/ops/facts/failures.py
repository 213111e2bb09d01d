"""What fails again and again, what it costs, and what ends it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.projection.facts.folds import EPISODES, FAILURES
from hansei.projection.failures import Kind, families

if TYPE_CHECKING:
    from hansei.ops.facts.chosen import Chosen
    from hansei.projection.failures import Episode, Family


@dataclass(frozen=True)
class FailureLine:
    """One failure wherever it was met."""

    signature: str
    kind: str
    """`failure`, or what else kept a call from succeeding: declined, interrupted, harness …"""
    times: int
    sessions: int
    last_at: int | None
    episodes: int
    recovered: int
    recovery: str
    """The command that most often ended it; empty where none did."""
    recoveries: int
    tokens: int | None
    """Measured: input and output billed from the first failure to the end, over all episodes."""
    minutes: float | None
    evidence: list[str]


def failures(chosen: Chosen) -> list[FailureLine]:
    """Failures of the work itself first, by how many sessions met them, then by how often."""
    found = list(chosen.rows(FAILURES))
    told = list(chosen.rows(EPISODES))
    places: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for session, row in found:
        places[row.signature].append((session, row.seq))
    of: dict[str, list[Episode]] = defaultdict(list)
    for _, episode in told:
        of[episode.signature].append(episode)
    lines = [
        _line(chosen, family, of[family.signature], places[family.signature])
        for family in families(found, told)
    ]
    return sorted(lines, key=lambda it: it.kind != Kind.FAILURE)


def _line(
    chosen: Chosen, family: Family, told: list[Episode], places: list[tuple[int, int]]
) -> FailureLine:
    taken = [(it.input or 0) + (it.output or 0) for it in told if it.input is not None]
    minutes = [it.minutes for it in told if it.minutes is not None]
    return FailureLine(
        signature=family.signature,
        kind=family.kind,
        times=family.times,
        sessions=len(family.sessions),
        last_at=family.last,
        episodes=len(told),
        recovered=family.recovered,
        recovery=family.recovery,
        recoveries=family.recoveries,
        tokens=sum(taken) if taken else None,
        minutes=round(sum(minutes), 1) if minutes else None,
        evidence=chosen.newest(places),
    )
