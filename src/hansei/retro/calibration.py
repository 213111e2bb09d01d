"""Whether a heuristic's bets came true in this workspace: the past, replayed.

A bet says that something happens again in a week as active as those before. So history is cut at
days where a person could have looked; the heuristics see what lay before, and the active days that
follow, as many as a week had, say whether they were right. Those days end at the next cut: no day
tests two cuts.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.bets.counting import WEEK_DAYS, about, share_interval, usual_start
from hansei.config import DAY_MS
from hansei.retro.retro import look_back, may_be_over

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from hansei.bets.counting import Frame
    from hansei.bets.model import Bet, Metric
    from hansei.projection.window import Window
    from hansei.retro.contract import Heuristic

FIRST: Final = 3
"""Active days before the first cut: on fewer nothing is a habit."""
SPANS: Final = 13
"""A quarter of a year: habits and heuristics change, and what was demoted may return."""
LEAST_SPANS: Final = 3
"""Bets of one week stand and fall together: whoever changes the task changes all of them."""
HALF: Final = 0.5
"""Of what was said: the same half as the one that a change has to reach to be told."""

RULES: Final = {
    "replay": f"The last {SPANS} weeks of activity: at the end of each the heuristics see the"
    " sessions that ended in the 28 days before (more where those have fewer than seven active"
    " days), and the active days that follow, as many as a week had, say what came of it. What was"
    " not seen lately and has a confidence below 30% is no bet, and one that was acted on is none"
    " from then on.",
    "came up": "At least one session of those days shows what the bet is about: the heuristic"
    " finds it there, or an experiment would count it; bets of which no session can tell are left"
    " out.",
    "said": "The mean of the confidences. Each is a lower bound, so more should come up.",
    "interval": "The true share lies in it four times out of five (Clopper and Pearson).",
    "tokens": "What the bets said a week takes, and what was counted of the same things in those"
    " days; bets that tell no week, or no tokens, are in neither sum.",
    "verdict": f"With fewer than {LEAST_SPANS} weeks too few to tell. It predicts where the lower"
    " end of the interval is at least half of what was said, it does not where the upper end is"
    " less than half; verdicts of experiments on its bets count as one bet each.",
}


class Cut(NamedTuple):
    """A day on which somebody could have looked back, and the days that tell what came of it."""

    since: int
    """The first day of what is looked at."""
    day: int
    """The first day that is not known yet."""
    until: int
    """The first day that is not looked at any more."""


@dataclass(frozen=True)
class Trial:
    """One bet that could have been made, and what happened."""

    heuristic: str
    about: str
    """A fingerprint of what it is about: no words of transcripts."""
    cut: int
    until: int
    confidence: float
    weekly: float | None
    """Tokens that it said a week takes."""
    recurred: bool
    counted: int | None
    """Tokens of the days that followed; None where nothing tells."""


class Standing(StrEnum):
    """What can be said of a heuristic in a workspace."""

    PREDICTS = "predicts here"
    FEW = "too few to tell"
    FAILS = "does not predict here"


@dataclass(frozen=True)
class Score:
    """What became of the bets of one heuristic."""

    heuristic: str
    spans: int
    """Weeks that tested at least one."""
    bets: int
    recurred: int
    judged: int
    """Of its bets that experiments judged."""
    held: int
    """Of these, right."""
    said: float
    """The mean confidence."""
    seen: float
    low: float
    high: float
    said_tokens: int | None
    counted_tokens: int | None
    standing: Standing
    trust: float
    """What its confidence is multiplied by: 1 where nothing speaks against it."""
    reason: str
    """Why its bets are ranked lower; empty where they are not."""


def cuts(days: Iterable[int]) -> list[Cut]:
    """Where history is cut, oldest first; `days` are those with a session."""
    active = sorted(set(days))
    found = []
    place = FIRST
    while place < len(active):
        since = usual_start(active[:place])
        seen = [day for day in active[:place] if day >= since]
        length = _a_week(seen)
        if place + length > len(active):
            break
        found.append(Cut(since, active[place - 1] + 1, active[place + length - 1] + 1))
        place += length
    return found[-SPANS:]


def _a_week(seen: Sequence[int]) -> int:
    weeks = max((seen[-1] - seen[0] + 1) / WEEK_DAYS, 1.0)
    return max(round(len(seen) / weeks), 1)


def replay(
    whole: Window,
    cut: Cut,
    heuristics: Sequence[Heuristic],
    *,
    frame: Callable[[Window], Frame],
    size: Callable[[str], int],
    came_up: Callable[[Window, Metric], bool | None],
) -> list[Trial]:
    """The bets of a day, each with what the days after it say; what may be over is no bet.

    `came_up` tells whether something happened in some sessions; None where they cannot tell.
    """
    seen = _between(whole, cut.since, cut.day)
    before = whole.within(_over(seen), seen.since, seen.until)
    later = _between(whole, cut.day, cut.until)
    taken = _taken(_between(whole, cut.since, cut.until), set(later.sessions), heuristics)
    found = []
    for bet in look_back(before, frame(before), size, heuristics):
        if may_be_over(bet):
            continue
        shown = taken.get(about(bet.finding))
        recurred = True if shown is not None else came_up(later, bet.finding.metric)
        if recurred is not None:
            found.append(_trial(bet, cut, shown, recurred=recurred))
    return sorted(found, key=lambda it: (it.heuristic, it.about))


def _between(whole: Window, first: int, last: int) -> Window:
    """Sessions that began on some days, the last one not included."""
    since, until = first * DAY_MS, last * DAY_MS
    numbers = {
        number
        for number, it in whole.sessions.items()
        if it.started is not None and since <= it.started < until
    }
    return whole.within(numbers, since, until)


def _over(window: Window) -> set[int]:
    """Sessions that had ended by then: what one of them did later nobody could know."""
    return {
        number
        for number, it in window.sessions.items()
        if it.ended is None or it.ended < window.until
    }


class _Shown(NamedTuple):
    """What a heuristic itself shows of some sessions."""

    tokens: int | None


def _taken(window: Window, later: set[int], heuristics: Sequence[Heuristic]) -> dict[str, _Shown]:
    """The findings that later sessions have a part in, and what it took."""
    found = {}
    for heuristic in heuristics:
        for finding in heuristic.find(window):
            told = [it.tokens for it in finding.occurrences if it.session in later]
            known = [it for it in told if it is not None]
            if told:
                found[about(finding)] = _Shown(sum(known) if known else None)
    return found


def _trial(bet: Bet, cut: Cut, shown: _Shown | None, *, recurred: bool) -> Trial:
    unseen = None if recurred else 0
    return Trial(
        heuristic=bet.finding.heuristic,
        about=about(bet.finding),
        cut=cut.day,
        until=cut.until,
        confidence=bet.confidence,
        weekly=None if bet.weekly is None else bet.weekly.middle,
        recurred=recurred,
        counted=unseen if shown is None else shown.tokens,
    )


# --- what they come to ----------------------------------------------------------------------------


def scores(
    trials: Iterable[Trial], verdicts: Iterable[tuple[Trial, bool]] = ()
) -> tuple[Score, ...]:
    """Each heuristic by its bets, by name; `verdicts` are bets that experiments judged."""
    made: dict[str, list[Trial]] = defaultdict(list)
    judged: dict[str, list[tuple[Trial, bool]]] = defaultdict(list)
    for trial in trials:
        made[trial.heuristic].append(trial)
    for trial, held in verdicts:
        judged[trial.heuristic].append((trial, held))
    return tuple(_score(name, made[name], judged[name]) for name in sorted({*made, *judged}))


def _score(name: str, made: Sequence[Trial], judged: Sequence[tuple[Trial, bool]]) -> Score:
    tried = [*made, *(trial for trial, _ in judged)]
    recurred, held = sum(it.recurred for it in made), sum(it for _, it in judged)
    said = sum(it.confidence for it in tried) / len(tried)
    true = recurred + held
    low, high = share_interval(true, len(tried))
    priced = [it for it in made if it.weekly is not None and it.counted is not None]
    spans = len({it.cut for it in tried})
    standing = _standing(spans, said, low, high)
    fails = standing is Standing.FAILS
    reason = (
        f"{name} {standing}: {true:,} of its {len(tried):,} earlier bets came true in the week"
        f" after, it said {said:.0%}"
    )
    return Score(
        heuristic=name,
        spans=spans,
        bets=len(made),
        recurred=recurred,
        judged=len(judged),
        held=held,
        said=said,
        seen=true / len(tried),
        low=low,
        high=high,
        said_tokens=round(sum(it.weekly or 0 for it in priced)) if priced else None,
        counted_tokens=sum(it.counted or 0 for it in priced) if priced else None,
        standing=standing,
        trust=high / said if fails else 1.0,
        reason=reason if fails else "",
    )


def _standing(spans: int, said: float, low: float, high: float) -> Standing:
    if spans < LEAST_SPANS:
        return Standing.FEW
    if high < HALF * said:
        return Standing.FAILS
    return Standing.PREDICTS if low >= HALF * said else Standing.FEW
