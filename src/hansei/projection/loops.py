"""Edit, run, fail, edit, run, fail: files that a session went round and round with.

A round is a failed run of a test, build or check, an edit of the file, and the next failed run of
the same.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.config import CommandClass
from hansei.events.model import Status
from hansei.projection.files import Verb
from hansei.projection.ways import spelled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hansei.projection.window import Window

_CHECKS: Final = frozenset((CommandClass.TEST, CommandClass.BUILD, CommandClass.LINT))
_WRITES: Final = frozenset((Verb.EDIT, Verb.WRITE, Verb.CREATE))
LOOP_ROUNDS: Final = 2
"""Rounds that make a loop: one is a mistake, two are not understanding."""


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
