"""What an experiment has found: the verdict, what it rests on, and two sentences for a person.

A report is a value that can be kept: the one of a concluded experiment is read back, not worked out
again, so that it stays what it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from hansei.bets.recurring import in_words
from hansei.experiments.experiment import Bind, Experiment, Stage
from hansei.experiments.metrics.catalogue import GUARDRAILS, Amount, amount
from hansei.experiments.metrics.recurrence import COUNTED
from hansei.experiments.model import Arm, Interval, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hansei.experiments.model import Design, Observation
    from hansei.experiments.statistics.verdict import Metric
    from hansei.ops.experiments.observing import Observed
    from hansei.store.database import Store

COLUMNS: Final = 24
"""Spans of time in a picture: a third of a terminal, or half a year of weeks."""
RESAMPLES: Final = 10_000
CONFIDENCE: Final = 0.95


class Middle(msgspec.Struct, frozen=True):
    """Typical amounts of both arms. They describe, and decide nothing."""

    name: str
    words: str
    better: str
    sessions: tuple[int, int]
    """Of control and treatment, that tell it."""
    control: float
    treatment: float
    difference: Interval | None
    """None where an arm has too few sessions for an interval."""
    ratio: Interval | None


class Span(msgspec.Struct, frozen=True):
    """What each arm had in a span of days."""

    day: int
    days: int
    control: float | None
    """The share of sessions in which the target came up, or the median amount."""
    treatment: float | None
    control_sessions: int
    treatment_sessions: int


class Report(msgspec.Struct, frozen=True):
    """An experiment as people and programs are told of it."""

    id: str
    short: str
    hypothesis: str
    workspace: str
    bind: str
    stage: str
    randomised: bool
    fact: str
    subject: str
    counted: str
    """What is counted, in words."""
    better: str
    margin: float
    alpha: float
    at: int
    """When it was worked out."""
    started_at: int | None
    verdict: Verdict
    medians: tuple[Middle, ...]
    resamples: int
    confidence: float
    spans: tuple[Span, ...]
    left_out: dict[str, int]
    """Sessions in no arm, by the reason."""
    strata: dict[str, int]
    """Sessions that are compared, by agent and model."""
    notes: tuple[str, ...]
    bet: str | None
    entry: int | None
    share: float


class Looked(msgspec.Struct, frozen=True):
    """A report and the sessions it rests on."""

    report: Report
    sample: dict[str, str]
    """Each session's arm."""


