"""Typical amounts: tokens, cost, minutes. Their logarithm is what has a mean worth speaking of.

Tokens per session differ tenfold for one task, and one giant session would carry any plain mean. So
a session counts by how many times it is as large as its stratum's median so far, at most ten times
and at least a tenth; the effect is the mean of the logarithm of that: a ratio of typical amounts.
"""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from math import log
from typing import TYPE_CHECKING, Final

import numpy as np

from hansei.experiments.statistics.arrays import log_mean
from hansei.experiments.statistics.recurrence import Evidence, coin_scores
from hansei.experiments.statistics.sequence import STAKES, Sums, sums

if TYPE_CHECKING:
    from hansei.experiments.statistics.arrays import Columns, Floats

FURTHEST: Final = log(10)
"""A session counts as at most ten times its stratum's median."""


def scores(data: Columns, share: float, smallest: float) -> Floats:
    """An unbiased guess of each block's effect; `smallest` is the least amount that matters."""
    return coin_scores(data, relative(data, smallest), share)


def bound(share: float) -> float:
    """What no score exceeds."""
    return FURTHEST / min(share, 1 - share)


def typical(guesses: Floats, share: float) -> Sums:
    """What a confidence sequence needs."""
    return sums(guesses, bound=bound(share), effect=FURTHEST)


def evidence(guesses: Floats, share: float) -> Evidence:
    """Bets on every coin, for less and for more: a large session was probably of the other arm."""
    stakes = np.array(STAKES) / bound(share)
    lower, higher = (
        log_mean(np.cumsum(np.log1p(-sign * guesses[:, None] * stakes), axis=0)) for sign in (1, -1)
    )
    return Evidence(lower, higher)


def relative(data: Columns, smallest: float) -> Floats:
    """The logarithm of each amount over the median of its stratum in the blocks before."""
    logs = np.log(np.maximum(data.number, 0.0) + smallest)
    sizes: defaultdict[int, list[float]] = defaultdict(list)
    found = np.zeros(len(logs))
    begin = 0
    for end in data.closes + 1:
        block = range(begin, end)
        for place in block:
            if before := sizes[int(data.stratum[place])]:
                half = len(before) // 2
                found[place] = logs[place] - (before[half] + before[-half - 1]) / 2
        for place in block:
            insort(sizes[int(data.stratum[place])], float(logs[place]))
        begin = int(end)
    return np.clip(found, -FURTHEST, FURTHEST)
