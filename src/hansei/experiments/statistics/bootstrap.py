"""Medians and how far they could be off, by resampling. They describe and never decide.

The median of a resample is one of the sorted numbers, and which one is known in distribution: the
middle of n uniform draws is a Beta variable. Drawing that place instead of the whole resample gives
exactly the same bootstrap, some hundred times faster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from hansei.experiments.model import Interval
from hansei.experiments.statistics.arrays import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hansei.experiments.model import Observation
    from hansei.experiments.statistics.arrays import Floats

RESAMPLES: Final = 10_000
CONFIDENCE: Final = 0.95


class Medians(NamedTuple):
    """Two medians and what lies between them; None where it cannot be told."""

    control: float
    treatment: float
    difference: Interval | None
    """Treatment less control; None where an arm has too few numbers."""
    ratio: Interval | None
    """Treatment by control; None as well where control's median could be nothing."""


def described(
    observations: Sequence[Observation],
    metric: str | None,
    *,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    seed: int = 0,
) -> Medians | None:
    """The medians of a metric over the sessions that tell it."""
    told = [(it.arm, value) for it in observations if (value := number(it, metric)) is not None]
    control, treatment = (
        np.array([value for arm, value in told if arm == which], dtype=np.float64)
        for which in ("control", "treatment")
    )
    return medians(control, treatment, resamples=resamples, confidence=confidence, seed=seed)


def medians(
    control: Floats,
    treatment: Floats,
    *,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    seed: int = 0,
) -> Medians | None:
    """The medians of both arms with percentile intervals; None where an arm is empty."""
    if not len(control) or not len(treatment):
        return None
    middles = float(np.median(control)), float(np.median(treatment))
    if not all(_can_tell(len(it), confidence) for it in (control, treatment)):
        return Medians(*middles, None, None)
    dice = np.random.default_rng(seed)
    one, other = (resampled_medians(it, resamples, dice) for it in (control, treatment))
    positive = bool(one.min() > 0)
    return Medians(
        *middles,
        percentiles(other - one, confidence),
        percentiles(other / one, confidence) if positive else None,
    )


def _can_tell(size: int, confidence: float) -> bool:
    """Whether so many numbers reach to both sides of the true median with this confidence.

    All of them lie on one side with a chance of 2 to the power of 1 - size, and then so does every
    resample.
    """
    return size > 0 and 1 - 2.0 ** (1 - size) >= confidence


def resampled_medians(numbers: Floats, resamples: int, dice: np.random.Generator) -> Floats:
    """The median of each of many resamples, drawn by its place in the sorted numbers."""
    ordered, size = np.sort(numbers), len(numbers)
    lower = (size + 1) // 2
    place = dice.beta(lower, size - lower + 1, resamples)
    below = ordered[np.minimum((place * size).astype(np.int64), size - 1)]
    if size % 2:
        return np.asarray(below)
    place = place + (1 - place) * dice.beta(1, size - lower, resamples)
    above = ordered[np.minimum((place * size).astype(np.int64), size - 1)]
    return np.asarray((below + above) / 2)


def percentiles(drawn: Floats, confidence: float) -> Interval:
    """The middle part of what was drawn."""
    low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(low), float(high))
