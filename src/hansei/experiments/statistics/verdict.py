"""The words: what may be said of two arms, and when.

Evidence is followed step by step and the first time it reaches the bar decides; that verdict
stands, so looking every day costs nothing and going on changes nothing.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil, log
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import numpy as np

from hansei.experiments.model import Arm, ArmCount, Interval, Verdict, Why, Word
from hansei.experiments.statistics import means, periods, recurrence, sequence
from hansei.experiments.statistics.arrays import Columns, Floats, Integers, Truths, columns, number
from hansei.experiments.statistics.balance import balanced
from hansei.experiments.statistics.margin import inside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hansei.experiments.model import Design, Observation

FORESIGHT: Final = 5_000
"""Sessions to come that are tried before "nobody knows": years of them."""
FORETELLS: Final = 10
"""Known sessions of an arm below which nothing is foretold."""


class Metric(NamedTuple):
    """What is compared."""

    name: str | None = None
    """None is the recurrence of the target."""
    smallest: float = 1.0
    """The least amount that matters: one token, one cent, one minute."""
    better: Literal["lower", "higher"] = "lower"

    def limit(self, design: Design) -> float:
        """What would not matter, in the metric's own measure."""
        return design.margin if self.name is None else log(design.ratio)

    @property
    def furthest(self) -> float:
        """The largest difference there can be."""
        return 1.0 if self.name is None else 2 * means.FURTHEST


class Path(NamedTuple):
    """What was known after each step."""

    lower: Floats
    """Logarithms of the stakes."""
    higher: Floats
    same: Truths
    ends: Integers
    """The place of the session that ended each step."""


RECURRENCE: Final = Metric()


def judge(
    observations: Sequence[Observation], design: Design, metric: Metric = RECURRENCE
) -> Verdict:
    """What may be said of these sessions, given in the order of time."""
    data = columns(observations, metric.name, unit=design.unit)
    path = follow(data, design, metric)
    middle, between = _described(data, design, metric)
    counted = {it: _count(observations, it, metric) for it in Arm}
    verdict = Verdict(
        word=Word.INCONCLUSIVE,
        randomised=design.randomised,
        control=counted[Arm.CONTROL],
        treatment=counted[Arm.TREATMENT],
        difference=middle,
        interval=between,
        lower=_stakes(path.lower),
        higher=_stakes(path.higher),
        bar=2 / design.alpha,
        steps=tuple(data.sessions[it] for it in path.ends),
        left_out=_left_out(data, design, metric),
    )
    if (why := _withheld(data, design, metric)) is not None:
        return replace(verdict, why=why)
    if (found := decided(path, design, metric)) is not None:
        return replace(verdict, word=found[0], decided_by=data.sessions[path.ends[found[1]]])
    needed = still_needed(data, design, metric)
    return replace(verdict, why=Why.MORE, needed=needed, days=_until(data, design, needed))


def follow(data: Columns, design: Design, metric: Metric) -> Path:
    """Evidence after each step: a block of the coin's, or a treated period."""
    if not design.randomised:
        return _weeks(data, design, metric)
    if metric.name is None:
        lower, higher = recurrence.evidence(data, design.share)
    else:
        guesses = means.scores(data, design.share, metric.smallest)
        lower, higher = means.evidence(guesses, design.share)
    same = inside(_sums(data, design, metric), metric.limit(design), design.alpha)
    return Path(lower, higher, same, data.closes)


def _sums(data: Columns, design: Design, metric: Metric) -> sequence.Sums:
    """What the confidence sequence of a randomised design needs."""
    share = design.share
    if metric.name is not None:
        return means.typical(means.scores(data, share, metric.smallest), share)
    scores = recurrence.scores(data, share)
    return sequence.sums(scores, bound=1 / min(share, 1 - share), effect=1.0)


def _weeks(data: Columns, design: Design, metric: Metric) -> Path:
    """Evidence of a design without a coin."""
    found = _strata(data, metric)
    limit, bar = metric.limit(design), log(2 / design.alpha)
    lower, higher = periods.joint(found, 1), periods.joint(found, -1)
    same = (periods.joint(found, 1, -limit) >= bar) & (periods.joint(found, -1, limit) >= bar)
    return Path(lower, higher, same, periods.steps(found))


def _strata(data: Columns, metric: Metric) -> list[periods.Stratum]:
    """Periods of the share of hits, or of the logarithm of a value."""
    if metric.name is None:
        return periods.strata(data, median=False)
    logs = np.log(np.maximum(data.number, 0.0) + metric.smallest)
    return periods.strata(replace(data, number=logs), median=True)


