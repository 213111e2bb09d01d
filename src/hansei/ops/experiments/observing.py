"""The sessions of an experiment: which arm each is in, what was counted in it, why some are out.

Who is in which arm is decided before anybody looks at how a session went. A session counts with all
the subagents it started.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from hansei.bets.counting import USUAL_DAYS
from hansei.config import DAY_MS
from hansei.experiments.experiment import Bind
from hansei.experiments.metrics import recurrence
from hansei.experiments.metrics.catalogue import GUARDRAILS, amount, by_family
from hansei.experiments.metrics.recurrence import recurrences
from hansei.experiments.model import Observation
from hansei.experiments.placing import Arm, Why, out, placed
from hansei.experiments.selection import selection_free
from hansei.ops.experiments.bound import bound
from hansei.ops.experiments.candidates import runs
from hansei.ops.experiments.places import repository
from hansei.ops.experiments.starts import with_commits
from hansei.ops.scope import Scope
from hansei.ops.windows import grounds
from hansei.store import experiments as kept
from hansei.store.experiments import Role

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from hansei.experiments.experiment import Experiment
    from hansei.experiments.placing import Binding, Placed
    from hansei.ops.experiments.candidates import Run
    from hansei.store.database import Store

GOING_MS: Final = 30 * 60_000
"""A session that was active so lately may go on, and its count with it."""
HOUR_MS: Final = 3_600_000
"""Clocks of machines that are not kept in step differ by less."""


@dataclass(frozen=True)
class Observed:
    """What an experiment has to go by."""

    observations: tuple[Observation, ...]
    """By the time they began."""
    moments: Mapping[str, int]
    """When each began."""
    left_out: Mapping[str, int]
    """Sessions in no arm, by the reason."""
    by_hand: int = 0
    """Sessions that a person put in another arm than the coin did."""
    uncounted: bool = False
    """Whether nobody knows how to count the target."""
    never: bool = False
    """Whether the target never came up in any session here, in an arm or not."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Counted:
    """What was counted in sessions, by the number of the one that nobody's session started."""

    hits: Mapping[int, int] | None
    opportunities: Mapping[int, int] | None = None
    values: Mapping[str, Mapping[int, float | None]] = field(default_factory=dict)


@dataclass(frozen=True)
class Sample:
    """The sessions of a workspace before they are told apart."""

    runs: Sequence[Run]
    counted: Counted
    evidence: Collection[str] = ()
    """Sessions that led to the change."""
    tags: Mapping[str, Arm] = field(default_factory=dict)


def observe(store: Store, it: Experiment, here: Path, now: int) -> Observed:
    """The sessions of an experiment's workspace, as it sees them; facts have to be up to date."""
    everyone = runs(store, it.workspace)
    if it.bind is Bind.GIT and it.entry is None:
        everyone = with_commits(everyone, repository(store, it.workspace, here))
    tags = {native: Arm(arm) for native, arm in kept.members(store, it.id, Role.TAG).items() if arm}
    evidence = kept.members(store, it.id, Role.EVIDENCE)
    sample = Sample(everyone, _count(store, it, now), evidence, tags)
    with bound(store, it, here) as (binding, notes):
        return replace(observed(it, binding, sample, now), notes=notes)


def observed(it: Experiment, binding: Binding, sample: Sample, now: int) -> Observed:
    """What an experiment sees of a sample, and what it leaves out."""
    everyone, counted, tags = sample.runs, sample.counted, sample.tags
    found = [(run, _place(binding, it, run, tags, now)) for run in everyone]
    by_hand = sum(_against_coin(binding, run, tags) for run in everyone)
    inside = [
        (run, _observation(it, run, where.arm, counted))
        for run, where in found
        if where.arm is not None
    ]
    out_of_it = Counter(str(where.why) for _, where in found if where.why is not None)
    kept_in, excluded = _without_evidence(it, sample, [one for _, one in inside])
    if excluded:
        out_of_it[str(Why.EVIDENCE)] += excluded
    return Observed(
        observations=kept_in,
        moments={run.candidate.native: run.candidate.started or 0 for run, _ in inside},
        left_out=dict(sorted(out_of_it.items(), key=lambda pair: (-pair[1], pair[0]))),
        by_hand=by_hand if it.randomised else 0,
        uncounted=amount(it.fact) is None and counted.hits is None,
        never=bool(everyone) and counted.hits is not None and not any(counted.hits.values()),
    )


def _place(binding: Binding, it: Experiment, run: Run, tags: Mapping[str, Arm], now: int) -> Placed:
    """Where a session belongs, once it is over and its clock can be believed."""
    seen = run.candidate
    if seen.started is None or run.day is None:
        return out(Why.NO_TIME)
    if seen.started > now + HOUR_MS:
        return out(Why.AHEAD)
    if (seen.ended or seen.started) > now - GOING_MS:
        return out(Why.GOING)
    if seen.native not in tags and it.randomised and seen.started < (it.started_at or now):
        return out(Why.BEFORE)
    return placed(binding, seen, tags)


def _against_coin(binding: Binding, run: Run, tags: Mapping[str, Arm]) -> bool:
    tag = tags.get(run.candidate.native)
    return tag is not None and binding.place(run.candidate).arm is not tag


def _without_evidence(
    it: Experiment, sample: Sample, observations: Iterable[Observation]
) -> tuple[tuple[Observation, ...], int]:
    """Without the control sessions of the days that a bet was made from; a tag still wins.

    A retro looks at four weeks at least, and people act on it some days later: all of that time is
    left out, because days on which it did not come up were looked at too.
    """
    whole = tuple(observations)
    led = (run for run in sample.runs if run.candidate.native in sample.evidence)
    days = [run.day for run in led if run.day is not None]
    if it.randomised or not days:
        return whole, 0
    free, excluded = selection_free(
        [one for one in whole if one.session not in sample.tags],
        min(*days, max(days) - USUAL_DAYS + 1),
        max(*days, (it.started_at or 0) // DAY_MS),
    )
    stays = {one.session for one in free} | set(sample.tags)
    return tuple(one for one in whole if one.session in stays), excluded


def _observation(it: Experiment, run: Run, arm: Arm, counted: Counted) -> Observation:
    number, native, day = run.number, run.candidate.native, run.day
    assert day is not None
    hits = None if counted.hits is None else counted.hits.get(number)
    chances = None if counted.opportunities is None else counted.opportunities.get(number)
    return Observation(
        session=native,
        arm=arm,
        stratum=run.stratum,
        day=day,
        block=f"day {day}" if it.bind is Bind.DAYS else native,
        hit=None if hits is None else hits > 0,
        opportunities=chances,
        values={name: told.get(number) for name, told in counted.values.items()},
    )


# --- counting -------------------------------------------------------------------------------------


def _count(store: Store, it: Experiment, now: int) -> Counted:
    """What each session had, together with all that it started."""
    found = grounds(store, Scope(workspace=it.workspace), now)
    wanted = dict.fromkeys((it.fact, *GUARDRAILS))
    amounts = [known for name in wanted if (known := amount(name)) is not None]
    if not found:
        return Counted({}, None, {known.name: {} for known in amounts})
    window = found[0].window
    values = {known.name: by_family(window, known) for known in amounts}
    told = None if amount(it.fact) else recurrences(window, it.fact, it.subject)
    if told is None:
        return Counted(None, None, values)
    whole = recurrence.by_family(window, told)
    return Counted(whole.hits, whole.opportunities, values)
