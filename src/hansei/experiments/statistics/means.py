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

from hansei.experiments.statistics.recurrence import coin_scores
from hansei.experiments.statistics.sequence import Sums, sums

if TYPE_CHECKING:
    from hansei.experiments.statistics.arrays import Columns, Floats

FURTHEST: Final = log(10)
"""A session counts as at most ten times its stratum's median."""


def typical(data: Columns, share: float, smallest: float) -> Sums:
    """What a confidence sequence needs; `smallest` is the least amount that matters, above zero."""
    scores = coin_scores(data, relative(data, smallest), share)
    return sums(scores, bound=FURTHEST / min(share, 1 - share), effect=FURTHEST)


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
