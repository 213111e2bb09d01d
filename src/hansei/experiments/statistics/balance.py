"""Are the arms as large as the coin would make them? If not, something chose, and no verdict holds.

Checked against the chance that the design really used, on the sessions that are counted, because a
session that is lost in one arm only is exactly what has to be found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from hansei.experiments.statistics.arrays import Floats, Truths

SURE: Final = 0.01
"""The chance of a false alarm, however often one looks: an alarm withholds every verdict."""
GUESS: Final = 20.0
"""How sharp the other shares that are bet on lie around the design's: like twenty sessions seen."""


def imbalance(treated: Truths, share: float) -> Floats:
    """The logarithm of the evidence against the design's share, after each block."""
    a, b = GUESS * share, GUESS * (1 - share)
    count = np.arange(len(treated))
    ones: Floats = np.cumsum(treated) - treated.astype(np.float64)
    foreseen = (a + ones) / (a + b + count)
    odds = np.where(treated, foreseen / share, (1 - foreseen) / (1 - share))
    return np.asarray(np.cumsum(np.log(odds)))


def balanced(treated: Truths, share: float) -> bool:
    """Whether no look so far told the arms apart from a fair coin."""
    return not bool(np.any(imbalance(treated, share) >= np.log(1 / SURE)))
