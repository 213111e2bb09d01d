"""No effect: the whole confidence sequence lies inside a margin that was stated before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hansei.experiments.statistics.sequence import Sums, against

if TYPE_CHECKING:
    from hansei.experiments.statistics.arrays import Truths


def inside(seen: Sums, margin: float, alpha: float) -> Truths:
    """After which steps both ends of the interval lay inside the margin."""
    bar = np.log(2 / alpha)
    return np.asarray((against(seen, margin, 1) >= bar) & (against(seen, -margin, -1) >= bar))
