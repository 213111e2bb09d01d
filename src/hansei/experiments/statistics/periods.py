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

from bisect import bisect_left, insort
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
    following = np.append(days[1:], today)
    for end in range(1, len(days) + 1):
        long_enough = end - begin >= size and days[end - 1] - days[begin] >= DAYS - 1
        if long_enough and following[end - 1] > days[end - 1]:
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


def evidence(seen: Sequence[Period], sign: int, shift: float = 0.0) -> Floats:
    """The logarithm of the stake on treated periods being lower (sign 1) or higher (-1).

    `shift` is added to every treated amount first. Ties fall either way by a fixed throw of dice.
    """
    dice = np.random.default_rng(0).random(len(seen))
    control: list[float] = []
    treatment: list[float] = []
    path = np.zeros((len(seen), 2))
    stakes = np.zeros(2)
    for place, it in enumerate(seen):
        amount = sign * (it.amount + shift * it.treated) + _TIE * dice[place]
        if it.treated and len(control) >= LEAST:
            ranks = (1, ceil(len(control) / 3))
            stakes = stakes + [_won(amount, control, treatment, rank) for rank in ranks]
        insort(treatment if it.treated else control, amount)
        path[place] = stakes
    return log_mean(path)


def _won(amount: float, control: list[float], treatment: list[float], rank: int) -> float:
    """What the bet brings that the next treated period lies below the control's rank-th lowest."""
    gaps = len(control) + len(treatment) + 1
    line = control[rank - 1]
    already = bisect_left(treatment, line)
    fair = (rank + already) / gaps
    ours = (len(control) + 1 - rank + already) / gaps
    return log(ours / fair) if amount < line else log((1 - ours) / (1 - fair))


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
    ends = steps(found)
    total = np.zeros(len(ends))
    for stratum in found:
        path = np.append(0.0, evidence(stratum.periods, sign, shift))
        last = [it.last for it in stratum.periods]
        total += stratum.weight * np.exp(path[np.searchsorted(last, ends, side="right")])
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
    high = [it for it in tried if joint(found, 1, -it).max() < bar]
    low = [it for it in tried if joint(found, -1, -it).max() < bar]
    return Interval(float(min(low, default=-furthest)), float(max(high, default=furthest)))
