"""What came of a session: green tests, loops, lines that landed and stayed, remarks of people.

None is unknown. A session that cannot have such an amount is not in the table.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from hansei.config import CommandClass
from hansei.events.model import Status
from hansei.projection.failures.model import Kind
from hansei.projection.loops import LOOP_ROUNDS, loops
from hansei.projection.outcomes import Fate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hansei.projection.facts.called import Called
    from hansei.projection.outcomes import Outcome
    from hansei.projection.window import Window

MINUTE_MS: Final = 60_000
UNDECIDED: Final = frozenset({Fate.UNKNOWN, Fate.WAITING})


def minutes_to_green(window: Window) -> dict[int, float | None]:
    """From the start of the work to the first test run that passed; only who got there has one.

    The work starts with the session that nobody's session started.
    """
    found: dict[int, float | None] = {}
    for session, call in _tests(window):
        started = window.sessions[window.task(session)].started
        at = call.ended or call.at
        if call.status is Status.OK and session not in found:
            found[session] = (
                None if at is None or started is None else max(0, at - started) / MINUTE_MS
            )
    return found


def green(window: Window) -> dict[int, float | None]:
    """Whether any test run passed, of sessions that ran tests: 1 or 0."""
    found: dict[int, float | None] = {}
    for session, call in _tests(window):
        if call.status is Status.OK:
            found[session] = 1
        elif call.status is Status.FAILED:
            found.setdefault(session, 0)
    return found


def failed_calls(window: Window) -> dict[int, float | None]:
    """Calls that failed; what a person refused or stopped is none."""
    failed = Counter(session for session, it in window.failures if it.kind is Kind.FAILURE)
    return {session: failed[session] for session in window.sessions}


def _tests(window: Window) -> Iterator[tuple[int, Called]]:
    calls = {(session, it.seq): it for session, it in window.calls}
    for session, ran in window.commands:
        if ran.about and ran.kind is CommandClass.TEST and (session, ran.seq) in calls:
            yield session, calls[session, ran.seq]


def edit_loops(window: Window) -> dict[int, float | None]:
    """Files edited again and again while the same check kept failing."""
    told = Counter(it.session for it in loops(window) if it.rounds >= LOOP_ROUNDS)
    return {session: told[session] for session in sorted(window.sessions)}


def landed_lines(window: Window) -> dict[int, float | None]:
    """Lines that are in git; unknown where an edit cannot be followed, or may still land."""
    return {session: _sum(map(_landed, rows)) for session, rows in _outcomes(window).items()}


def surviving_lines(window: Window) -> dict[int, float | None]:
    """Landed lines that were still there a week later, once that week is over."""
    return {session: _sum(map(_survived, rows)) for session, rows in _outcomes(window).items()}


def result(window: Window) -> dict[int, float | None]:
    """Whether anything that a session wrote is in git: 1 or 0; who wrote nothing has no result."""
    return {session: _result(rows) for session, rows in _outcomes(window).items() if rows}


def remarks(window: Window) -> dict[int, float | None]:
    """What people said against what the agent did, in sessions that a person drove."""
    told = Counter(session for session, _ in window.corrections)
    return {it.number: told[it.number] for it in window.sessions.values() if it.is_persons}


def _outcomes(window: Window) -> dict[int, list[Outcome | None]]:
    """What became of the edits of each session; of those that wrote nothing, nothing.

    None stands for edits that nobody has looked for in git yet.
    """
    found: dict[int, list[Outcome | None]] = {it: [] for it in sorted(window.sessions)}
    for session, it in window.outcomes:
        found[session].append(it)
    for session in {it.session for it in window.hunks}:
        found[session] = found[session] or [None]
    return found


def _landed(it: Outcome | None) -> int | None:
    return None if it is None or it.fate in UNDECIDED else it.landed


def _survived(it: Outcome | None) -> int | None:
    landed = _landed(it)
    return it.alive_7 if it is not None and landed else landed


def _result(rows: list[Outcome | None]) -> float | None:
    if any(it is not None and it.landed for it in rows):
        return 1
    return None if any(_landed(it) is None for it in rows) else 0


def _sum(lines: Iterable[int | None]) -> int | None:
    total = 0
    for it in lines:
        if it is None:
            return None
        total += it
    return total
