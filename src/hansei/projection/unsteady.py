"""Runs that failed and then passed with nothing changed in between.

Nothing changed means that no file was written, no other program ran that may have changed anything,
and no person spoke. Programs that ask whether something is up yet are meant to fail at first.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.config import CommandClass
from hansei.projection.checks import ended_well
from hansei.projection.facts.ran import bare
from hansei.projection.files import LOOKS
from hansei.projection.ways import about, spelled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.projection.facts.called import Called
    from hansei.projection.facts.ran import Ran
    from hansei.projection.window import Window

_ASKING: Final = frozenset(
    ("curl", "wget", "ping", "nc", "ssh", "pgrep", "lsof", "test", "gh", "pg_isready", "kubectl")
)
"""Programs whose answer is the state of something else."""
_SHOWING: Final = frozenset((CommandClass.READ, CommandClass.SEARCH))
_WAITING: Final = "sleep"
_HIDDEN: Final = ("{text}", "{value}")
"""Words that a normal form leaves out: two runs with them need not be the same."""


class Unsteady(NamedTuple):
    """A run that failed and, run again, passed."""

    session: int
    failed: int
    passed: int
    ran: Ran

    @property
    def command(self) -> str:
        """What makes it the same in other sessions."""
        return bare(self.ran)


def unsteady(window: Window) -> Iterator[Unsteady]:
    """Every run that passed unchanged after it had failed, in order."""
    for (session, _), rows in groupby(window.calls, key=lambda it: (it.session, it.row.turn)):
        same: tuple[str, ...] = ()
        failed: int | None = None
        for _, row in rows:
            ran = about(window, session, row.seq)
            if ran is None or not _may_waver(ran):
                failed = None if _changes(window, session, row) else failed
                continue
            key, ended = _whole(window, session, row.seq), ended_well(window, session, row.seq)
            if key != same:
                same, failed = key, None
            if ended and failed is not None:
                yield Unsteady(session, failed, row.seq, ran)
            failed = (failed or row.seq) if ended is False else None


def attempts(window: Window) -> Iterator[tuple[int, int, str]]:
    """Every run of which one could say so: session, call, and what makes it the same."""
    for session, ran in window.commands:
        if ran.about and _may_waver(ran) and ended_well(window, session, ran.seq) is not None:
            yield session, ran.seq, bare(ran)


def _whole(window: Window, session: int, call: int) -> tuple[str, ...]:
    """Everything that a call ran, and where: what prepares a run is a part of it."""
    rows = window.ran_by.get((session, call), ())
    return tuple(f"{it.directory} {spelled(it)}" for it in rows if not it.shows)


def _may_waver(ran: Ran) -> bool:
    return (
        not ran.shows
        and ran.parsed
        and not ran.inside
        and ran.kind not in _SHOWING
        and ran.program not in _ASKING
        and ran.program != _WAITING
        and not any(it in ran.form for it in _HIDDEN)
    )


def _changes(window: Window, session: int, row: Called) -> bool:
    """Whether a call may have changed what the next one meets."""
    if any(it.verb not in LOOKS for it in window.touched_by.get((session, row.seq), ())):
        return True
    ran = window.ran_by.get((session, row.seq), ())
    return any(not (it.shows or it.program == _WAITING) for it in ran)
