"""How many sessions a difference takes, before the first one is spent: by playing it through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from hansei.experiments.statistics.arrays import Columns
from hansei.experiments.statistics.verdict import RECURRENCE, decided, follow

if TYPE_CHECKING:
    from collections.abc import Callable

    from hansei.experiments.model import Design, Word

RUNS: Final = 400
"""Experiments played: a share of them is right within five points."""


class Power(NamedTuple):
    """What an experiment of a certain length would find."""

    words: dict[Word, float]
    """The share of experiments that reach each verdict."""
    half: int | None
    """Sessions, both arms together, after which half of the experiments are decided."""
    most: int | None
    """After which nine of ten are; None where fewer ever are."""


def power(
    before: float, after: float, design: Design, *, sessions: int, runs: int = RUNS, seed: int = 0
) -> Power:
    """A randomised experiment on a target that comes up in these shares of sessions."""

    def play(dice: np.random.Generator) -> Columns:
        treated = dice.random(sessions) < design.share
        hit = dice.random(sessions) < np.where(treated, after, before)
        return drawn(treated, hit, np.arange(sessions))

    return played(play, design, runs=runs, seed=seed)


def power_of_weeks(
    before: float,
    after: float,
    design: Design,
    *,
    weeks_before: int,
    weeks_since: int,
    sessions_a_week: int,
    runs: int = RUNS,
    seed: int = 0,
) -> Power:
    """A comparison without a coin; bursts make the truth worse than this."""

    def play(dice: np.random.Generator) -> Columns:
        place = np.arange((weeks_before + weeks_since) * sessions_a_week + 1)
        treated = place >= weeks_before * sessions_a_week
        hit = dice.random(len(place)) < np.where(treated, after, before)
        return drawn(treated, hit, place * 7 // sessions_a_week)

    return played(play, design, runs=runs, seed=seed)


def played(
    play: Callable[[np.random.Generator], Columns], design: Design, *, runs: int, seed: int
) -> Power:
    """The verdicts of many experiments."""
    dice = np.random.default_rng(seed)
    words: dict[Word, float] = {}
    stops = []
    for _ in range(runs):
        data = play(dice)
        path = follow(data, design, RECURRENCE)
        if (found := decided(path, design)) is not None:
            words[found[0]] = words.get(found[0], 0.0) + 1 / runs
            stops.append(int(path.ends[found[1]]) + 1)
    stops.sort()
    return Power(words, _after(stops, runs, 0.5), _after(stops, runs, 0.9))


def _after(stops: list[int], runs: int, part: float) -> int | None:
    """The sessions after which this part of all experiments is decided."""
    place = int(np.ceil(part * runs)) - 1
    return stops[place] if place < len(stops) else None


def drawn(treated: np.ndarray, hit: np.ndarray, day: np.ndarray) -> Columns:
    """Sessions of one stratum, each its own block."""
    count = len(treated)
    return Columns(
        sessions=tuple(str(it) for it in range(count)),
        treated=treated,
        number=hit.astype(np.float64),
        stratum=np.zeros(count, np.int64),
        day=day.astype(np.int64),
        closes=np.arange(count),
    )
