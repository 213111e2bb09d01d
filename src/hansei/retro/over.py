"""Whether something is over: sessions that came later did the same and did not run into it.

Not seen for a while is no news where nobody did what leads to it. What was done again and went well
is: the more often, and the more surely it was met before, the more likely somebody has mended it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from hansei.bets.counting import fading
from hansei.bets.model import Chances
from hansei.events.model import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hansei.projection.window import Window

    Tool = tuple[str, str | None]

_OVER: Final = 0.1
"""How little may be left of a bet by what was spared, before it is dropped: one chance in ten."""


def chances(window: Window, met: Iterable[int], doing: Iterable[int]) -> Chances | None:
    """Sessions that met it, and those that could have; None where none of the first is dated."""
    met = set(met)
    started = {it: window.sessions[it].started for it in met | set(doing)}
    last = max((at for it in met if (at := started[it]) is not None), default=None)
    if last is None:
        return None
    hit = {window.task(it) for it in met}
    until = {window.task(it) for it, at in started.items() if at is not None and at <= last}
    since = {window.task(it) for it, at in started.items() if at is not None and at > last}
    return Chances(len(hit), len(until | hit), len(since - until - hit))


def is_over(found: Chances | None) -> bool:
    """Whether enough was spared that acting on it would come too late."""
    return found is not None and fading(found) < _OVER


def users(window: Window) -> Mapping[Tool, set[int]]:
    """The sessions in which each program, or tool that is no shell, did its work well."""
    found: dict[Tool, set[int]] = defaultdict(set)
    well = went_well(window)
    for session, ran in window.commands:
        if ran.about and (session, ran.seq) in well:
            found[ran.program, ran.subcommand].add(session)
    for session, row in window.calls:
        if row.status is Status.OK:
            found[row.name, None].add(session)
    return found


def went_well(window: Window) -> set[tuple[int, int]]:
    """The calls that succeeded, each with its session."""
    return {(session, row.seq) for session, row in window.calls if row.status is Status.OK}


def later(window: Window, met: Iterable[int], sessions: Iterable[int]) -> bool:
    """Whether one of some sessions began after all that met it."""
    last = max((window.sessions[it].started or 0 for it in met), default=0)
    return any((window.sessions[it].started or 0) > last for it in sessions)
