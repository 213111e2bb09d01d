"""How many sessions an experiment would take here, before the first one is spent."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from hansei.bets.counting import USUAL_DAYS
from hansei.config import DAY_MS
from hansei.errors import UsageError
from hansei.experiments.metrics.catalogue import amount
from hansei.experiments.model import Design, Word

if TYPE_CHECKING:
    from pathlib import Path

    from hansei.experiments.experiment import Experiment
    from hansei.experiments.statistics.power import Power
    from hansei.ops.retro import Offer
    from hansei.store.database import Store

PACE_DAYS = 28
"""Four weeks tell how many sessions a week has."""
WEEK_DAYS = 7
LONGEST_WEEKS = 26
"""Half a year: who waits longer has changed more than one line meanwhile."""
HALF = 0.5
QUICK_RUNS = 60
"""Comparisons played while somebody waits for `apply`: half of them is told within ten points."""


@dataclass(frozen=True)
class Played:
    """What one design would find."""

    words: str
    reached: float
    """How often any verdict was reached."""
    verdicts: dict[str, float]
    half: int | None
    half_days: int | None
    most: int | None
    most_days: int | None


@dataclass(frozen=True)
class Outlook:
    """What may be expected."""

    before: float
    after: float
    basis: str
    """Where the first share comes from."""
    sessions: int
    sessions_a_week: float | None
    """Of this workspace in the last weeks; None where it had none."""
    runs: int
    designs: tuple[Played, ...]


def outlook(
    store: Store,
    here: Path,
    now: int,
    *,
    workspace: int | None,
    experiment: Experiment | None = None,
    offer: Offer | None = None,
    before: float | None = None,
    after: float | None = None,
    sessions: int = 400,
) -> Outlook:
    """Both designs, played with the share of sessions that the target is in now."""
    from hansei.experiments.statistics.power import RUNS, power, power_of_weeks

    share, basis = _share(store, here, now, experiment, offer, before)
    hoped = share / 2 if after is None else after
    pace = _pace(store, workspace, now)
    weekly = max(1, round(pace or WEEK_DAYS))
    weeks = max(1, ceil(sessions / 2 / weekly))
    coin = power(share, hoped, Design(randomised=True), sessions=sessions)
    since = power_of_weeks(
        share,
        hoped,
        Design(randomised=False),
        weeks_before=weeks,
        weeks_since=weeks,
        sessions_a_week=weekly,
    )
    return Outlook(
        share,
        hoped,
        basis,
        sessions,
        pace,
        RUNS,
        (
            _played("with a coin, both arms together", coin, pace),
            _played(
                f"without one, after {weeks} weeks of history", _since(since, weeks * weekly), pace
            ),
        ),
    )


class Foretold(NamedTuple):
    """When a line that is written without a coin will be known to have halved its target."""

    enough: bool
    """Whether there are enough weeks before those that the bet was made from."""
    sessions: int | None
    """With the line, after which half of such comparisons are decided; None: not in half a year."""
    days: int | None


def foretell(store: Store, offer: Offer, now: int) -> Foretold | None:
    """By the rule that the experiment is judged by; None where nothing tells how often it is."""
    from hansei.experiments.statistics.periods import LEAST
    from hansei.experiments.statistics.power import power_of_weeks

    pace = _pace(store, offer.home, now)
    if not offer.of_sessions or not offer.sessions or pace is None:
        return None
    (first,) = store.db.execute(
        "SELECT min(started_at) FROM sessions WHERE workspace = ? AND next_seq > 1", (offer.home,)
    ).fetchone()
    before = max(0, (now - first) // DAY_MS - USUAL_DAYS) // WEEK_DAYS
    if before < LEAST:
        return Foretold(False, None, None)
    share = min(1.0, offer.sessions / offer.of_sessions)
    weekly = max(1, round(pace))
    weeks = min(before, LONGEST_WEEKS)
    found = power_of_weeks(
        share,
        share / 2,
        Design(randomised=False),
        weeks_before=weeks,
        weeks_since=LONGEST_WEEKS,
        sessions_a_week=weekly,
        runs=QUICK_RUNS,
    )
    half = _since(found, weeks * weekly).half
    if found.words.get(Word.LOWER, 0.0) < HALF:
        half = None  # decided, but not that it became less
    return Foretold(True, half, _days(half, pace))


def _since(found: Power, history: int) -> Power:
    """The same, counted from the change on."""
    half, most = (None if it is None else it - history for it in (found.half, found.most))
    return found._replace(half=half, most=most)


def _played(words: str, found: Power, pace: float | None) -> Played:
    return Played(
        words=words,
        reached=sum(found.words.values()),
        verdicts={str(word): part for word, part in found.words.items()},
        half=found.half,
        half_days=_days(found.half, pace),
        most=found.most,
        most_days=_days(found.most, pace),
    )


def _days(sessions: int | None, pace: float | None) -> int | None:
    return None if sessions is None or not pace else ceil(sessions / pace * WEEK_DAYS)


def _share(
    store: Store,
    here: Path,
    now: int,
    experiment: Experiment | None,
    offer: Offer | None,
    before: float | None,
) -> tuple[float, str]:
    """In what part of sessions the target is now."""
    if before is not None:
        return before, "as you said"
    if offer is not None:
        part = offer.sessions / max(1, offer.of_sessions)
        return part, f"{offer.sessions} of {offer.of_sessions} sessions, as bet {offer.short} says"
    assert experiment is not None
    from hansei.ops.experiments.observing import observe

    if amount(experiment.fact) is not None:
        raise UsageError(
            f"experiment {experiment.id[:4]} counts {experiment.fact}; power is told for shares",
            hint="--before 30 --after 15 plays any share of sessions through.",
        )
    seen = observe(store, experiment, here, now).observations
    told = [it.hit for it in seen if it.hit is not None and it.arm == "control"]
    if not told:
        raise UsageError(
            "no session without the change has been counted yet",
            hint="Say the share yourself: --before 30",
        )
    return sum(told) / len(told), f"{sum(told)} of {len(told)} sessions without the change so far"


def _pace(store: Store, workspace: int | None, now: int) -> float | None:
    """Sessions a week, of those that nobody's session started."""
    since = now - PACE_DAYS * DAY_MS
    count, first = store.db.execute(
        "SELECT count(*), min(started_at) FROM sessions WHERE workspace IS ? AND parent IS NULL"
        " AND next_seq > 1 AND started_at BETWEEN ? AND ?",
        (workspace, since, now),
    ).fetchone()
    if not count:
        return None
    days = max(WEEK_DAYS, (now - first) / DAY_MS)
    return float(count * WEEK_DAYS / days)
