"""What came of a session: green tests, loops, lines that landed and stayed, remarks of people."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from hansei.config import CommandClass
from hansei.events.model import Status
from hansei.projection.loops import LOOP_ROUNDS, loops
from hansei.projection.outcomes import Fate

if TYPE_CHECKING:
    from hansei.projection.window import Window

MINUTE_MS: Final = 60_000
UNDECIDED: Final = frozenset({Fate.UNKNOWN, Fate.WAITING})


def minutes_to_green(window: Window) -> dict[int, float]:
    """From the start of a session to the first test run that passed, where there was one."""
    passed = {
        (session, it.seq): it.ended or it.at
        for session, it in window.calls
        if it.status is Status.OK
    }
    found: dict[int, float] = {}
    for session, ran in window.commands:
        at, started = passed.get((session, ran.seq)), window.sessions[session].started
        if ran.about and ran.kind is CommandClass.TEST and at is not None and started is not None:
            found.setdefault(session, max(0, at - started) / MINUTE_MS)
    return found


def edit_loops(window: Window) -> dict[int, float]:
    """Files edited again and again while the same check kept failing."""
    told = Counter(it.session for it in loops(window) if it.rounds >= LOOP_ROUNDS)
    return {session: told[session] for session in sorted({it for it, _ in window.calls})}


def landed_lines(window: Window) -> dict[int, float]:
    """Lines that are in git; only sessions whose edits can be followed to the end."""
    return _lines(window, alive=False)


def surviving_lines(window: Window) -> dict[int, float]:
    """Landed lines that were still there a week later, once that week is over."""
    return _lines(window, alive=True)


def _lines(window: Window, *, alive: bool) -> dict[int, float]:
    told: dict[int, list[int | None]] = defaultdict(list)
    for session, it in window.outcomes:
        if it.fate in UNDECIDED:
            told[session].append(None)
        elif alive and it.landed:
            told[session].append(it.alive_7)
        else:
            told[session].append(0 if alive else it.landed)
    return {
        session: sum(known)
        for session, rows in told.items()
        if len(known := [it for it in rows if it is not None]) == len(rows)
    }


def corrections(window: Window) -> dict[int, float]:
    """Remarks against what the agent did, in sessions that a person drove."""
    told = Counter(session for session, _ in window.corrections)
    return {it.number: told[it.number] for it in window.sessions.values() if it.is_persons}


def landed(window: Window) -> dict[int, float]:
    """Whether anything of a session that wrote something is in git: 1 or 0."""
    return {session: float(lines > 0) for session, lines in landed_lines(window).items()}
