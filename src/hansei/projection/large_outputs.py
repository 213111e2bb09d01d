"""Outputs that filled the context though a quieter form of the command would have done.

Outputs that were needed are left alone: those of calls that failed, files of the repository, texts
that are there to be read, searches and listings, which are questions of their own, and calls that
were filtered already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.config import CommandClass
from hansei.events.model import Status, Tool
from hansei.projection.commands.quieter import quieter
from hansei.projection.files import Verb

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.projection.facts.called import Called
    from hansei.projection.facts.ran import Ran
    from hansei.projection.window import Window

LARGE: Final = 2_000
"""Tokens: two screens; below, an agent program has cut it already, or there is little to drop."""
LONG: Final = 5
"""Carried by fewer requests, an output costs about as much as asking for it again."""
_FILTERS: Final = frozenset(
    ("head", "tail", "grep", "wc", "jq", "sed", "awk", "cut", "Select-Object", "Select-String")
)
"""What takes a part of another program's output."""
_TEXTS: Final = (".md", ".mdc", ".txt", ".rst")


class Large(NamedTuple):
    """One large output."""

    session: int
    seq: int
    group: str
    """What counts as the same command."""
    tokens: int
    requests: int
    """That carried it, at most."""
    billed: int
    run: Ran | None
    """The command; None where it is no shell call."""


def large_outputs(window: Window, *, large: int = LARGE, long: int = LONG) -> Iterator[Large]:
    """Every output that is large, was carried long and was not needed, in order."""
    ran = {(session, run.seq): run for session, run in window.commands if run.about}
    sources = _sources(window)
    for session, call in window.calls:
        place = session, call.seq
        if place not in sources and not _is_filtered(window, *place):
            found = _large(window, session, call, ran.get(place))
            if found is not None and found.tokens >= large and found.requests >= long:
                yield found


def calls_of(window: Window, group: str) -> Iterator[tuple[int, int]]:
    """Every call of a group, with whatever options: session and call."""
    for session, run in window.commands:
        if run.about and group in (run.form, run.shown):
            yield session, run.seq
    for session, call in window.calls:
        if call.tool is Tool.MCP and call.name == group:
            yield session, call.seq


def _large(window: Window, session: int, call: Called, run: Ran | None) -> Large | None:
    known = _can_be_quieter(run) if run is not None else call.tool is Tool.MCP
    pieces = window.carried.get((session, call.result)) if call.result is not None else None
    if not known or not pieces or call.status is Status.FAILED:
        return None
    return Large(
        session=session,
        seq=call.seq,
        group=_group(call, run),
        tokens=sum(piece.tokens for piece in pieces),
        requests=max(piece.requests for piece in pieces),
        billed=sum(piece.billed for piece in pieces),
        run=run,
    )


def _group(call: Called, run: Ran | None) -> str:
    """What counts as the same command.

    A subcommand is, whatever it was given, where a quieter form is known that fits all of it. Of
    others only the very same command is: given something else it shows something else.
    """
    if run is None:
        return call.name
    return run.form if run.subcommand is None or quieter(run) is None else run.shown


def _is_filtered(window: Window, session: int, seq: int) -> bool:
    """Whether a call has only a part of what a program prints already."""
    return any(it.program in _FILTERS for it in window.ran_by.get((session, seq), ()))


def _can_be_quieter(run: Ran) -> bool:
    return run.parsed and run.kind is not CommandClass.SEARCH


def _sources(window: Window) -> set[tuple[int, int]]:
    """Calls that read files of the repository, or texts that are there to be read."""
    return {
        (session, touch.seq)
        for session, touch in window.touches
        if touch.verb is Verb.READ and (touch.inside or touch.path.endswith(_TEXTS))
    }
