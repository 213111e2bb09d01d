"""Sessions of a made-up person: failures that come alone or in bursts, and a coin for each session.

Bad spells last days and strike whole days; within a day a failure tends to be followed by another.
The coin is a keyed hash of the session's name, as in a real experiment.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np

from hansei.experiments.model import Design, Word
from hansei.experiments.statistics.arrays import Columns
from hansei.experiments.statistics.verdict import RECURRENCE, Metric, decided, follow

COIN = Design(randomised=True)
SWITCHBACK = Design(randomised=True, unit="day")
WEEKS = Design(randomised=False)


@dataclass(frozen=True)
class Nature:
    """How failures come about."""

    calm: float
    """The share of sessions that fail on an ordinary day."""
    bad: float
    """On a day of a bad spell."""
    begins: float = 0.1
    """The chance that a bad spell begins on a day."""
    ends: float = 0.3
    """That it ends."""
    echo: float = 0.4
    """That a session goes as the one before it on the same day."""
    a_day: float = 4.0
    """Sessions a day, besides the first."""


INDEPENDENT = Nature(calm=0.3, bad=0.3, echo=0.0)
BURSTY = Nature(calm=0.15, bad=0.75)
RARE = Nature(calm=0.03, bad=0.5)
LONG = replace(BURSTY, begins=0.04, ends=0.1)
"""Bad spells of ten days."""


def days_of(nature: Nature, sessions: int, dice: np.random.Generator) -> np.ndarray:
    """The day of each session."""
    busy = 1 + dice.poisson(nature.a_day, sessions)
    return np.repeat(np.arange(sessions), busy)[:sessions]


def spells(nature: Nature, days: int, dice: np.random.Generator) -> np.ndarray:
    """Which days are bad: a chain with a memory, started in its long run."""
    thrown = dice.random(days + 1)
    bad = thrown[-1] < nature.begins / (nature.begins + nature.ends)
    found = np.empty(days, dtype=bool)
    for day in range(days):
        bad = thrown[day] >= nature.ends if bad else thrown[day] < nature.begins
        found[day] = bad
    return found


def failures(nature: Nature, day: np.ndarray, dice: np.random.Generator) -> np.ndarray:
    """Whether each session fails."""
    bad = spells(nature, int(day[-1]) + 1, dice)[day]
    failed = dice.random(len(day)) < np.where(bad, nature.bad, nature.calm)
    echoes = (dice.random(len(day)) < nature.echo) & (np.diff(day, prepend=-1) == 0)
    for place in np.flatnonzero(echoes):
        failed[place] = failed[place - 1]
    return failed


def coins(key: int, names: np.ndarray, share: float = 0.5) -> np.ndarray:
    """The arm of each name, by a keyed hash."""
    secret = key.to_bytes(8, "big")
    thrown = [
        int.from_bytes(blake2b(str(it).encode(), key=secret, digest_size=8).digest(), "big")
        for it in names.tolist()
    ]
    return np.array(thrown) < share * 2.0**64


def changed(
    failed: np.ndarray, treated: np.ndarray, effect: float, dice: np.random.Generator
) -> np.ndarray:
    """Treated failures are prevented with a chance of -effect, or successes spoilt with +effect."""
    struck = treated & (dice.random(len(failed)) < abs(effect))
    return failed & ~struck if effect < 0 else failed | struck


def table(
    treated: np.ndarray, failed: np.ndarray, day: np.ndarray, *, by_day: bool = False
) -> Columns:
    """Columns of sessions of two strata; a block is a session, or a day that is over."""
    ends = np.flatnonzero(np.diff(day) > 0) if by_day else np.arange(len(day))
    upto = int(ends[-1]) + 1
    return Columns(
        sessions=tuple(map(str, range(upto))),
        treated=treated[:upto],
        number=failed[:upto].astype(np.float64),
        stratum=(np.arange(upto) * 7 // 5) % 2 if not by_day else np.zeros(upto, np.int64),
        day=day[:upto].astype(np.int64),
        closes=ends,
    )


def with_coin(
    nature: Nature, seed: int, *, effect: float = 0.0, sessions: int = 400, by_day: bool = False
) -> Columns:
    """A randomised experiment."""
    dice = np.random.default_rng(seed)
    day = days_of(nature, sessions, dice)
    failed = failures(nature, day, dice)
    treated = coins(seed, day if by_day else np.arange(sessions))
    return table(treated, changed(failed, treated, effect, dice), day, by_day=by_day)


def before_and_since(
    nature: Nature, seed: int, *, effect: float = 0.0, before: int = 200, since: int = 200
) -> Columns:
    """A change in the middle of a history, without a coin; one stratum."""
    dice = np.random.default_rng(seed)
    day = days_of(nature, before + since, dice)
    failed = failures(nature, day, dice)
    treated = day >= day[before]
    found = table(treated, changed(failed, treated, effect, dice), day)
    return replace(found, stratum=np.zeros(before + since, np.int64))


def bad_fortnight(
    nature: Nature, seed: int, *, excluded: str, targets: int = 10, since: int = 200
) -> Columns:
    """The history of the target that failed most in the fortnight before a bet on it.

    Nothing changes. `excluded` says what is kept out of the control: that fortnight (`window`), its
    sessions that failed (`evidence`), or everything before it (`all but it`); with a `coin` there
    is no history at all.
    """
    before = 400
    dice = np.random.default_rng(seed)
    day = days_of(nature, before + since, dice)
    treated = day > day[before - 1]
    looked_at = ~treated & (day > day[before - 1] - 14)
    many = [failures(nature, day, dice) for _ in range(targets)]
    worst = max(many, key=lambda it: int(it[looked_at].sum()))
    if excluded == "coin":
        return table(coins(seed, np.flatnonzero(treated)), worst[treated], day[treated])
    out = {
        "window": looked_at,
        "evidence": looked_at & worst,
        "all but it": ~treated & ~looked_at,
    }
    keep = ~out[excluded]
    found = table(treated[keep], worst[keep], day[keep])
    return replace(found, stratum=np.zeros(len(found.sessions), np.int64))


def spent(seed: int, *, bursts: bool, ratio: float = 1.0, sessions: int = 400) -> Columns:
    """Tokens of each session: tenfold apart, now and then a giant, dearer on bad days."""
    dice = np.random.default_rng(seed)
    day = days_of(BURSTY, sessions, dice)
    bad = spells(BURSTY, int(day[-1]) + 1, dice)[day] & bursts
    tokens = 20_000 * np.exp(0.9 * dice.standard_t(3, sessions) + 1.5 * bad)
    treated = coins(seed, np.arange(sessions))
    found = table(treated, np.zeros(sessions), day)
    return replace(found, number=np.where(treated, ratio, 1.0) * tokens)


def looked_at_by_a_plain_test(data: Columns, *, end_only: bool = False) -> bool:
    """Whether a test of two shares at 5% ever finds a difference, from ten sessions an arm on."""
    count = np.array([np.cumsum(~data.treated), np.cumsum(data.treated)])
    hits = np.array([np.cumsum(it * data.number) for it in (~data.treated, data.treated)])
    enough = (count >= 10).all(axis=0)
    count, hits = count[:, enough], hits[:, enough]
    pooled = hits.sum(axis=0) / count.sum(axis=0)
    error = np.sqrt(np.maximum(pooled * (1 - pooled), 1e-9) * (1 / count).sum(axis=0))
    far = np.abs(hits[1] / count[1] - hits[0] / count[0]) > 1.96 * error
    return bool(far[-1] if end_only else far.any())


def said(data: Columns, design: Design, metric: Metric = RECURRENCE) -> tuple[Word | None, int]:
    """The verdict of somebody who looks after every session, and how many sessions it took."""
    path = follow(data, design, metric)
    found = decided(path, design, metric)
    return (None, 0) if found is None else (found[0], int(path.ends[found[1]]) + 1)
