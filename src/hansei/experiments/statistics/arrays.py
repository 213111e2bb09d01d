"""Observations as columns, in the order of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hansei.experiments.model import Observation

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Columns:
    """Sessions whose number is known: a hit is 1 or 0, a value is what it is."""

    sessions: tuple[str, ...]
    treated: Truths
    number: Floats
    stratum: Integers
    day: Integers
    closes: Integers
    """The index of the last session of each block that is over; blocks lie side by side."""

    @property
    def sizes(self) -> Integers:
        """Sessions in each block."""
        return np.diff(self.closes, prepend=-1)

    @property
    def begins(self) -> Integers:
        """Where the block of each session begins."""
        return np.repeat(self.closes - self.sizes + 1, self.sizes)


def columns(
    observations: Sequence[Observation], metric: str | None = None, *, unit: str = "session"
) -> Columns:
    """The known sessions; `metric` names a value, None is the hit.

    The last day of a switchback is not over: it can still change, so it is not bet on yet.
    """
    known = [(it, n) for it in observations if (n := number(it, metric)) is not None]
    first: dict[str, int] = {}
    for place, (it, _) in enumerate(known):
        first.setdefault(it.block, place)
    known.sort(key=lambda pair: first[pair[0].block])
    blocks = codes([it.block for it, _ in known])
    ends = np.flatnonzero(np.append(blocks[1:] != blocks[:-1], bool(known)))
    over = int(ends[-2]) + 1 if unit == "day" and len(ends) > 1 else len(known)
    over = 0 if unit == "day" and len(ends) < 2 else over
    rows = [it for it, _ in known[:over]]
    return Columns(
        sessions=tuple(it.session for it in rows),
        treated=np.array([it.arm == "treatment" for it in rows], dtype=np.bool_),
        number=np.array([n for _, n in known[:over]], dtype=np.float64),
        stratum=codes([it.stratum for it in rows]),
        day=np.array([it.day for it in rows], dtype=np.int64),
        closes=ends[ends < over].astype(np.int64),
    )


def number(it: Observation, metric: str | None) -> float | None:
    """A session's hit as 1 or 0, or a finite value of the metric."""
    if metric is None:
        return None if it.hit is None else float(it.hit)
    value = it.values.get(metric)
    return value if value is not None and np.isfinite(value) else None


def codes(names: Sequence[str]) -> Integers:
    """Each name by the order in which it first came up."""
    seen: dict[str, int] = {}
    return np.array([seen.setdefault(name, len(seen)) for name in names], dtype=np.int64)


def log_mean(logs: Floats) -> Floats:
    """The logarithm of the mean over the last axis, without overflow."""
    top = logs.max(axis=-1, keepdims=True)
    return np.asarray(top[..., 0] + np.log(np.exp(logs - top).mean(axis=-1)))


def by_block(numbers: Floats, closes: Integers) -> Floats:
    """Sums over the sessions of each block."""
    starts = np.append(0, closes[:-1] + 1)
    return np.asarray(np.add.reduceat(numbers, starts, axis=0)) if len(closes) else numbers[:0]