def report(
    store: Store,
    it: Experiment,
    here: Path,
    now: int,
    *,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> Looked:
    """As it stands, or as it stood when it was concluded."""
    if it.report is not None:
        return Looked(msgspec.json.decode(it.report, type=Report), {})
    from hansei.experiments.statistics.verdict import judge
    from hansei.ops.experiments.observing import observe

    seen = observe(store, it, here, now)
    design, metric = design_of(it, seen), _metric(it)
    verdict = judge(seen.observations, design, metric)
    (name,) = store.db.execute(
        "SELECT name FROM workspaces WHERE id = ?", (it.workspace,)
    ).fetchone() or ("unknown",)
    told = Report(
        id=it.id,
        short=it.id[:4],
        hypothesis=it.hypothesis,
        workspace=name,
        bind=it.bind,
        stage=it.stage,
        randomised=design.randomised,
        fact=it.fact,
        subject=it.subject,
        counted=counted(it),
        better=metric.better,
        margin=it.margin,
        alpha=it.alpha,
        at=now,
        started_at=it.started_at,
        verdict=verdict,
        medians=_medians(it, seen.observations, resamples, confidence),
        resamples=resamples,
        confidence=confidence,
        spans=_spans(seen.observations, metric.name),
        left_out=dict(seen.left_out),
        strata=_strata(seen.observations),
        notes=_notes(it, seen),
        bet=it.bet,
        entry=it.entry,
        share=it.terms.share,
    )
    return Looked(told, {one.session: str(one.arm) for one in seen.observations})


def counted(it: Experiment) -> str:
    """What is counted, in words."""
    known = amount(it.fact)
    if known is not None:
        return known.words
    return in_words(it.fact, it.subject) if it.fact in COUNTED else f"{it.fact}: {it.subject}"


def design_of(it: Experiment, seen: Observed) -> Design:
    """What it is judged by; a tag against the coin makes it one without a coin."""
    from hansei.experiments.model import Design

    return Design(
        randomised=it.randomised and not seen.by_hand,
        share=it.terms.share,
        margin=it.margin,
        alpha=it.alpha,
        unit="day" if it.bind is Bind.DAYS else "session",
    )


def _metric(it: Experiment) -> Metric:
    from hansei.experiments.statistics.verdict import RECURRENCE, Metric

    known = amount(it.fact)
    return RECURRENCE if known is None else Metric(known.name, known.smallest, known.better)


def _medians(
    it: Experiment, observations: Sequence[Observation], resamples: int, confidence: float
) -> tuple[Middle, ...]:
    names = dict.fromkeys((it.fact, *GUARDRAILS))
    found = (
        _middle(known, observations, resamples, confidence)
        for name in names
        if (known := amount(name)) is not None
    )
    return tuple(it for it in found if it is not None)


def _middle(
    known: Amount, observations: Sequence[Observation], resamples: int, confidence: float
) -> Middle | None:
    from hansei.experiments.statistics.bootstrap import described

    found = described(observations, known.name, resamples=resamples, confidence=confidence)
    if found is None:
        return None
    told = [it.arm for it in observations if it.values.get(known.name) is not None]
    return Middle(
        name=known.name,
        words=known.words,
        better=known.better,
        sessions=(told.count(Arm.CONTROL), told.count(Arm.TREATMENT)),
        control=found.control,
        treatment=found.treatment,
        difference=found.difference,
        ratio=found.ratio,
    )


def _spans(observations: Sequence[Observation], metric: str | None) -> tuple[Span, ...]:
    """Both arms over time, in at most so many columns."""
    if not observations:
        return ()
    first = min(it.day for it in observations)
    last = max(it.day for it in observations)
    days = -(-(last - first + 1) // COLUMNS)
    found = []
    for start in range(first, last + 1, days):
        inside = [it for it in observations if start <= it.day < start + days]
        control, treatment = ([it for it in inside if it.arm is arm] for arm in Arm)
        found.append(
            Span(
                start,
                days,
                _height(control, metric),
                _height(treatment, metric),
                len(control),
                len(treatment),
            )
        )
    return tuple(found)


def _height(sessions: Sequence[Observation], metric: str | None) -> float | None:
    from statistics import fmean, median

    if metric is None:
        hits = [it.hit for it in sessions if it.hit is not None]
        return fmean(hits) if hits else None
    values = [value for it in sessions if (value := it.values.get(metric)) is not None]
    return median(values) if values else None


def _strata(observations: Sequence[Observation]) -> dict[str, int]:
    names = [it.stratum for it in observations]
    return {name: names.count(name) for name in sorted(set(names))}


def _is_apart(observations: Sequence[Observation]) -> bool:
    """Whether both arms have sessions, and no stratum has them in both."""
    control, treatment = ({it.stratum for it in observations if it.arm is arm} for arm in Arm)
    return bool(control) and bool(treatment) and not control & treatment


def _notes(it: Experiment, seen: Observed) -> tuple[str, ...]:
    notes = list(seen.notes)
    if it.stage is Stage.DRAFT:
        notes.append("It has not been started: `hansei exp start` does.")
    if seen.uncounted:
        notes.append(f"Nobody knows how to count {it.fact} again, so there is no verdict.")
    if seen.never:
        notes.append(
            "What is counted never came up in any session here: look whether its name is right."
        )
    if _is_apart(seen.observations):
        notes.append(
            "No agent and model has sessions in both arms, so like is not compared with like."
        )
    if seen.by_hand:
        notes.append(
            f"{seen.by_hand} of its sessions were put in an arm by hand. The coin did not decide"
            " alone, so this is judged as not randomised."
        )
    return tuple(notes)
