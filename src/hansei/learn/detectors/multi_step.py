"""Commands that belong together: run one after the other, and everything went well.

In one session that is a stretch of four and more, with nothing edited and nothing asked in between:
setting up, migrating, releasing. The same order in three sessions is worth more, because that is
how it is done here; what differed becomes slots.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise
from math import comb
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.events.model import Status, Tool
from hansei.learn.around import changed_before, made_here, pitfalls, requested, when
from hansei.learn.lines import typed, written
from hansei.learn.model import Evidence, Offer, Predicates
from hansei.learn.slots import together
from hansei.learn.steps import form, steps
from hansei.learn.worth import (
    is_check,
    is_git,
    is_of_one_day,
    is_own,
    is_repeatable,
    is_step,
    is_told,
)
from hansei.learn.writing import (
    action,
    body,
    briefly,
    described,
    key_of,
    name_of,
    numbered,
    told,
    topic,
)
from hansei.projection.wording import counted, most

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from hansei.learn.steps import Step, Texts
    from hansei.projection.window import Window

_EDITING: Final = frozenset((Tool.EDIT, Tool.WRITE))
_END: Final = 1 << 62
_LAST: Final = ""
"""What follows the last step of a session."""


class _Course(NamedTuple):
    """The same steps in the same order, wherever they were taken."""

    names: tuple[str, ...]
    runs: tuple[tuple[Step, ...], ...]
    tasks: int


@dataclass(frozen=True)
class MultiStep:
    """Knobs."""

    name: str = "multi-step"
    calls: int = 4
    """Shell calls in a row that make a procedure of one session."""
    most_calls: int = 10
    """Above that it is a day's work and no procedure."""
    sessions: int = 3
    """Independent sessions in which the same order makes a procedure of fewer steps."""
    many: int = 5
    """Sessions that are enough for two steps of which one is told plainly."""
    longest: int = 8
    own: int = 2
    """Steps of a single session's procedure that only this project has: the others are known."""
    order: float = 0.85
    """Of the sessions that take all the steps, those that must take them in this order, at once."""
    share: float = 0.6
    """Of the sessions of a part, those that must show the whole for the whole to be offered."""
    chance: float = 0.05
    """How likely an order may be that nobody meant, over all that were looked at."""
    most: int = 3
    """Procedures of many sessions that are offered at once."""

    def find(self, window: Window, texts: Texts) -> Iterator[Offer]:
        own, made = steps(window), made_here(window)
        yield from self._recurring(window, texts, own)
        for session in sorted(own):
            found = self._of_session(window, texts, own[session], made.get(session, set()))
            if found is not None:
                yield found

    # --- one session --------------------------------------------------------------------------

    def _of_session(
        self, window: Window, texts: Texts, own: Sequence[Step], made: Collection[str]
    ) -> Offer | None:
        rows = [run for run in _stretches(window, own) if self._is_procedure(run)]
        best = sorted(rows, key=lambda run: (-sum(is_own(it.ran) for it in run), run[0].seq))
        return next((it for run in best if (it := self._single(window, texts, run, made))), None)

    def _is_procedure(self, run: Sequence[Step]) -> bool:
        own = {it.name for it in run if is_own(it.ran)}
        tools = {it.ran.program for it in run if not is_git(it.ran)}
        return (
            self.calls <= len({it.seq for it in run}) <= self.most_calls
            and not all(is_git(it.ran) or is_check(it.ran) for it in run)
            and len({it.name for it in run}) >= self.calls
            and len(own) >= self.own
            and len(tools) >= self.own
        )

    def _single(
        self, window: Window, texts: Texts, run: Sequence[Step], made: Collection[str]
    ) -> Offer | None:
        session = run[0].session
        seqs = tuple(dict.fromkeys(it.seq for it in run))
        lines = [typed(window, texts, session, seq) for seq in seqs]
        commands = [it.whole for it in lines if it is not None]
        if len(commands) < len(lines) or len(set(commands)) < self.calls:
            return None
        if any(name in it for name in made for it in commands) or any(map(is_of_one_day, commands)):
            return None
        about = next((it.ran for it in run if is_own(it.ran)), run[0].ran)
        name = name_of("procedure", topic(about))
        asked = requested(window, run)
        return Offer(
            detector=self.name,
            name=name,
            description=described(
                f"Multi-step procedure: {topic(about)} ({counted(len(commands), 'step')}),"
                f" from {briefly(commands[0])} to {briefly(commands[-1])}."
                + (f" Use it when asked for something like: {asked}" if asked else "")
            ),
            body=body(
                name,
                "Multi-step procedure that went well from beginning to end in one session.",
                (
                    ("When to use", when("", asked)),
                    ("Commands", numbered(commands)),
                    ("Check", [f"- {briefly(commands[-1])} ends without an error."]),
                    ("Pitfalls seen", pitfalls(window, {it.name for it in run})),
                ),
            ),
            commands=tuple(commands),
            evidence=tuple(Evidence(window.sessions[session].name, seq) for seq in seqs),
            topic=topic(about),
            action=action(it.ran for it in run),
            predicates=_predicates(run),
            key=key_of(self.name, *dict.fromkeys(it.name for it in run)),
        )

    # --- many sessions ------------------------------------------------------------------------

    def _recurring(
        self, window: Window, texts: Texts, own: Mapping[int, Sequence[Step]]
    ) -> Iterator[Offer]:
        taken: list[set[str]] = []
        for course in self._courses(window, own):
            if len(taken) == self.most:
                return
            names = set(course.names)
            if any(2 * len(names & other) >= min(len(names), len(other)) for other in taken):
                continue
            taken.append(names)
            yield self._across(window, texts, course)

    def _courses(self, window: Window, own: Mapping[int, Sequence[Step]]) -> list[_Course]:
        """Orders of steps that enough sessions took, the most telling first."""
        seen: dict[tuple[str, ...], dict[int, tuple[Step, ...]]] = defaultdict(dict)
        for session, done in _well_done(own).items():
            for run in self._orders(done):
                seen[tuple(it.name for it in run)].setdefault(session, run)
        found = [
            _Course(names, tuple(runs.values()), window.tasks(runs))
            for names, runs in seen.items()
            if len(runs) >= self.sessions and window.tasks(runs) >= self.sessions
        ]
        met = [[it.name for it in done] for done in _well_done(own).values()]
        follows = _Follows(met)
        tried = sum(len(it.names) == self.own for it in found)
        regular = [
            it
            for it in found
            if self._is_regular(it, met)
            and all(follows.chance(*pair) * tried <= self.chance for pair in pairwise(it.names))
        ]
        worth = [
            it
            for it in _first_begun(regular, met)
            if self._is_worth(it) and not any(self._stands_for(other, it) for other in regular)
        ]
        return sorted(worth, key=lambda it: (-_telling(it) * it.tasks, -len(it.names), it.names))

    def _orders(self, done: Sequence[Step]) -> Iterator[tuple[Step, ...]]:
        """Different steps in a row for one request; what git does before and after is known."""
        for size in range(2, self.longest + 1):
            for begin in range(len(done) - size + 1):
                run = tuple(done[begin : begin + size])
                framed = is_git(run[0].ran) or is_git(run[-1].ran)
                apart = len({it.name for it in run}) == size
                if apart and not framed and run[0].turn == run[-1].turn:
                    yield run

    def _stands_for(self, other: _Course, part: _Course) -> bool:
        """Whether a longer order says what a part of it says."""
        size = len(part.names)
        holds = any(
            other.names[begin : begin + size] == part.names
            for begin in range(len(other.names) - size + 1)
        )
        return holds and len(other.names) > size and other.tasks >= self.share * part.tasks

    def _is_regular(self, course: _Course, met: Iterable[Sequence[str]]) -> bool:
        """Whether sessions that take all these steps mostly take them in this order."""
        both = sum(set(names).issuperset(course.names) for names in met)
        return len(course.runs) >= self.order * both

    def _is_worth(self, course: _Course) -> bool:
        """A step must say what nobody guesses; of only two both, or many sessions took them."""
        if all(is_git(it.ran) or is_check(it.ran) for run in course.runs for it in run):
            return False
        plain = [it for it in course.runs[0] if not is_git(it.ran)]
        telling = _telling(course)
        short = len(course.names) == self.own and course.tasks < self.many
        return len(plain) >= self.own and telling >= (self.own if short else 1)

    def _across(self, window: Window, texts: Texts, course: _Course) -> Offer:
        lines = (
            written(window, texts, [run[place] for run in course.runs])
            for place in range(len(course.names))
        )
        commands, slots = together(lines)
        last = course.runs[-1]
        about = next((it.ran for it in last if is_own(it.ran)), last[0].ran)
        name = name_of("procedure", topic(about))
        sessions = counted(course.tasks, "session")
        begun = [run[0] for run in course.runs]
        after, asked = changed_before(window, begun), requested(window, begun)
        return Offer(
            detector=self.name,
            name=name,
            description=described(
                f"Procedure in {counted(len(commands), 'step')}: "
                + ", then ".join(briefly(it) for it in commands)
                + (f". Use it after files in {after} changed" if after else ". Use it")
                + f" instead of working out the order anew; {sessions} did it so."
            ),
            body=body(
                name,
                f"Multi-step procedure that {sessions} went through in this order.",
                (
                    ("When to use", when(after, asked)),
                    ("Commands", numbered(commands)),
                    ("What varies", told(slots)),
                    ("Check", ["- Every command ends without an error."]),
                    ("Pitfalls seen", pitfalls(window, course.names)),
                ),
            ),
            commands=tuple(commands),
            evidence=tuple(
                Evidence(window.sessions[it.session].name, it.seq)
                for run in course.runs
                for it in run
            ),
            topic=topic(about),
            action=action(it.ran for it in course.runs[0]),
            predicates=_predicates(*course.runs),
            sessions=course.tasks,
            key=key_of(self.name, *course.names),
        )


