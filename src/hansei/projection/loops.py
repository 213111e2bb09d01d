"""Edit, run, fail, edit, run, fail: files that a session went round and round with.

A round is a failed run of a test, build or check, an edit of the file, and the next failed run of
the same.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.projection.ways import spelled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hansei.projection.checks import Step
    from hansei.projection.window import Window

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
    for session, told in window.steps.items():
        yield from _loops(session, told)


def _loops(session: int, told: Iterable[Step]) -> Iterator[Loop]:
    open_: dict[str, _Streak] = {}
    for seq, name, passed, ran in told:
        if passed is None:
            for streak in open_.values():
                streak.edited.add(name)
        elif passed:
            yield from _told(session, open_.pop(name, _Streak()), seq)
        else:
            streak = open_.setdefault(name, _Streak("" if ran is None else spelled(ran), seq))
            for path in sorted(streak.edited):
                streak.rounds[path].append(seq)
            streak.edited.clear()
    for streak in open_.values():
        yield from _told(session, streak, None)


def _told(session: int, streak: _Streak, end: int | None) -> Iterator[Loop]:
    for path, runs in streak.rounds.items():
        last = runs[-1] if end is None else end
        yield Loop(session, path, streak.command, len(runs), streak.begun, runs[0], last)
