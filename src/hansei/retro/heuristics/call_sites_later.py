"""Things are renamed or get other parameters, and their callers are fixed only when a run fails.

It counts where an edit changes a definition, a later run of the same or another session fails with
the old name (or says that the arguments do not fit), and an edit then puts the caller right; two
weeks later at most, in three tasks at least. The bet is a line that says to look for callers first,
where they were missed, and what to run. Counted are the requests from the failed run to the edit of
the caller.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hansei.bets.model import Category, Change, Design, Finding, Metric
from hansei.bets.recurring import Fact
from hansei.projection.renames import Missed, missed
from hansei.projection.ways import about, spelled
from hansei.projection.wording import code, counted, listed
from hansei.retro.costs import Span, occurrences, total

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.bets.model import Occurrence
    from hansei.projection.window import Window

CALLERS: Final = "callers"
"""What it is known by: of one project there is one such bet."""
_NAMED: Final = 4
"""Names that a claim has room for."""


@dataclass(frozen=True)
class CallSitesLater:
    """Knobs."""

    name: str = "call-sites-later"
    tasks: int = 3
    """Tasks that ran into it: a compiler that finds a caller once has done its work."""
    share: float = 0.5
    """Of the missed callers, those in one folder, for the line to name it."""
    tokens: int = 10_000
    """What it must have taken in all: below, the line would cost more than it saves."""

    def find(self, window: Window) -> Iterator[Finding]:
        told = list(missed(window))
        if window.tasks(it.session for it in told) < self.tasks:
            return
        took = occurrences(window, [Span(it.session, it.failed, it.mended) for it in told])
        spent = total(took)
        if spent is None or spent >= self.tokens:
            yield self._finding(window, told, took)

    def _finding(self, window: Window, told: list[Missed], took: tuple[Occurrence, ...]) -> Finding:
        names = sorted({it.renamed.name for it in told})
        sessions = counted(len({it.session for it in told}), "session")
        later = sum(it.session != it.renamed.session for it in told)
        ran = Counter(
            spelled(run) for it in told if (run := about(window, it.session, it.failed)) is not None
        )
        command = min(ran, key=lambda it: (-ran[it], it), default="")
        folder = self._folder(told)
        where = f", also in {code(folder)}" if folder else ""
        then = f" Then run {code(command)}." if command else ""
        return Finding(
            heuristic=self.name,
            key=CALLERS,
            claim="Callers are missed when something is renamed or gets other parameters:"
            f" {listed(names[:_NAMED])}",
            because=(
                f"a run failed by the old one {counted(len(told), 'time')} in {sessions}",
                *((f"{later} of them only in a later session",) if later else ()),
            ),
            occurrences=took,
            change=Change(
                Design.LINE,
                "Before you rename something or change its parameters, search for its name"
                f" everywhere{where}, and change all callers in the same step.{then}",
            ),
            category=Category.FIX,
            effort=2,
            disproof="the names that runs failed by were not those that had been changed, or there"
            " are too many callers to change by hand",
            metric=Metric(Fact.CALLERS, CALLERS),
        )

    def _folder(self, told: list[Missed]) -> str:
        """The top folder of most missed callers, where the definitions lie in others."""
        tops = [(_top(it.path), _top(it.renamed.path)) for it in told]
        others = Counter(caller for caller, defined in tops if caller and caller != defined)
        folder, times = min(others.items(), key=lambda it: (-it[1], it[0]), default=("", 0))
        return folder if times > self.share * len(told) else ""


def _top(path: str) -> str:
    """The top folder that a file lies in; empty for one that lies in none."""
    folder, slash, _ = path.partition("/")
    return folder + slash if folder and slash else ""
