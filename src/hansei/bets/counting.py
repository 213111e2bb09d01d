"""From occurrences to a bet: what it costs a week, how sure it is to recur, how it ranks.

Rules, each of which `hansei retro --explain` prints:

1. *A week.* What it took in the window, times seven, divided by the days of the window. A window
   with fewer than seven active days tells no week: then only the total is told.
2. *Its interval.* Sessions come at random, each with what it took: the spread of their sum is that
   of a compound Poisson count. k = (sum of amounts)² / (sum of squared amounts) is how many equal
   sessions it is worth, and the interval is that of k counted events (80%).
3. *Confidence.* It happened on d different days of the window. The rate a week is at least the
   lower 80% bound of a Poisson count of d; the chance of at least one next week follows. Where it
   has not been seen for longer than its rate explains, the chance is taken down by how unlikely
   that silence is.
4. *Score.* Confidence times expected tokens saved, divided by the minutes it takes plus one.
5. *Net.* What the change itself will cost a week, its tokens times the requests, is taken off.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import exp, sqrt
from typing import TYPE_CHECKING, Final

from hansei.bets.model import Bet, Range
from hansei.config import DAY_MS
from hansei.events.keys import digest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hansei.bets.model import Finding

WEEK_DAYS: Final = 7
Z_80: Final = 0.8416
"""The normal quantile below which four fifths lie."""
Z_90: Final = 1.2816


@dataclass(frozen=True)
class Frame:
    """The window that a bet is counted in."""

    workspace: str
    """What the workspace is known by."""
    days: float
    """From the first to the last day of the window."""
    active_days: int
    """Days with at least one session."""
    started: Mapping[int, int | None]
    """When each session began."""
    until: int
    """The end of the window."""
    requests_a_week: float
    """Requests that would carry an added line."""

    @property
    def tells_weeks(self) -> bool:
        return self.active_days >= WEEK_DAYS

    @property
    def weeks(self) -> float:
        return max(self.days, 1.0) / WEEK_DAYS


def count(finding: Finding, frame: Frame, *, of_sessions: int, rent_tokens: int | None) -> Bet:
    """A bet, from what a heuristic found; `rent_tokens` is the size of the text it would add."""
    taken: dict[int, int] = defaultdict(int)
    waited: dict[int, float] = defaultdict(float)
    for it in finding.occurrences:
        taken[it.session] += it.tokens or 0
        waited[it.session] += it.minutes or 0.0
    known = any(it.tokens is not None for it in finding.occurrences)
    total = sum(taken.values()) if known else None
    rent = None if rent_tokens is None else round(rent_tokens * frame.requests_a_week)
    weekly = None
    if frame.tells_weeks and total is not None:
        weekly = _less(_spread([float(it) for it in taken.values()], frame.weeks), rent or 0)
    sure = confidence(finding, frame)
    last = max((at for it in taken if (at := frame.started.get(it)) is not None), default=None)
    bet = Bet(
        id=identity(finding, frame.workspace),
        finding=finding,
        sessions=len(taken),
        of_sessions=of_sessions,
        total=total,
        minutes=round(sum(waited.values()), 1) if any(waited.values()) else None,
        weekly=weekly,
        rent=rent,
        confidence=sure,
        score=0.0,
        last_at=last,
    )
    return _scored(bet)


def _scored(bet: Bet) -> Bet:
    from dataclasses import replace

    return replace(bet, score=bet.confidence * max(bet.saving, 0.0) / (bet.finding.effort + 1))


def identity(finding: Finding, workspace: str) -> str:
    """Eight letters that stay the same from week to week."""
    return digest(f"{workspace}\0{finding.heuristic}\0{finding.key}".encode())[:8]


def confidence(finding: Finding, frame: Frame) -> float:
    """The chance that it happens at least once next week: its lower bound at 80%."""
    times = [at for it in finding.occurrences if (at := frame.started.get(it.session)) is not None]
    days = len({at // DAY_MS for at in times})
    if not days:
        return 0.0
    rate = days / frame.weeks
    silent = max(frame.until - max(times), 0) / (WEEK_DAYS * DAY_MS)
    # Half of all silences are longer than the median one: only those count against it.
    fading = min(1.0, 2 * exp(-rate * silent))
    return (1 - exp(-_lower(days) / frame.weeks)) * fading


def _spread(amounts: list[float], weeks: float) -> Range:
    """A sum of random amounts a week, and the interval it lies in four times out of five."""
    total, squares = sum(amounts), sum(it * it for it in amounts)
    if not total:
        return Range(0.0, 0.0, 0.0)
    worth = total * total / squares
    low = _gamma(worth, -Z_90) / worth
    high = _gamma(worth + 1, Z_90) / worth
    return Range(low * total / weeks, total / weeks, high * total / weeks)


def _less(span: Range, amount: float) -> Range:
    return Range(span.low - amount, span.middle - amount, span.high - amount)


def _lower(count: int) -> float:
    """The smallest mean that still gives this count one time in five."""
    return _gamma(float(count), -Z_80)


def _gamma(shape: float, z: float) -> float:
    """A quantile of the gamma distribution, by the cube of Wilson and Hilferty."""
    part = 1 / (9 * shape)
    return float(shape * max(1 - part + z * sqrt(part), 0.0) ** 3)