class _Follows:
    """How often one step comes right after another, over many sessions."""

    def __init__(self, sessions: Iterable[Sequence[str]]) -> None:
        self._pairs = Counter(pair for names in sessions for pair in pairwise((*names, _LAST)))
        self._before: Counter[str] = Counter()
        self._after: Counter[str] = Counter()
        for (one, other), times in self._pairs.items():
            self._before[one] += times
            self._after[other] += times

    def chance(self, one: str, other: str) -> float:
        """How likely the other follows this one so often where it follows anything as it likes."""
        times, runs = self._pairs[one, other], self._before[one]
        others = self._before.total() - runs
        usual = (self._after[other] - times + 1) / (others + 2)
        return sum(
            comb(runs, count) * usual**count * (1 - usual) ** (runs - count)
            for count in range(times, runs + 1)
        )


def _stretches(window: Window, own: Sequence[Step]) -> Iterator[list[Step]]:
    """Shell calls in a row that went well, cut where something failed, was edited or was asked."""
    by_call: dict[int, list[Step]] = defaultdict(list)
    for step in own:
        by_call[step.seq].append(step)
    run: list[Step] = []
    for call in window.calls_of(own[0].session, 0, _END) if own else ():
        telling = [it for it in by_call.get(call.seq, ()) if is_step(it.ran)]
        well = call.status is Status.OK and all(is_repeatable(it.ran) for it in telling)
        shell = call.tool is Tool.SHELL
        goes_on = (
            call.tool not in _EDITING
            and (not run or run[-1].turn == call.turn)
            and (not shell or well or not telling)
        )
        if run and not goes_on:
            yield run
            run = []
        if shell and telling and well:
            run = [*run, *telling]
    if run:
        yield run


