"""How many sessions will tell whether something became half as frequent, without playing it now.

The table was played by `power`, four hundred experiments for each share, and `make prove` plays it
again: a look back has no time for that, and nothing else than the share matters where a coin
decides.
"""

from __future__ import annotations

from itertools import pairwise
from math import exp, log
from typing import Final

TOLD: Final = (
    (0.1, 803),
    (0.15, 448),
    (0.2, 371),
    (0.3, 214),
    (0.4, 150),
    (0.5, 112),
    (0.6, 80),
    (0.75, 53),
    (0.9, 35),
    (1.0, 29),
)
"""A share of sessions, and the sessions of both arms after which half of all experiments have said
that halving it helped."""


def sessions_to_tell(share: float) -> int | None:
    """Sessions until the chance to know is even; None where too few experiments ever say so.

    Below a tenth of sessions half as many are so few less that most experiments end with "no
    effect".
    """
    for (low, more), (high, fewer) in pairwise(TOLD):
        if low <= share <= high:
            part = (log(share) - log(low)) / (log(high) - log(low))
            return round(exp(log(more) + part * (log(fewer) - log(more))))
    return None
