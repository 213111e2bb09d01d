"""How a session turned out, in a few labels that each say what they rest on.

Several may hold at once: work can land and be reworked. A session that wrote nothing has no result
in git, and one whose edits cannot be followed is unknown.
"""

from __future__ import annotations

from collections import defaultdict
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from hansei.events.model import Status
from hansei.projection.outcomes.model import By, Fate, Later

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hansei.projection.outcomes.model import Outcome


NAMED = 3
"""Commits that a basis names."""


class Label(StrEnum):
    """What can be said of a session's result."""

    WROTE_NOTHING = "wrote_nothing"
    LANDED = "landed"
    PARTLY_LANDED = "partly_landed"
    WAITING = "waiting"
    NOT_COMMITTED = "not_committed"
    TAKEN_BACK = "taken_back"
    REVERTED = "reverted"
    REWORKED = "reworked_by_a_person"
    TESTS_TURNED_GREEN = "tests_turned_green"
    TESTS_TURNED_RED = "tests_turned_red"
    UNKNOWN = "unknown"


class Result(NamedTuple):
    label: Label
    basis: str
    evidence: tuple[int, ...]
    """Numbers of the events it rests on."""


class Run(NamedTuple):
    """One run of a test command, as the part that knows failures tells it."""

    command: str
    """Its normal form: runs with the same one are compared."""
    seq: int
    status: Status


class Turned(NamedTuple):
    """A test command whose status changed from one run to the next that is known."""

    seq: int
    """The run that was the first to end otherwise."""
    before: int
    """The last run before it."""
    command: str
    green: bool
    """Whether it turned green; otherwise it turned red."""
    edits: tuple[int, ...]
    """The edits in between; where it is only one, that one did it."""


class Broke(NamedTuple):
    """An edit that turned a test command red: the only one between a good run and a bad one."""

    seq: int
    run: int
    command: str
    meant_for: str | None
    """The test command that the session was busy with: the last that was red before the edit."""


def turns(runs: Iterable[Run], edits: Iterable[int]) -> list[Turned]:
    """Where tests turned green or red; runs whose status is unknown decide nothing."""
    last: dict[str, Run] = {}
    places = sorted(set(edits))
    found = []
    for run in sorted(runs, key=lambda it: it.seq):
        if run.status is Status.UNKNOWN:
            continue
        before = last.get(run.command)
        if before is not None and before.status is not run.status:
            between = tuple(seq for seq in places if before.seq < seq < run.seq)
            green = run.status is Status.OK
            found.append(Turned(run.seq, before.seq, run.command, green, between))
        last[run.command] = run
    return found


def broke(runs: Iterable[Run], edits: Iterable[int]) -> list[Broke]:
    """Which edits turned tests red; of several edits in between nobody can say which."""
    ordered = sorted((it for it in runs if it.status is not Status.UNKNOWN), key=lambda it: it.seq)
    found = []
    for turned in turns(ordered, edits):
        if turned.green or len(turned.edits) != 1:
            continue
        (edit,) = turned.edits
        last = {run.command: run for run in ordered if run.seq < edit}
        red = [run for run in last.values() if run.status is Status.FAILED]
        busy = max(red, key=lambda run: run.seq, default=None)
        found.append(Broke(edit, turned.seq, turned.command, busy.command if busy else None))
    return found


def session_result(outcomes: Sequence[Outcome], turned: Iterable[Turned] = ()) -> list[Result]:
    """The labels of one session; `outcomes` and `turned` are its own."""
    by_fate: dict[Fate, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        by_fate[outcome.fate].append(outcome)
    found = _of_edits(outcomes, by_fate) + _of_landed(outcomes)
    last: dict[str, Turned] = {turn.command: turn for turn in turned}
    for label, green in ((Label.TESTS_TURNED_GREEN, True), (Label.TESTS_TURNED_RED, False)):
        evidence = sorted(turn.seq for turn in last.values() if turn.green is green)
        if evidence:
            count = len(evidence)
            found.append(Result(label, f"{count} test command(s), last change", tuple(evidence)))
    return found


def _of_edits(outcomes: Sequence[Outcome], by_fate: dict[Fate, list[Outcome]]) -> list[Result]:
    """What can be said of all edits together: how many of the hunks that say something landed."""
    if not outcomes:
        return [Result(Label.WROTE_NOTHING, "no edit is recorded", ())]
    unknown = by_fate[Fate.UNKNOWN]
    known = len(outcomes) - len(unknown)
    if not known:
        reasons = sorted({outcome.reason for outcome in unknown})
        return [Result(Label.UNKNOWN, "; ".join(reasons), _events(unknown))]
    came = by_fate[Fate.LANDED] + by_fate[Fate.PARTLY]
    if came:
        # What the session itself wrote over was never meant to land.
        meant = known - len(by_fate[Fate.REPLACED]) - len(by_fate[Fate.TAKEN_BACK])
        whole = len(by_fate[Fate.LANDED]) == meant
        label = Label.LANDED if whole else Label.PARTLY_LANDED
        basis = f"{len(by_fate[Fate.LANDED])} of {meant} hunks are in git"
        return [Result(label, basis, _events(came))]
    for fate, label in (
        (Fate.WAITING, Label.WAITING),
        (Fate.NOT_COMMITTED, Label.NOT_COMMITTED),
        (Fate.TAKEN_BACK, Label.TAKEN_BACK),
        (Fate.REPLACED, Label.TAKEN_BACK),
    ):
        if by_fate[fate]:
            basis = f"{len(by_fate[fate])} of {known} hunks, none is in git"
            return [Result(label, basis, _events(by_fate[fate]))]
    raise AssertionError(f"no label for {sorted(by_fate)}")


def _of_landed(outcomes: Sequence[Outcome]) -> list[Result]:
    found = []
    reverted = [it for it in outcomes if it.later is Later.REVERTED]
    reworked = [it for it in outcomes if it.later is Later.REWORKED and it.later_by is By.PERSON]
    for label, rows in ((Label.REVERTED, reverted), (Label.REWORKED, reworked)):
        if rows:
            commits = sorted({it.later_commit[:12] for it in rows if it.later_commit})
            more = f" and {len(commits) - NAMED} more" if len(commits) > NAMED else ""
            basis = f"{len(rows)} hunk(s), by {', '.join(commits[:NAMED])}{more}"
            found.append(Result(label, basis, _events(rows)))
    return found


def _events(rows: Iterable[Outcome]) -> tuple[int, ...]:
    return tuple(sorted({row.seq for row in rows}))
