"""Did the target come up less often in the treated sessions than the coin explains?

The coin was thrown before the session and knows nothing of it. If the change does nothing, then
even somebody who knows how every session went, and how every coin fell before, cannot foresee the
next coin: who bets on it at fair odds wins nothing in the long run. So we bet. Where a session went
wrong we put more on "it was a control session", and less where it went well; the stake we hold is
the evidence. That holds for whatever order, bursts or days the sessions came in, because nothing is
assumed of them. The coin is all that is random.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from hansei.experiments.statistics.arrays import Columns, Floats, by_block, log_mean

ODDS: Final = (2.0, 4.0, 8.0)
"""Effects bet on, a third of the stake each: the odds of a hit are halved, quartered, an eighth."""


class Evidence(NamedTuple):
    """The logarithm of one's stake after each block."""

    fewer: Floats
    more: Floats


def evidence(data: Columns, share: float) -> Evidence:
    """Bets on every coin, for fewer and for more hits among the treated."""
    base = base_rate(data)
    return Evidence(
        _stake(data, base, share, [1 / it for it in ODDS]), _stake(data, base, share, list(ODDS))
    )


def _stake(data: Columns, base: Floats, share: float, odds: list[float]) -> Floats:
    """The stake after each block when an equal part of it goes on each ratio of odds."""
    if not len(data.closes):
        return np.zeros(0)
    control, treatment = rates(base[:, None], np.array(odds), share)
    hit = data.number[:, None] > 0
    likely = [np.where(hit, np.log(it), np.log1p(-it)) for it in (control, treatment)]
    whole = [by_block(it, data.closes) for it in likely]
    # Sessions of one block may be one event or many: half the stake is on either.
    each = [np.hstack((it, it / data.sizes[:, None])) for it in whole]
    fell = np.where(data.treated[data.closes][:, None], each[1], each[0])
    fair = np.logaddexp(np.log(1 - share) + each[0], np.log(share) + each[1])
    return log_mean(np.cumsum(fell - fair, axis=0))


def base_rate(data: Columns) -> Floats:
    """The share of hits to expect in each session, from the blocks before it in both arms.

    A stratum starts from the rate of all, as if that had been seen in two of its sessions.
    """
    began = data.begins
    hits = np.append(0.0, np.cumsum(data.number))
    overall = (hits[began] + 0.5) / (began + 1)
    expected = np.empty(len(data.number))
    for code in np.unique(data.stratum):
        at = np.flatnonzero(data.stratum == code)
        before = np.searchsorted(at, began[at])
        seen = np.append(0.0, np.cumsum(data.number[at]))[before]
        expected[at] = (seen + 2 * overall[at]) / (before + 2)
    return expected


def rates(base: Floats, odds: Floats, share: float) -> tuple[Floats, Floats]:
    """The rates of both arms whose mixture is `base` and whose odds stand in this ratio."""
    square = (1 - share) * (odds - 1)
    linear = share * odds + (1 - share) - base * (odds - 1)
    control = 2 * base / (linear + np.sqrt(linear**2 + 4 * square * base))
    return control, (base - (1 - share) * control) / share


def scores(data: Columns, share: float) -> Floats:
    """An unbiased guess of each block's effect: how much more its sessions hit when treated.

    What the strata let expect is taken off first, which makes the guesses less noisy.
    """
    return coin_scores(data, data.number - base_rate(data), share)


def coin_scores(data: Columns, numbers: Floats, share: float) -> Floats:
    """Each block's mean, weighed by the chance of the arm it fell into."""
    mean = by_block(numbers, data.closes) / data.sizes
    return np.asarray(np.where(data.treated[data.closes], mean / share, -mean / (1 - share)))
