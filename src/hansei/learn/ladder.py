"""The ladder of enforcement: a note, a rule for some files, a skill of its own, a hook.

A skill goes up one step when it was not heeded where it stands: it was in context, it applied, and
it was violated, in several sessions. A rule needs the files it is about. A hook stops calls, so it
needs words that a machine knows a call by beforehand, and it is tried on the past first: how many
calls would it have stopped, and how many of them had done no harm. It is offered only where few
could have been stopped in vain. Everything here is pure; a person takes every step.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.events.model import Status, Tool
from hansei.learn import guards, matching
from hansei.learn.counters import Standing, interval
from hansei.learn.curation import Kind, Step
from hansei.learn.guards import Attempt
from hansei.learn.matching import Call, is_checkable
from hansei.learn.model import LIVE, Rung, Scope
from hansei.learn.patterns import PLAIN
from hansei.learn.wordings import CHECKS
from hansei.projection.failures import Kind as Outcome
from hansei.projection.failures import Refuser

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from hansei.learn.counters import Case, Counters
    from hansei.learn.model import Predicates, Skill
    from hansei.projection.window import Window

VIOLATIONS: Final = 3
"""Sessions, each a task of its own: one may be an oversight and two may be chance."""
FALSE_BLOCKS: Final = 0.2
"""The most that the share of tasks stopped in vain may be, at the upper end of its interval: an
agent that is stopped wrongly once in five times learns to work around the hook. Seven tasks
without one are the fewest that show it."""
_ORDER: Final = tuple(Rung)
_DOUBTFUL: Final = (Standing.HARMFUL, Standing.MIXED)
"""Skills that following did not always do good are not enforced."""


class Footing(NamedTuple):
    """Where a skill stands."""

    rung: Rung
    since: int = 0
    """Only sessions that began later tell of this rung."""
    possible: frozenset[Rung] = frozenset(Rung)
    """What agents here can be made to do."""


class Came(StrEnum):
    """What came of a call that a hook would have stopped."""

    HARM = "harm"  # it failed, or a person corrected or refused it
    NOTHING = "nothing"  # it did its work
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Trial:
    """A hook tried on the past, task by task."""

    calls: int
    """That it would have stopped."""
    harm: int
    """Tasks in which all of these calls that tell had gone wrong."""
    vain: int
    """Tasks in which at least one had done its work: stopped in vain."""
    unknown: int
    """Tasks in which nothing tells; they are counted as stopped in vain."""
    low: float | None = None
    high: float | None = None
    """Of the share of tasks stopped in vain, four times out of five; None without a task."""

    @property
    def tasks(self) -> int:
        return self.harm + self.vain + self.unknown

    @property
    def is_safe(self) -> bool:
        return self.high is not None and self.high < FALSE_BLOCKS

    @property
    def told(self) -> str:
        """The figures in one line."""
        if self.high is None or self.low is None:
            return "it would have stopped no call of the past"
        return (
            f"it would have stopped {self.calls} calls in {self.tasks} tasks: {self.harm} had gone"
            f" wrong, {self.vain} in vain, {self.unknown} unknown; in vain at most"
            f" {self.high:.0%} (from {self.low:.0%}, 80% interval), {FALSE_BLOCKS:.0%} allowed"
        )


# --- who goes up ----------------------------------------------------------------------------------


def promotions(
    skills: Sequence[Skill],
    told: Mapping[str, Counters],
    footings: Mapping[str, Footing],
    tried: Callable[[Skill], Trial],
    *,
    by: str = "",
) -> Iterator[Step]:
    """The skills that were not heeded where they stand, and the next step up for each.

    `tried` tells what a hook for a skill would have stopped.
    """
    for skill in skills:
        counted, footing = told.get(skill.name), footings.get(skill.name, Footing(skill.rung))
        if counted is None or skill.state not in LIVE or counted.total.standing in _DOUBTFUL:
            continue
        cases = violations(skill, counted, footing)
        if len(cases) < VIOLATIONS:
            continue
        step = _up(skill, footing, cases, tried, by)
        if step is not None:
            yield step


def violations(skill: Skill, told: Counters, footing: Footing) -> list[Case]:
    """The sessions in which a skill was in context, applied, and was violated all the same.

    Only those that had it as it is worded now: what was written anew has not failed yet.
    """
    applies = is_checkable(skill.predicates)
    return [
        it
        for it in told.cases
        if it.violated
        and (it.triggered or not applies)
        and it.version == skill.version
        and (it.started or 0) >= footing.since
    ]


def next_rung(skill: Skill, footing: Footing) -> Rung | None:
    """The next step that a skill can take; None at the top.

    A hook is the next step even where none is installed, so that a person learns of it.
    """
    told = skill.predicates
    for rung in _ORDER[_ORDER.index(footing.rung) + 1 :]:
        if rung is Rung.HOOK:
            workspace = skill.scope is Scope.WORKSPACE
            return rung if workspace and not guards.why_not(told) else None
        scoped = bool(told.path) and PLAIN.fullmatch(told.path) is not None
        if rung in footing.possible and (scoped or rung is not Rung.RULE):
            return rung
    return None


def _up(
    skill: Skill,
    footing: Footing,
    cases: Sequence[Case],
    tried: Callable[[Skill], Trial],
    by: str,
) -> Step | None:
    target = next_rung(skill, footing)
    if target is None:
        return None
    reason = f"violated while in context in {len(cases)} sessions"
    shown = ", ".join(f"{it.violated[0].session}#{it.violated[0].event}" for it in cases)
    details: tuple[str, ...] = (f"violated at {shown}",)
    if target is Rung.HOOK:
        trial = tried(skill)
        details = (*details, f"a hook: {trial.told}")
        against = _against(trial, footing)
        if against:
            return Step(Kind.PROMOTE, (skill.name,), reason, against, details=details)
    wanted = replace(skill, rung=target, owner=by or skill.owner, reason=reason)
    action = f"{footing.rung} → {target}: {_DOES[target]}"
    return Step(Kind.PROMOTE, (skill.name,), reason, action, (wanted,), details=details)


def _against(trial: Trial, footing: Footing) -> str:
    """Why no hook is offered; empty where one is."""
    if not trial.is_safe:
        return "no hook: too many calls could be stopped in vain; sharpen what it warns of"
    if Rung.HOOK not in footing.possible:
        return "a hook would do, and no agent runs ours: `hansei init`, then look again"
    return ""


_DOES: Final = {
    Rung.RULE: "a rule that comes with the files it is about",
    Rung.SKILL: "a SKILL.md of its own, listed in every session",
    Rung.HOOK: "calls that it warns of are stopped, and the agent is told why",
}


# --- a hook on the past ---------------------------------------------------------------------------


def trial(window: Window, skill: Skill) -> Trial:
    """What a hook for a skill would have stopped, and what had come of it."""
    told = skill.predicates
    harmed = set(_harmed(window, told))
    found: dict[int, list[Came]] = defaultdict(list)
    for call, attempt in past(window):
        if not _ran(window, call) or guards.stops(told, attempt) is None:
            continue
        what = Came.HARM if call in harmed else _came(window, Call(*call), told)
        found[window.task(call[0])].append(what)
    vain = sum(Came.NOTHING in it for it in found.values())
    harm = sum(Came.NOTHING not in it and Came.HARM in it for it in found.values())
    unknown = len(found) - vain - harm
    low, high = interval(vain + unknown, len(found)) if found else (None, None)
    return Trial(sum(map(len, found.values())), harm, vain, unknown, low, high)


def past(window: Window) -> Iterator[tuple[tuple[int, int], Attempt]]:
    """The calls of a window as they were before they ran, by session and number."""
    paths: dict[tuple[int, int], list[str]] = defaultdict(list)
    for call, path in matching.reached(window):
        paths[call].append(path)
    for session, row in window.calls:
        call = Call(session, row.seq)
        if row.tool is Tool.SHELL:
            yield call, Attempt(row.tool, row.name, tuple(window.ran_by.get(call, ())))
        elif row.tool in guards.FILE_TOOLS:
            yield call, Attempt(row.tool, row.name, paths=tuple(paths[call]))


def _ran(window: Window, call: tuple[int, int]) -> bool:
    """Whether a call was made, or a person said no to it; what a rule refused tells nothing."""
    failure = window.failed.get(call)
    if failure is None or failure.kind is not Outcome.DECLINED:
        return True
    return failure.line == Refuser.PERSON


def _harmed(window: Window, told: Predicates) -> Iterator[tuple[int, int]]:
    """Calls that a person corrected or refused, or that led to what a skill is about.

    That is a failure of its signature in the call, or after it in the same turn.
    """
    yield from ((session, row.about) for session, row in window.corrections)
    yield from (it for it, row in window.failed.items() if row.kind is Outcome.DECLINED)
    last: dict[tuple[int, int], int] = {}
    for it in matching.failed_with(window, told.error) if told.error else ():
        place = it.session, window.turns.get(it, 0)
        last[place] = max(it.seq, last.get(place, 0))
    for (session, seq), turn in window.turns.items():
        if seq <= last.get((session, turn), -1):
            yield session, seq


def _came(window: Window, call: Call, told: Predicates) -> Came:
    """What came of a call, by how it ended."""
    ran = next((it for it in window.ran_by.get(call, ()) if it.about), None)
    status = matching.ended(window, call, ran)
    if status is not Status.FAILED:
        return Came.NOTHING if status is Status.OK else Came.UNKNOWN
    if ran is not None and ran.kind in CHECKS and not matching.misused(window, call):
        return Came.NOTHING  # it answered, and the answer was about the code
    return Came.UNKNOWN if told.error else Came.HARM
