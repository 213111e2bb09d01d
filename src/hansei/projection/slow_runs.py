"""How long commands ran, from the call to its answer.

An answer may also have waited for a person to permit the call, or for a machine that was busy with
something else. Where that is so, commands that only show something take long too, and then the
times of the whole session tell nothing.
"""

from __future__ import annotations

from collections import defaultdict
from statistics import median
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.config import CommandClass
from hansei.events.model import Basis
from hansei.projection.facts.ran import bare

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hansei.projection.facts.ran import Ran
    from hansei.projection.window import Window

SLOW_SECONDS: Final = 60.0
"""What a run takes at least to be slow: below, people do not turn to something else."""
AGAIN: Final = "again "
"""Before a command: only whole runs after the first of a session are meant."""
AT_ONCE_SECONDS: Final = 5.0
"""What a command that only shows something takes at most, if it waits for nobody."""
WAITED_SHARE: Final = 0.2
"""The share of such commands that may have taken longer: a big search does."""
_TIMED: Final = frozenset(
    (CommandClass.TEST, CommandClass.BUILD, CommandClass.LINT, CommandClass.FORMAT,
     CommandClass.INSTALL)
)  # fmt: skip
"""Purposes of commands that are run again and again and can be run otherwise."""
_LIMIT: Final = "timed out"
_EVERYTHING: Final = frozenset((".", "./", "./...", "..."))
"""How a command is told to take everything."""


class Timed(NamedTuple):
    """One run with how long it took."""

    session: int
    seq: int
    ran: Ran
    seconds: float
    timed_out: bool

    @property
    def command(self) -> str:
        """What makes it the same in other sessions: whatever files it was given."""
        return " ".join((*self.ran.before, bare(self.ran)))

    @property
    def is_whole(self) -> bool:
        """Whether it was given no files or folders to keep to."""
        return not any(
            ("/" in it or "." in it) and it not in _EVERYTHING for it in self.ran.targets
        )


def timed(window: Window) -> Iterator[Timed]:
    """Every run of a test, build, check or installation whose time is told, in order."""
    waits = waiting(window)
    for session, ran in window.commands:
        if not ran.about or ran.kind not in _TIMED or session in waits:
            continue
        seconds = _seconds(window, session, ran.seq)
        if seconds is not None:
            failure = window.failed.get((session, ran.seq))
            limit = failure is not None and _LIMIT in failure.signature.lower()
            yield Timed(session, ran.seq, ran, seconds, limit)


def slow(window: Window, subject: str) -> list[Timed]:
    """The slow runs of a command; with `AGAIN` before it those that need not have been whole."""
    command = subject.removeprefix(AGAIN)
    runs = [it for it in timed(window) if it.command == command]
    if subject != command:
        runs = after_the_first([it for it in runs if it.is_whole])
    return [it for it in runs if it.seconds >= SLOW_SECONDS]


def after_the_first(runs: Iterable[Timed]) -> list[Timed]:
    """Without the first run of each session, which is to stay."""
    seen: set[int] = set()
    again = []
    for it in runs:
        if it.session in seen:
            again.append(it)
        seen.add(it.session)
    return again


def waiting(window: Window) -> set[int]:
    """Sessions in which calls waited for a person, or for the machine."""
    shown: dict[int, list[bool]] = defaultdict(list)
    for session, ran in window.commands:
        if ran.about and ran.shows:
            seconds = _seconds(window, session, ran.seq)
            if seconds is not None:
                shown[session].append(seconds > AT_ONCE_SECONDS)
    return {it for it, late in shown.items() if sum(late) > WAITED_SHARE * len(late)}


def middle(runs: Iterable[Timed]) -> float:
    """The seconds that half of them stay below; 0 where there are none."""
    return median([it.seconds for it in runs] or [0.0])


def _seconds(window: Window, session: int, call: int) -> float | None:
    row = window.called.get((session, call))
    if row is None or row.at is None or row.ended is None or row.basis is Basis.DECLINED:
        return None
    return max(row.ended - row.at, 0) / 1000
