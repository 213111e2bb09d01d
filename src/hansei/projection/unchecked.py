"""Work that was called done without a run of the tests, and tests that were red when next run.

A turn leaves work behind where it ends after edits of code that no test was run after. Whoever runs
the tests next, in a later turn or the next session, finds them red, and they turn green when one of
the very files is edited again that had been left so.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.config import DAY_MS, CommandClass
from hansei.projection.checks import is_code, passed_again

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from hansei.projection.checks import Step
    from hansei.projection.facts.ran import Ran
    from hansei.projection.window import Window

WITHIN_MS: Final = 7 * DAY_MS
"""How long left work explains a red test: later others have been at it too."""
_LATE: Final = sys.maxsize
"""An event after all others."""


class Left(NamedTuple):
    """A file that a turn ended with, and no test had been run since it was edited."""

    session: int
    seq: int
    path: str


class Red(NamedTuple):
    """A run that failed by what an earlier turn had left."""

    session: int
    run: int
    """The run that failed."""
    mended: int
    """The first edit of a file that had been left, after it."""
    ran: Ran
    left: Left


def found_red(window: Window) -> Iterator[Red]:
    """Every such run, in the order of the sessions."""
    left: dict[str, Left] = {}
    tried = _tried(window)
    for session in sorted(window.sessions.values(), key=lambda it: (it.started or 0, it.number)):
        if window.task(session.number) != session.number:
            continue  # what a subagent writes is for the one that sent it to check
        left = {path: it for path, it in left.items() if _is_near(window, it, session.started)}
        runs = tried.get(session.number, ())
        for number, turn in _turns(window, session.number).items():
            yield from _red(session.number, turn, left)
            its = _of_turn(window, session.number, number, runs)
            left = {} if its else left
            left = left | {it.path: it for it in _left(session.number, turn, its)}


def untested(window: Window) -> Iterator[tuple[int, int, bool]]:
    """Turns that changed code: session, the last edit, and whether no test was run after it."""
    tried = _tried(window)
    for session in sorted(window.steps):
        if window.task(session) != session:
            continue
        for number, turn in _turns(window, session).items():
            edits = [it.seq for it in turn if it.passed is None and is_code(it.name)]
            if edits:
                its = _of_turn(window, session, number, tried.get(session, ()))
                yield session, edits[-1], bool(_left(session, turn, its))


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


def _turns(window: Window, session: int) -> dict[int, list[Step]]:
    """The steps of a session by turn, in order."""
    found: dict[int, list[Step]] = defaultdict(list)
    for step in window.steps.get(session, ()):
        found[window.turns.get((session, step.seq), 0)].append(step)
    return {turn: found[turn] for turn in sorted(found)}


def _of_turn(window: Window, session: int, turn: int, runs: Iterable[int]) -> list[int]:
    """Of the runs of a session those of one turn; what subagents ran counts for every turn."""
    return [seq for seq in runs if window.turns.get((session, seq), turn) == turn]


def _left(session: int, turn: Sequence[Step], runs: Iterable[int]) -> list[Left]:
    """What was written after the last run of a test."""
    last = max(runs, default=-1)
    return [
        Left(session, it.seq, it.name)
        for it in turn
        if it.passed is None and it.seq > last and is_code(it.name)
    ]


def _red(session: int, turn: Sequence[Step], left: Mapping[str, Left]) -> Iterator[Red]:
    """The first run of tests in a turn, if it failed by what was left."""
    place = next((at for at, it in enumerate(turn) if it.tests), None)
    end = None if place is None or turn[place].passed else passed_again(turn, place)
    if place is None or end is None:
        return
    own = {it.name for it in turn[:place]}
    ran = turn[place].ran
    for step in turn[place:end]:
        if ran is not None and step.passed is None and step.name in left and step.name not in own:
            yield Red(session, turn[place].seq, step.seq, ran, left[step.name])
            return
