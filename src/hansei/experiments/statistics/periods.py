"""Where nobody threw a coin: were the weeks since lower than the weeks before?

Failures come in bursts, so neither sessions nor days are witnesses of their own: a week is. A
period is at least seven days and always the same number of sessions, because a small one strays
further. If nothing changed, a new period is as likely to fall into any of the gaps between the
periods seen, and we bet that it falls below the lower ones of the control. That holds whatever the
periods' numbers look like, as long as a week before and a week since could have changed places.
Trends, seasons and a new way of working break that, and no arithmetic can see it: hence "lower
since", never "helped".
"""

from __future__ import annotations

from bisect import insort
from math import ceil, log
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from hansei.experiments.model import Interval
from hansei.experiments.statistics.arrays import Columns, Floats, Integers, log_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

DAYS: Final = 7
"""A period is a week at least: people work in weeks, and most bursts are shorter."""
SESSIONS: Final = 10
"""And at least as many sessions, so that its share or median means something."""
LEAST: Final = 3
"""Periods of control below which nothing is bet."""
_TRIED: Final = 201
"""Differences tried for an interval: whole points of a share."""
NO_SHIFT: Final = np.zeros(1)
_TIE: Final = 1e-9
"""Far less than any difference between two shares or medians."""


class Period(NamedTuple):
    """A stretch of one arm in one stratum."""

    treated: bool
    amount: float
    """The share of sessions with a hit, or the median of a value's logarithm."""
    last: int
    """The place of the session that ended it."""
    sessions: int = SESSIONS
    """In it, before it was thinned."""


def size_of(days: Integers) -> int:
    """Sessions in a period: as many as the control had in seven days."""
    if not len(days):
        return SESSIONS
    return max(SESSIONS, int(len(days) * DAYS / (days.max() - days.min() + 1)))


def split(days: Integers, size: int, today: int) -> list[Integers]:
    """The places of the sessions of each finished period; a day that is over is not torn apart."""
    found, begin = [], 0
    told = [*days.tolist(), today]
    for end in range(1, len(told)):
        long_enough = end - begin >= size and told[end - 1] - told[begin] >= DAYS - 1
        if long_enough and told[end] > told[end - 1]:
            found.append(np.arange(begin, end))
            begin = end
    return found


def thinned(places: Integers, size: int) -> Integers:
    """So many of them, spread evenly."""
    return places[np.arange(size) * len(places) // size]


def periods(data: Columns, stratum: int, *, median: bool) -> list[Period]:
    """The finished periods of both arms of a stratum, in the order in which they ended."""
    mine = data.stratum == stratum
    size = size_of(data.day[mine & ~data.treated])
    today = int(data.day.max(initial=0))
    found = []
    for treated in (False, True):
        at = np.flatnonzero(mine & (data.treated == treated))
        for places in split(data.day[at], size, today):
            numbers = data.number[at[thinned(places, size)]]
            amount = np.median(numbers) if median else numbers.mean()
            found.append(Period(treated, float(amount), int(at[places[-1]]), len(places)))
    return sorted(found, key=lambda it: it.last)


def evidence(seen: Sequence[Period], sign: int, shifts: Floats = NO_SHIFT) -> Floats:
    """The logarithm of the stake on treated periods being lower (sign 1) or higher (-1).

    One row for each shift, which is added to every treated amount first; one column for each
    period. Ties fall either way by a fixed throw of dice.
    """
    dice = np.random.default_rng(0).random(len(seen))
    control: list[float] = []
    treatment = np.empty((len(shifts), 0))
    path = np.zeros((len(shifts), len(seen), 2))
    stakes = np.zeros((len(shifts), 2))
    for place, it in enumerate(seen):
        amounts = sign * (it.amount + shifts * it.treated) + _TIE * dice[place]
        if not it.treated:
            insort(control, float(amounts[0]))
        else:
            if len(control) >= LEAST:
                ranks = (1, ceil(len(control) / 3))
                stakes = (
                    stakes + np.array([_won(amounts, control, treatment, rank) for rank in ranks]).T
                )
            treatment = np.column_stack((treatment, amounts))
        path[:, place] = stakes
    return log_mean(path)


def _won(amounts: Floats, control: list[float], treatment: Floats, rank: int) -> Floats:
    """What the bet brings that the next treated period lies below the control's rank-th lowest."""
    gaps = len(control) + treatment.shape[1] + 1
    line = control[rank - 1]
    already = (treatment < line).sum(axis=1)
    fair = (rank + already) / gaps
    ours = (len(control) + 1 - rank + already) / gaps
    won, lost = np.log(ours / fair), np.log((1 - ours) / (1 - fair))
    return np.asarray(np.where(amounts < line, won, lost))


class Stratum(NamedTuple):
    """The periods of one stratum, and how much of the stake is on it."""

    weight: float
    periods: list[Period]


def strata(data: Columns, *, median: bool) -> list[Stratum]:
    """Strata with enough control to compare with, weighed by their sessions in it."""
    found = []
    for code in np.unique(data.stratum):
        seen = periods(data, int(code), median=median)
        if sum(not it.treated for it in seen) >= LEAST:
            weight = float(np.sum((data.stratum == code) & ~data.treated))
            found.append(Stratum(weight, seen))
    total = sum(it.weight for it in found)
    return [Stratum(it.weight / total, it.periods) for it in found]


def steps(found: Sequence[Stratum]) -> Integers:
    """The places of the sessions that ended a treated period."""
    ends = {it.last for stratum in found for it in stratum.periods if it.treated}
    return np.array(sorted(ends), dtype=np.int64)


def joint(found: Sequence[Stratum], sign: int, shift: float = 0.0) -> Floats:
    """The logarithm of the stake over all strata, after each step."""
    return np.asarray(_joint(found, sign, np.array([shift]))[0])


def _joint(found: Sequence[Stratum], sign: int, shifts: Floats) -> Floats:
    """One row for each shift."""
    ends = steps(found)
    total = np.zeros((len(shifts), len(ends)))
    for stratum in found:
        path = np.pad(evidence(stratum.periods, sign, shifts), ((0, 0), (1, 0)))
        last = [it.last for it in stratum.periods]
        total += stratum.weight * np.exp(path[:, np.searchsorted(last, ends, side="right")])
    return np.log(total)


def difference(found: Sequence[Stratum]) -> float | None:
    """Treated periods less those of the control, over strata that have both."""
    both = [
        (it.weight, np.mean(treated) - np.mean([p.amount for p in it.periods if not p.treated]))
        for it in found
        if (treated := [p.amount for p in it.periods if p.treated])
    ]
    weight = sum(it for it, _ in both)
    return float(sum(it * gap for it, gap in both) / weight) if both else None


def interval(found: Sequence[Stratum], alpha: float, furthest: float) -> Interval | None:
    """The differences that no step ruled out, half of the error on either side.

    A difference d is ruled out from above when the treated periods, less d, are still lower.
    """
    if not len(steps(found)):
        return None
    bar = log(2 / alpha)
    tried = np.linspace(-furthest, furthest, _TRIED)
    high = tried[_joint(found, 1, -tried).max(axis=1) < bar]
    low = tried[_joint(found, -1, -tried).max(axis=1) < bar]
    return Interval(float(low.min(initial=furthest)), float(high.max(initial=-furthest)))