def decided(path: Path, design: Design, metric: Metric = RECURRENCE) -> tuple[Word, int] | None:
    """The first verdict that was reached, and after which step."""
    bar = log(2 / design.alpha)
    good, bad = (
        (Word.HELPED, Word.HARMED) if metric.better == "lower" else (Word.HARMED, Word.HELPED)
    )
    words = (good, bad, Word.NO_EFFECT)
    if not design.randomised:
        words = (Word.LOWER, Word.HIGHER, Word.NO_CHANGE)
    reached = (path.lower >= bar, path.higher >= bar, path.same)
    firsts = [
        (int(np.argmax(it)), word) for it, word in zip(reached, words, strict=True) if it.any()
    ]
    step, word = min(firsts, key=lambda it: it[0], default=(-1, None))
    return None if word is None else (word, step)


def _withheld(data: Columns, design: Design, metric: Metric) -> Why | None:
    """Why no verdict may be given at all."""
    if not data.treated.any() or data.treated.all():
        return Why.EMPTY
    if design.randomised:
        return None if balanced(data.treated[data.closes], design.share) else Why.UNBALANCED
    return None if _strata(data, metric) else Why.NO_HISTORY


def _described(
    data: Columns, design: Design, metric: Metric
) -> tuple[float | None, Interval | None]:
    """The difference and its interval."""
    if not design.randomised:
        found = _strata(data, metric)
        return periods.difference(found), periods.interval(found, design.alpha, metric.furthest)
    seen = _sums(data, design, metric)
    if not len(seen.steps):
        return None, None
    middle = float(seen.total[-1] / seen.steps[-1])
    return middle, sequence.interval(seen, design.alpha, effect=metric.furthest)


def still_needed(data: Columns, design: Design, metric: Metric) -> int | None:
    """Sessions until a verdict, if those to come repeat those so far; None if not foreseeable.

    Without a coin only sessions with the change are still to come.
    """
    if min(int(data.treated.sum()), int((~data.treated).sum())) < FORETELLS:
        return None
    again = replayed(data, data.treated | design.randomised)
    path = follow(again, design, metric)
    found = decided(path, design, metric)
    return None if found is None else max(1, int(path.ends[found[1]]) + 1 - len(data.sessions))


def replayed(data: Columns, which: Truths) -> Columns:
    """The same sessions, and then some of them again and again."""
    places = np.flatnonzero(which)
    times = ceil(FORESIGHT / len(places))
    order = np.concatenate((np.arange(len(which)), np.tile(places, times)))
    began = int(data.day[places].min())
    span = int(data.day.max()) - began + 1
    later = np.repeat(np.arange(1, times + 1) * span, len(places))
    ends = np.flatnonzero(np.isin(places, data.closes))
    more = len(which) + np.arange(times)[:, None] * len(places) + ends
    return Columns(
        sessions=tuple(data.sessions[it] for it in order),
        treated=data.treated[order],
        number=data.number[order],
        stratum=data.stratum[order],
        day=data.day[order] + np.append(np.zeros(len(which), np.int64), later),
        closes=np.append(data.closes, more),
    )


def _until(data: Columns, design: Design, needed: int | None) -> int | None:
    """Days until so many more sessions, at the pace of those that count."""
    if needed is None:
        return None
    days = data.day[data.treated | design.randomised]
    return ceil(needed * (int(days.max() - days.min()) + 1) / len(days))


def _stakes(logs: Floats) -> tuple[float, ...]:
    """Stakes that a float can hold."""
    return tuple(np.exp(np.minimum(logs, 700.0)).tolist())


def _count(observations: Sequence[Observation], arm: Arm, metric: Metric) -> ArmCount:
    """What an arm consists of."""
    mine = [it for it in observations if it.arm == arm]
    known = [it for it in mine if number(it, metric.name) is not None]
    told = [it.opportunities for it in known if it.opportunities is not None]
    return ArmCount(
        sessions=len(mine),
        known=len(known),
        hits=sum(it.hit is True for it in known) if metric.name is None else None,
        opportunities=sum(told) if told else None,
    )


def _left_out(data: Columns, design: Design, metric: Metric) -> int:
    """Known sessions that are part of no period that is compared."""
    if design.randomised:
        return 0
    used = sum(it.sessions for found in _strata(data, metric) for it in found.periods)
    return len(data.sessions) - used