def _well_done(by_session: Mapping[int, Sequence[Step]]) -> dict[int, list[Step]]:
    """What went well in each session and could be run again, without repeats in a row."""
    found: dict[int, list[Step]] = {}
    for session, own in by_session.items():
        for step in own:
            if step.status is not Status.OK or not is_step(step.ran) or not is_repeatable(step.ran):
                continue
            before = found.setdefault(session, [])
            if before and before[-1].name == step.name:
                before.pop()
            before.append(step)
    return found


def _first_begun(courses: Iterable[_Course], met: Sequence[Sequence[str]]) -> list[_Course]:
    """Of orders of the same steps the one that most sessions begin with.

    What is done over and over can be cut anywhere.
    """

    def begins(course: _Course) -> int:
        firsts = (next((it for it in names if it in course.names), "") for names in met)
        return sum(it == course.names[0] for it in firsts)

    best: dict[frozenset[str], _Course] = {}
    for course in sorted(courses, key=lambda it: (-begins(it), -it.tasks, it.names)):
        best.setdefault(frozenset(course.names), course)
    return list(best.values())


def _telling(course: _Course) -> int:
    """How many of its steps say something in most sessions that nobody would guess."""
    return sum(
        2 * sum(is_told(run[place].ran) for run in course.runs) >= len(course.runs)
        for place in range(len(course.names))
    )


def _predicates(*runs: Sequence[Step]) -> Predicates:
    """Each step as most runs took it."""
    columns = zip(*([form(it.ran) for it in run] for run in runs), strict=True)
    forms = tuple(dict.fromkeys(map(most, columns)))
    return Predicates(command=forms[0], do=forms, check=forms[-1])
