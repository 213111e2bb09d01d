"""Work that was called done without a run of the tests, and tests that were red when next run.

An agent leaves work behind where it comes to an end after edits of code that no test was run after.
Whoever runs the tests next, when it goes on or in the next session, finds them red, and they turn
green when one of the very files is edited again that had been left so.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.config import DAY_MS, CommandClass
from hansei.projection.checks import came_to_an_end, is_code, passed_again

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hansei.projection.checks import Step
    from hansei.projection.facts.ran import Ran
    from hansei.projection.window import Window

WITHIN_MS: Final = 7 * DAY_MS
"""How long left work explains a red test: later others have been at it too."""
_LATE: Final = sys.maxsize
"""An event after all others."""


class Left(NamedTuple):
    """A file that an agent ended with, and no test had been run since it was edited."""

    session: int
    seq: int
    path: str


class Red(NamedTuple):
    """A run that failed by what had been left before."""

    session: int
    run: int
    """The run that failed."""
    mended: int
    """The first edit of a file that had been left, after it."""
    ran: Ran
    left: Left


class _Stint(NamedTuple):
    """What an agent did until it came to an end."""

    steps: list[Step]
    runs: list[int]
    """Where it ran tests, however that ended."""
    ended: bool
    """Whether it came to an end; the last one may have been stopped."""

    @property
    def last(self) -> int:
        """The last run of a test."""
        return max(self.runs, default=-1)


def found_red(window: Window) -> Iterator[Red]:
    """Every such run, in the order of the sessions."""
    left: dict[str, Left] = {}
    tried = _tried(window)
    for session in sorted(window.sessions.values(), key=lambda it: (it.started or 0, it.number)):
        if window.task(session.number) != session.number:
            continue  # what a subagent writes is for the one that sent it to check
        left = {path: it for path, it in left.items() if _is_near(window, it, session.started)}
        for stint in _stints(window, session.number, tried.get(session.number, ())):
            yield from _red(session.number, stint.steps, left)
            left = {} if stint.runs else left
            if stint.ended:
                left = left | {it.path: it for it in _left(session.number, stint)}


def untested(window: Window) -> Iterator[tuple[int, int, bool]]:
    """Where agents that had changed code came to an end: session, the last edit, and whether no
    test was run after it."""
    tried = _tried(window)
    for session in sorted(window.steps):
        if window.task(session) != session:
            continue
        for stint in _stints(window, session, tried.get(session, ())):
            edits = [it.seq for it in stint.steps if it.passed is None and is_code(it.name)]
            if edits and stint.ended:
                yield session, edits[-1], bool(_left(session, stint))


def _tried(window: Window) -> dict[int, list[int]]:
    """Where each task's first session ran tests, however that ended.

    Where a subagent did, nobody can tell what had been written by then: that counts for the end.
    """
    found: dict[int, list[int]] = defaultdict(list)
    for session, ran in window.commands:
        if ran.kind is CommandClass.TEST and not ran.inside:
            task = window.task(session)
            found[task].append(ran.seq if task == session else _LATE)
    return found


def _is_near(window: Window, left: Left, now: int | None) -> bool:
    ended = window.sessions[left.session].ended or window.sessions[left.session].started
    return ended is None or now is None or now - ended <= WITHIN_MS


def _stints(window: Window, session: int, runs: Sequence[int]) -> Iterator[_Stint]:
    """What a session did, cut where its agent came to an end."""
    told = window.steps.get(session, [])
    begun = 0
    for place, step in enumerate(told):
        until = told[place + 1].seq if place + 1 < len(told) else _LATE
        ended = came_to_an_end(window, session, step.seq, until)
        if ended or until == _LATE:
            first = told[begun].seq
            its = [seq for seq in runs if first <= seq < until or seq == _LATE]
            yield _Stint(told[begun : place + 1], its, ended)
            begun = place + 1


def _left(session: int, stint: _Stint) -> list[Left]:
    """What was written after the last run of a test."""
    return [
        Left(session, it.seq, it.name)
        for it in stint.steps
        if it.passed is None and it.seq > stint.last and is_code(it.name)
    ]


def _red(session: int, steps: Sequence[Step], left: Mapping[str, Left]) -> Iterator[Red]:
    """The first run of tests in a stint, if it failed by what was left."""
    place = next((at for at, it in enumerate(steps) if it.tests), None)
    end = None if place is None or steps[place].passed else passed_again(steps, place)
    if place is None or end is None:
        return
    own = {it.name for it in steps[:place]}
    ran = steps[place].ran
    for step in steps[place:end]:
        if ran is not None and step.passed is None and step.name in left and step.name not in own:
            yield Red(session, steps[place].seq, step.seq, ran, left[step.name])
            return
