"""Whether what was learned before a day held after it.

Claims are made from sessions that ended before, and held against sessions that began after. Right
means that what a skill says to do is what then worked, wrong that the opposite did; everything else
is untested. Whether an agent that had known the skill would have done otherwise is not asked here:
nobody had it. The same with what the skills say exchanged among them tells how much is chance.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from enum import StrEnum
from math import ceil, sqrt
from random import Random
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.events.model import Status
from hansei.learn.meetings import Point
from hansei.learn.wordings import is_alike, is_run_of, is_same_run, measured_by
from hansei.projection.corrections.likeness import near

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from hansei.learn.claims import Claim, Remedy
    from hansei.learn.meetings import Later, Meeting
    from hansei.learn.wordings import Measure, Run, Wording
    from hansei.projection.window import Window

SHARE: Final = 60
"""Percent of the tasks that are learned from, where nobody names a day."""
ROUNDS: Final = 200
"""Exchanges: enough for the middle 95% of them to be told."""
_Z: Final = 1.96
_MIDDLE: Final = (0.025, 0.975)


class Verdict(StrEnum):
    """What later sessions say of a claim."""

    RIGHT = "right"
    WRONG = "wrong"
    UNTESTED = "untested"


# --- which sessions -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Split:
    """Sessions before a day and after it; one and its subagents are on the same side."""

    at: int | None
    before: frozenset[int]
    after: frozenset[int]
    tasks_before: int = 0
    tasks_after: int = 0
    across: int = 0
    """Tasks that had begun and not ended by then: neither learned from nor tested on."""
    undated: int = 0


def split(window: Window, *, at: int | None = None, share: int = SHARE) -> Split:
    """Tasks that ended before and those that began after; without `at`, where a share had ended."""
    families: dict[int, list[int]] = defaultdict(list)
    for number in window.sessions:
        families[window.task(number)].append(number)
    spans = {task: _span(window, own) for task, own in families.items()}
    dated = {task: it for task, it in spans.items() if it is not None}
    ends = sorted(end for _, end in dated.values())
    if at is None and ends:
        at = ends[max(ceil(len(ends) * share / 100), 1) - 1] + 1
    if at is None:
        return Split(None, frozenset(), frozenset(), undated=len(families))
    early = [task for task, (_, end) in dated.items() if end < at]
    late = [task for task, (start, _) in dated.items() if start >= at]
    return Split(
        at,
        frozenset(it for task in early for it in families[task]),
        frozenset(it for task in late for it in families[task]),
        len(early),
        len(late),
        len(dated) - len(early) - len(late),
        len(families) - len(dated),
    )


def _span(window: Window, sessions: Iterable[int]) -> tuple[int, int] | None:
    rows = [window.sessions[it] for it in sessions]
    times = [at for it in rows for at in (it.started, it.ended) if at is not None]
    return (min(times), max(times)) if times else None


class Again(NamedTuple):
    """Failures that came again: only there can a claim about one be right."""

    kinds: int
    """Failures of sessions before a day that came again after it."""
    alike: int
    """Those of them that were got past after it as before it."""


def again(later: Later, cuts: Iterable[Split]) -> Again:
    """What failed again, each workspace with its own day."""
    kinds = alike = 0
    for cut in cuts:
        before, after = (later.failed_in(it) for it in (cut.before, cut.after))
        for signature in before.keys() & after.keys():
            kinds += 1
            alike += any(
                one.resolved and other.resolved and is_alike(one.resolved, other.resolved)
                for one in before[signature]
                for other in after[signature]
            )
    return Again(kinds, alike)


# --- one claim ------------------------------------------------------------------------------------


def judged(remedy: Remedy, met: Meeting) -> Verdict:
    """What one meeting says of what a skill says to do."""
    if not remedy:
        return Verdict.UNTESTED
    if met.point is Point.FAILURE:
        return _of_failure(remedy, met)
    if met.point is Point.CORRECTION:
        return _of_correction(remedy, met)
    return _of_doing(remedy, met)


def _of_failure(remedy: Remedy, met: Meeting) -> Verdict:
    if remedy.folder:
        return _of_folder(remedy, met)
    measure = measured_by(remedy.do, remedy.avoid)
    told = [it for it in remedy.do if it not in remedy.avoid]
    if any(_is(it, run, measure) for it in told for run in met.failed):
        return Verdict.WRONG
    if met.resolved is None:
        return Verdict.UNTESTED
    if any(_is(it, met.resolved, measure) for it in told):
        return Verdict.RIGHT
    again = not met.resolved.firsts and any(is_same_run(it, met.resolved) for it in met.failed)
    avoided = any(_is(it, met.resolved, measure) for it in remedy.avoid)
    return Verdict.WRONG if again and avoided else Verdict.UNTESTED


def _is(told: Wording, run: Run, measure: Measure) -> bool:
    return is_run_of(told, run, measure, strict=True)


def _of_folder(remedy: Remedy, met: Meeting) -> Verdict:
    targets = [] if met.resolved is None else [it.removeprefix("./") for it in met.resolved.targets]
    if any(it.startswith(f"{remedy.folder}/") for it in targets):
        return Verdict.RIGHT
    wrong = any(it.startswith(f"{remedy.not_folder}/") for it in targets)
    return Verdict.WRONG if wrong else Verdict.UNTESTED


def _of_correction(remedy: Remedy, met: Meeting) -> Verdict:
    if remedy.said:
        same = any(near(it, met.said) for it in remedy.said)
        return Verdict.RIGHT if same else Verdict.WRONG
    return _done(remedy, met.steps)


def _of_doing(remedy: Remedy, met: Meeting) -> Verdict:
    if not remedy.in_order:
        return _done(remedy, met.steps)
    verdict = _walked(remedy.do, met.steps)
    if verdict is not Verdict.UNTESTED:
        return verdict
    well = [it for it in met.steps if it.status is Status.OK]
    taken = all(any(is_run_of(it, run) for run in well) for it in remedy.do)
    return Verdict.WRONG if taken else Verdict.UNTESTED


def _walked(do: Sequence[Wording], steps: Sequence[Run]) -> Verdict:
    """Whether steps were taken one after the other; wrong where one failed when its turn came.

    The first one only says where a procedure may begin, so its failing says nothing.
    """
    rest = iter(steps)
    for number, told in enumerate(do):
        failed = False
        for run in rest:
            if not is_run_of(told, run):
                continue
            if run.status is Status.OK:
                break
            failed = failed or run.went_wrong
        else:
            return Verdict.WRONG if failed and number else Verdict.UNTESTED
    return Verdict.RIGHT


def _done(remedy: Remedy, steps: Sequence[Run]) -> Verdict:
    measure = measured_by(remedy.do, remedy.avoid)
    done = [run for run in steps if _is_any(remedy.do, run, measure)]
    if any(run.status is Status.OK for run in done):
        return Verdict.RIGHT
    well = (run for run in steps if run.status is Status.OK)
    opposite = any(_is_any(remedy.avoid, run, measure) for run in well)
    return Verdict.WRONG if opposite or any(it.went_wrong for it in done) else Verdict.UNTESTED


def _is_any(told: Sequence[Wording], run: Run, measure: Measure) -> bool:
    return any(is_run_of(it, run, measure) for it in told)


def summed(verdicts: Iterable[Verdict]) -> Verdict:
    """Several as one: what more of them say; where as many say the opposite, it is wrong."""
    times = Counter(verdicts)
    if times[Verdict.RIGHT] > times[Verdict.WRONG]:
        return Verdict.RIGHT
    return Verdict.WRONG if times[Verdict.WRONG] else Verdict.UNTESTED


# --- many claims ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trial:
    """A claim and where later sessions met what it is about."""

    claim: Claim
    later: Later
    met: tuple[Meeting, ...]
    _known: dict[int, dict[int, Verdict]] = field(default_factory=dict, repr=False)

    def verdicts(self, remedy: Remedy) -> dict[int, Verdict]:
        """What each task that met it says of a remedy; kept, for exchanges ask again."""
        if id(remedy) not in self._known:
            found: dict[int, list[Verdict]] = defaultdict(list)
            for it in self.met:
                found[self.later.window.task(it.session)].append(judged(remedy, it))
            self._known[id(remedy)] = {task: summed(own) for task, own in found.items()}
        return self._known[id(remedy)]

    @property
    def by_task(self) -> dict[int, Verdict]:
        return self.verdicts(self.claim.remedy)

    @property
    def verdict(self) -> Verdict:
        return summed(self.by_task.values())


def tried(claim: Claim, later: Later, among: Collection[int]) -> Trial:
    """A claim with every meeting in some sessions that it was not made from."""
    window = later.window
    own = {window.task(it) for it in claim.evidence if it in window.sessions}
    found = later.meetings(claim.trigger) if claim.is_testable else []
    met = (it for it in found if it.session in among and window.task(it.session) not in own)
    return Trial(claim, later, tuple(met))


class Share(NamedTuple):
    """How many of a number, and where the share lies 95 times of 100, by Wilson's rule."""

    hits: int
    of: int
    low: float | None
    """For a hundred, as the next one."""
    high: float | None

    @property
    def per_hundred(self) -> float | None:
        return 100 * self.hits / self.of if self.of else None


