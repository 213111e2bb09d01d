"""Edit, run, fail, edit, run, fail: one file that several sessions could not get right.

A round is a failed run of a test, build or check, an edit of the file, and the next failed run of
the same. A first failure and one more are how software is written; from the second round on it is
a loop. What it took is counted from the second failed run to the run that ended it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.bets.model import Category, Change, Design, Finding, Metric
from hansei.config import CommandClass
from hansei.events.model import Status
from hansei.projection.files import Verb
from hansei.projection.ways import spelled
from hansei.projection.wording import code, counted, in_common
from hansei.retro.costs import Span, occurrences, total

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hansei.bets.model import Occurrence
    from hansei.projection.window import Window

_CHECKS: Final = frozenset((CommandClass.TEST, CommandClass.BUILD, CommandClass.LINT))
_WRITES: Final = frozenset((Verb.EDIT, Verb.WRITE, Verb.CREATE))


class Loop(NamedTuple):
    """One file in one session."""

    session: int
    path: str
    command: str
    """The run that began it, as it was typed."""
    rounds: int
    begun: int
    """The first failed run."""
    first: int
    """The second failed run."""
    last: int
    """The run that ended it, or the last that failed."""


class _Step(NamedTuple):
    """An edit of a file, or a run of a command."""

    seq: int
    name: str
    """The path, or what a person would call the command."""
    passed: bool | None = None
    """None for an edit."""
    command: str = ""


@dataclass(frozen=True)
class EditLoop:
    """Knobs."""

    name: str = "edit-loop"
    rounds: int = 2
    """Rounds in a session that make a loop: one is a mistake, two are not understanding."""
    sessions: int = 2
    """Sessions in which the same file was the one, each counted with its subagents: one may have
    been a bad day."""
    tokens: int = 50_000
    """What the loops must have taken in all: about what it takes to look into it."""

    def find(self, window: Window) -> Iterator[Finding]:
        found: dict[str, list[Loop]] = defaultdict(list)
        for loop in loops(window):
            if loop.rounds >= self.rounds:
                found[loop.path].append(loop)
        for path, told in sorted(found.items()):
            if window.tasks(it.session for it in told) < self.sessions:
                continue
            took = occurrences(
                window, [Span(it.session, it.first, it.last, shown=it.begun) for it in told]
            )
            spent = total(took)
            if spent is None or spent >= self.tokens:
                yield self._finding(path, told, took)

    def _finding(self, path: str, told: list[Loop], took: tuple[Occurrence, ...]) -> Finding:
        command = in_common([it.command for it in told])
        rounds = sum(it.rounds for it in told)
        sessions = counted(len({it.session for it in told}), "session")
        seen = f"{counted(rounds, 'failed round')} in {sessions}"
        return Finding(
            heuristic=self.name,
            key=path,
            claim=f"Agents edit {code(path)} and fail {code(command)} over and over",
            because=(seen, f"the longest took {max(it.rounds for it in told)} rounds"),
            occurrences=took,
            change=Change(Design.BRIEF, _brief(path, command, seen), path),
            category=Category.INVESTIGATE,
            effort=30,
            disproof=f"the rounds failed for reasons that {code(path)} has nothing to do with,"
            " or each for another one",
            metric=Metric("touches", path),
        )


@dataclass
class _Streak:
    """Failed runs of one command without a success in between."""

    command: str = ""
    begun: int = 0
    edited: set[str] = field(default_factory=set)
    """Since the last of them."""
    rounds: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    """For each file the failed runs that an edit of it came before."""


def loops(window: Window) -> Iterator[Loop]:
    """Every file that was edited between failed runs, in every session."""
    steps: dict[int, list[_Step]] = defaultdict(list)
    status = {(session, row.seq): row.status for session, row in window.calls}
    for session, touch in window.touches:
        if touch.verb in _WRITES and touch.inside:
            steps[session].append(_Step(touch.seq, touch.path))
    for session, ran in window.commands:
        ended = status.get((session, ran.seq))
        if ran.about and ran.kind in _CHECKS and ended in (Status.OK, Status.FAILED):
            steps[session].append(_Step(ran.seq, ran.shown, ended is Status.OK, spelled(ran)))
    for session in sorted(steps):
        yield from _loops(session, sorted(steps[session], key=lambda it: (it.seq, it.name)))


def _loops(session: int, steps: Iterable[_Step]) -> Iterator[Loop]:
    open_: dict[str, _Streak] = {}
    for seq, name, passed, command in steps:
        if passed is None:
            for streak in open_.values():
                streak.edited.add(name)
        elif passed:
            yield from _told(session, open_.pop(name, _Streak()), seq)
        else:
            streak = open_.setdefault(name, _Streak(command, seq))
            for path in sorted(streak.edited):
                streak.rounds[path].append(seq)
            streak.edited.clear()
    for streak in open_.values():
        yield from _told(session, streak, None)


def _told(session: int, streak: _Streak, end: int | None) -> Iterator[Loop]:
    for path, runs in streak.rounds.items():
        last = runs[-1] if end is None else end
        yield Loop(session, path, streak.command, len(runs), streak.begun, runs[0], last)


def _brief(path: str, command: str, seen: str) -> str:
    return (
        f"# Find out what makes {code(path)} hard to change\n\n"
        f"Agents edited it and {code(command)} failed again: {seen}.\n\n"
        "- Open the sessions named as evidence: what did they not know, or not see?\n"
        "- It may be a hidden rule of the file, an error that names the wrong place, or a run"
        " that tells too little. Say it in a comment at the place or in the instruction file,"
        " split the file, or make the error speak.\n"
        f"- Done when an agent that was only told the task changes {code(path)} and passes"
        f" {code(command)} without a second round.\n"
    )
