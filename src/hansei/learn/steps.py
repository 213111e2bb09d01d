"""What sessions did in their shells, command by command: what most detectors start from.

A call may run several programs; those that only fill in, filter or change the folder are no steps.
Each step says how its call ended, so that nothing that failed is taken for something that works.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from hansei.events.model import Tool
from hansei.projection.commands.programs import FILLERS, FILTERS
from hansei.projection.facts.ran import bare
from hansei.projection.wording import words

if TYPE_CHECKING:
    from collections.abc import Callable

    from hansei.events.model import AnyEvent, Status
    from hansei.projection.facts.ran import Ran
    from hansei.projection.window import Window

_SCRIPT: Final = re.compile(r"\.(?:sh|py|js|mjs|ts|rb|pl|ps1|bat|cmd)$", re.IGNORECASE)
Texts: TypeAlias = "Callable[[int, int], AnyEvent | None]"
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
        return called(self.ran)


def called(ran: Ran) -> str:
    """What a command is called: equal for runs that do the same to different things.

    The word after a script may be anything, so it is no part of its name.
    """
    return named(ran.program, ran.shown)


def named(program: str, shown: str) -> str:
    """The same for a command that nobody ran."""
    return program if _SCRIPT.search(program) else shown


def verb(ran: Ran) -> str:
    """What its program is told to do, where it is known to be told that."""
    return "" if _SCRIPT.search(ran.program) else ran.subcommand or ""


def form(ran: Ran) -> str:
    """The normal form of a command without what it was told to work on."""
    told = _without_targets(ran)
    if _SCRIPT.search(ran.program):
        return " ".join(it for it in told if it != ran.subcommand)
    name = words(called(ran))
    return " ".join(told if set(name) <= set(told) else [*name, *told[1:]])


def _without_targets(ran: Ran) -> list[str]:
    """Targets stand at the end, but where the order of words was kept they are among the others."""
    told = words(ran.form)
    last = told[max(len(told) - len(ran.targets), 1) :]
    if not any(it.startswith("-") for it in last):
        return words(bare(ran))
    return [told[0], *(it for it in told[1:] if it.strip("'") not in ran.targets)]


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