def share(hits: int, of: int) -> Share:
    """A part of a number, with its interval; of nothing there is none."""
    if not of:
        return Share(hits, of, None, None)
    part, square = hits / of, _Z * _Z
    middle = part + square / (2 * of)
    wide = _Z * sqrt(part * (1 - part) / of + square / (4 * of * of))
    low, high = ((middle + it) / (1 + square / of) for it in (-wide, wide))
    return Share(hits, of, 100 * max(low, 0.0), 100 * min(high, 1.0))


class Chance(NamedTuple):
    """A count with remedies exchanged: the mean, and the middle 95% of the exchanges."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Tally:
    """What became of some claims."""

    claims: int
    by_claim: Mapping[Verdict, Share]
    by_task: Mapping[Verdict, Share]
    """Later tasks in which at least one claim was right, wrong, or met and not told."""
    looks: int
    """Right claims that only say to look at something."""
    met: int
    """Claims that a later task came to the point of."""
    tokens: int | None
    """Billed in later tasks from the failures that claims are about to what ended them."""
    exchanged: int = 0
    """Claims that could be exchanged."""
    chance_by_claim: Chance | None = None
    """Right claims."""
    chance_by_task: Chance | None = None
    """Tasks in which a claim was right."""


def tally(rows: Sequence[Trial], tasks: int, *, rounds: int = ROUNDS, seed: int = 0) -> Tally:
    """What later tasks say of these claims; `tasks` is how many there were."""
    verdicts = Counter(it.verdict for it in rows)
    seen = {verdict: set[int]() for verdict in Verdict}
    for row in rows:
        for task, verdict in row.by_task.items():
            seen[verdict].add(task)
    groups = list(_groups(rows))
    by_claim, by_task = _chances(groups, rounds, seed)
    return Tally(
        claims=len(rows),
        by_claim={it: share(verdicts[it], len(rows)) for it in Verdict},
        by_task={it: share(len(seen[it]), tasks) for it in Verdict},
        looks=sum(it.verdict is Verdict.RIGHT and it.claim.only_looks for it in rows),
        met=sum(bool(it.by_task) for it in rows),
        tokens=_tokens(rows),
        exchanged=sum(map(len, groups)),
        chance_by_claim=by_claim,
        chance_by_task=by_task,
    )


def _tokens(rows: Sequence[Trial]) -> int | None:
    return rows[0].later.tokens([it for row in rows for it in row.met]) if rows else None


def _groups(rows: Iterable[Trial]) -> Iterator[list[Trial]]:
    """Claims that may be exchanged: of one workspace and kind; those alone there, with each other.

    Triggers stay where they are met, and what to do about them wanders.
    """
    found: dict[tuple[bool, int], list[Trial]] = defaultdict(list)
    for row in rows:
        if row.claim.is_testable:
            found[row.claim.is_trouble, row.claim.workspace].append(row)
    alone: dict[bool, list[Trial]] = defaultdict(list)
    for (is_trouble, _), group in found.items():
        if len(group) > 1:
            yield group
        else:
            alone[is_trouble] += group
    yield from (it for it in alone.values() if len(it) > 1)


def _chances(
    groups: Sequence[Sequence[Trial]], rounds: int, seed: int
) -> tuple[Chance | None, Chance | None]:
    dice = Random(seed)  # noqa: S311 # no secret: exchanges that anybody can repeat
    claims: list[int] = []
    tasks: list[int] = []
    for _ in range(rounds if groups else 0):
        right, hit = 0, set[int]()
        for group in groups:
            for row, other in _exchanged(group, dice):
                told = row.verdicts(other.claim.remedy)
                right += summed(told.values()) is Verdict.RIGHT
                hit |= {it for it, verdict in told.items() if verdict is Verdict.RIGHT}
        claims.append(right)
        tasks.append(len(hit))
    return _chance(claims), _chance(tasks)


def _exchanged(group: Sequence[Trial], dice: Random) -> Iterator[tuple[Trial, Trial]]:
    """Each claim with the next one in a circle that says something else."""
    order = list(group)
    dice.shuffle(order)
    for place, row in enumerate(order):
        circle = (*order[place + 1 :], *order[:place])
        other = next((it for it in circle if it.claim.remedy != row.claim.remedy), None)
        if other is not None:
            yield row, other


def _chance(counts: Sequence[int]) -> Chance | None:
    if not counts:
        return None
    ranked = sorted(counts)
    low, high = (ranked[round(it * (len(ranked) - 1))] for it in _MIDDLE)
    return Chance(sum(counts) / len(counts), low, high)
