"""A confidence sequence: an interval for the mean effect that holds at every look at once.

For scores that miss their effect by nothing on average and lie within a known reach. The effects
themselves may differ from session to session and depend on one another in any way; the interval is
for their mean over the sessions seen.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from hansei.experiments.model import Interval
from hansei.experiments.statistics.arrays import Floats, log_mean

STAKES: Final = (0.03, 0.06, 0.12, 0.25, 0.5, 0.75)
"""Shares of the largest safe stake: small ones sharpen long experiments, large ones short."""
_HALVINGS: Final = 50


class Sums(NamedTuple):
    """What the sequence needs to know after each step."""

    total: Floats
    squares: Floats
    """Of how far each score lay from the mean of those before."""
    steps: Floats
    reach: float


def sums(scores: Floats, *, bound: float, effect: float) -> Sums:
    """Of scores within plus and minus `bound`, of effects within plus and minus `effect`."""
    total = np.cumsum(scores)
    count = np.arange(1, len(scores) + 1, dtype=np.float64)
    before = np.clip((total - scores) / np.maximum(count - 1, 1), -effect, effect)
    return Sums(total, np.cumsum((scores - before) ** 2), count, bound + effect)


def against(seen: Sums, least: float, sign: int) -> Floats:
    """The logarithm of the evidence against an effect of `least` or more (sign 1), or less (-1)."""
    stake = np.array(STAKES) / seen.reach
    price = (-np.log1p(-np.array(STAKES)) - np.array(STAKES)) / seen.reach**2
    short = sign * (least * seen.steps - seen.total)
    return log_mean(short[:, None] * stake - seen.squares[:, None] * price)


def interval(seen: Sums, alpha: float, *, effect: float) -> Interval | None:
    """The effects that the last step does not rule out, half of the error on either side."""
    if not len(seen.steps):
        return None
    last = Sums(seen.total[-1:], seen.squares[-1:], seen.steps[-1:], seen.reach)
    return Interval(_edge(last, alpha, effect, -1), _edge(last, alpha, effect, 1))


def _edge(last: Sums, alpha: float, effect: float, sign: int) -> float:
    """The effect farthest to one side that is not ruled out."""
    middle = float(np.clip(last.total[0] / last.steps[0], -effect, effect))
    near, far = middle, sign * effect
    for _ in range(_HALVINGS):
        try_it = (near + far) / 2
        ruled_out = against(last, try_it, sign)[0] >= np.log(2 / alpha)
        near, far = (near, try_it) if ruled_out else (try_it, far)
    return far
