"""What sessions did in their shells, command by command: what most detectors start from.

A call may run several programs; those that only fill in, filter or change the folder are no steps.
Each step says how its call ended, so that nothing that failed is taken for something that works.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from hansei.events.model import Tool
from hansei.projection.commands.programs import FILLERS, FILTERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from hansei.events.model import AnyEvent, Status
    from hansei.projection.facts.ran import Ran
    from hansei.projection.window import Window

    Texts: TypeAlias = Callable[[int, int], AnyEvent | None]
    """How a detector gets at what was typed: an event by session and number."""


class Step(NamedTuple):
    """One program that a shell call ran."""

    session: int
    seq: int
    turn: int
    status: Status
    ran: Ran

    @property
    def name(self) -> str:
        """What it is called: equal for runs that do the same to different things."""
        return self.ran.shown


def steps(window: Window) -> dict[int, list[Step]]:
    """The steps of each session, in order."""
    found: dict[int, list[Step]] = {}
    for session, call in window.calls:
        if call.tool is not Tool.SHELL:
            continue
        own = found.setdefault(session, [])
        own += [
            Step(session, call.seq, call.turn, call.status, ran)
            for ran in window.ran_by.get((session, call.seq), ())
            if _is_step(ran)
        ]
    return found


def shell_calls(window: Window) -> dict[int, int]:
    """How many shell calls each session made."""
    found: dict[int, int] = {}
    for session, call in window.calls:
        if call.tool is Tool.SHELL:
            found[session] = found.get(session, 0) + 1
    return found


def _is_step(ran: Ran) -> bool:
    if ran.inside or ran.program in FILLERS:
        return False
    return ran.about or ran.program not in FILTERS
