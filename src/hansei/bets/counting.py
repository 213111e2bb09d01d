"""From occurrences to a bet: what it costs a week, how sure it is to recur, how it ranks.

Each rule stands in `RULES` in words, and `hansei retro --explain` prints them.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from math import exp, lgamma, log, log1p, sqrt
from typing import TYPE_CHECKING, Final

from hansei.bets.model import Bet, Range
from hansei.config import DAY_MS
from hansei.events.keys import digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hansei.bets.model import Chances, Finding

RULES: Final = {
    "a week": "What it took in the window, times seven, divided by the days from the window's first"
    " session to its last. Fewer than seven days with a session tell no week: then the total stands"
    " alone.",
    "interval": "Sessions (each with its subagents) come at random, each with what it took. They"
    " are worth k = (sum of amounts)² / (sum of squared amounts) equal ones, and the interval is"
    " that of k counted events: the true amount lies in it four times out of five.",
    "confidence": "The lower 80% bound of the chance that it happens again in a week as active as"
    " those seen: the smallest share p of active days under which as many days with it come about"
    " one time in five; 1 − (1 − p)^(active days a week). Where it was not seen on the last s"
    " active days, times 2 × (1 − p)^s if that is less than one: half of all pauses are no news."
    " The same holds of the last s tasks that did what leads to it and did not meet it, with p the"
    " smallest such share of those before; the lower of the two counts.",
    "calibration": "Where the bets of a heuristic came up again at most half as often as it said,"
    " its confidence is multiplied by what was seen (upper end of the interval) / what it said.",
    "net": "What it took less what the added text would take: its tokens times the requests that"
    " would carry it.",
    "score": "Confidence × net tokens / (minutes to act + 1); where no week is told, of the net in"
    " the window divided by its weeks, at least one. Bets whose tokens no agent tells come"
    " after those, by confidence × sessions.",
    "proof": "Sessions after which half of all experiments with a coin have found that it helped,"
    " if the change halves the share of sessions in which it happens: both arms together, played"
    " by the rule that experiments are judged by. Below a tenth of sessions most never find it.",
}

WEEK_DAYS: Final = 7
USUAL_DAYS: Final = 28
"""Four weeks: every weekday as often as the others, and old habits have left."""
SURENESS: Final = 0.8
Z_90: Final = 1.2816
_HALVINGS: Final = 40
"""Of an interval of one: finer than what is printed, and than what is compared."""


@dataclass(frozen=True)
class Frame:
    """The window that a bet is counted in."""

    workspace: str
    """What the workspace is known by."""
    started: Mapping[int, int | None]
    """When each session of the window began."""
    requests: int = 0
    """Of all sessions of the window: each would carry an added line."""
    family: Mapping[int, int] = field(default_factory=dict)
    """The session that began it all, of each that another one started."""

    @cached_property
    def active(self) -> tuple[int, ...]:
        """Days with at least one session."""
        return tuple(sorted({at // DAY_MS for at in self.started.values() if at is not None}))

    @property
    def active_days(self) -> int:
        return len(self.active)

    @property
    def tells_weeks(self) -> bool:
        return self.active_days >= WEEK_DAYS

    @property
    def weeks(self) -> float:
        """From the first session's day to the last one's, both counted."""
        days = self.active[-1] - self.active[0] + 1 if self.active else 0
        return days / WEEK_DAYS


def usual_start(active: Sequence[int]) -> int:
    """The first day of a look back at days with a session: four weeks, and seven such days."""
    return min(active[-1] - USUAL_DAYS + 1, active[-min(WEEK_DAYS, len(active))])


def count(finding: Finding, frame: Frame, *, of_sessions: int, rent_tokens: int | None) -> Bet:
    """A bet, from what a heuristic found; `rent_tokens` is the size of the text it would add."""
    told = [it for it in finding.occurrences if it.tokens is not None]
    waited = [it.minutes for it in finding.occurrences if it.minutes is not None]
    affected = {it.session for it in finding.occurrences}
    taken: dict[int, int] = defaultdict(int)
    for it in told:
        taken[frame.family.get(it.session, it.session)] += it.tokens or 0
    total = sum(taken.values()) if told else None
    weekly = spread(taken.values(), frame.weeks) if told and frame.tells_weeks else None
    rent = None
    if rent_tokens is not None:
        carried = rent_tokens * frame.requests
        rent = round(carried / frame.weeks) if frame.tells_weeks else carried
    saving = weekly.middle if weekly is not None else total
    net = None if saving is None else round(saving - (rent or 0))
    sure = confidence(affected, frame, finding.chances)
    a_week = (net or 0) / (1.0 if weekly is not None else max(frame.weeks, 1.0))
    started = [at for it in affected if (at := frame.started.get(it)) is not None]
    days = frozenset(at // DAY_MS for at in started)
    return Bet(
        id=identity(finding, frame.workspace),
        finding=finding,
        sessions=len(affected),
        of_sessions=of_sessions,
        total=total,
        untold=len(finding.occurrences) - len(told),
        minutes=round(sum(waited), 1) if waited else None,
        weekly=weekly,
        size=rent_tokens,
        rent=rent,
        net=net,
        confidence=sure,
        score=sure * max(a_week, 0.0) / (finding.effort + 1),
        last_at=max(started, default=None),
        days=days,
        silent=sum(day > max(days) for day in frame.active) if days else 0,
    )


def discounted(bet: Bet, trust: float) -> Bet:
    """A bet of a heuristic whose bets hold only so far here."""
    return replace(bet, confidence=bet.confidence * trust, score=bet.score * trust)


def identity(finding: Finding, workspace: str) -> str:
    """Eight letters that stay the same from week to week."""
    return digest(f"{workspace}\0{finding.heuristic}\0{finding.key}".encode())[:8]


def about(finding: Finding) -> str:
    """A fingerprint of what a bet is about: the same in every workspace, whatever that is named."""
    return digest(f"{finding.heuristic}\0{finding.key}".encode())


def rank(bet: Bet) -> tuple[float, bool, float, str]:
    """The order of bets, best first."""
    return -bet.score, bet.net is not None, -bet.confidence * bet.sessions, bet.id


def confidence(sessions: Iterable[int], frame: Frame, chances: Chances | None = None) -> float:
    """The chance that it happens at least once next week: its lower bound at 80%.

    Where no session is dated, sessions stand for days and the window for the week.
    """
    affected = set(sessions)
    faded = 1.0 if chances is None else fading(chances)
    if not frame.active:
        times, of = len(affected), len(frame.started)
        return faded * _any(least_share(times, of), of) if times else 0.0
    days = {at // DAY_MS for it in affected if (at := frame.started.get(it)) is not None}
    if not days:
        return 0.0
    share = least_share(len(days), frame.active_days)
    silent = sum(day > max(days) for day in frame.active)
    faded = min(faded, _faded(share, silent))
    return _any(share, frame.active_days / max(frame.weeks, 1.0)) * faded


def fading(chances: Chances) -> float:
    """How far tasks that were spared speak for it being over: 1 not at all, 0 certainly."""
    return _faded(least_share(chances.met, chances.of), chances.spared)


def _faded(share: float, silent: int) -> float:
    return min(1.0, 2 * (1 - _any(share, silent)))


def _any(share: float, times: float) -> float:
    """The chance of at least one in so many."""
    return 1.0 if share >= 1 else 1 - exp(times * log1p(-share))


@lru_cache(maxsize=4096)
def least_share(times: int, of: int, sureness: float = SURENESS) -> float:
    """The smallest share under which so many of so many still come about one time in five."""
    low, high = 0.0, times / of
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if at_least(times, of, middle) < 1 - sureness:
            low = middle
        else:
            high = middle
    return low


def share_interval(times: int, of: int) -> tuple[float, float]:
    """The shares between which the true one lies four times out of five."""
    sureness = (1 + SURENESS) / 2  # of each end
    low = least_share(times, of, sureness) if times else 0.0
    return low, 1 - least_share(of - times, of, sureness) if times < of else 1.0


def at_least(times: int, of: int, share: float) -> float:
    """The chance of so many or more of so many."""
    yes, no = log(share), log1p(-share)
    whole = lgamma(of + 1)
    return 1 - sum(
        exp(whole - lgamma(it + 1) - lgamma(of - it + 1) + it * yes + (of - it) * no)
        for it in range(times)
    )


def spread(amounts: Iterable[float], weeks: float) -> Range:
    """A sum of random amounts a week, and the interval it lies in four times out of five."""
    told = [it for it in amounts if it]
    total, squares = sum(told), sum(it * it for it in told)
    if not total:
        return Range(0.0, 0.0, 0.0)
    worth = total * total / squares
    low = _gamma(worth, -Z_90) / worth
    high = _gamma(worth + 1, Z_90) / worth
    return Range(low * total / weeks, total / weeks, high * total / weeks)


def _gamma(shape: float, z: float) -> float:
    """A quantile of the gamma distribution, by the cube of Wilson and Hilferty."""
    part = 1 / (9 * shape)
    return float(shape * max(1 - part + z * sqrt(part), 0.0) ** 3)
