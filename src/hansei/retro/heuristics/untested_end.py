"""Agents end without running the tests, and whoever runs them next finds them red.

An agent that changes code and runs no test afterwards leaves its mistakes to the next one, which no
longer knows what was done. It counts where the next run of the tests, when it is asked to go on or
in the next session within a week, fails and is green again once a file is edited that had been left
so.
Three tasks at least. The bet is a line that names the command that those runs were made with.
Only what finding out took is counted, from the red run to the first edit of that file: the mending
itself would have been needed at once too. Red tests in other people's hands cost more than tokens.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.bets.model import Category, Change, Design, Finding, Metric
from hansei.bets.recurring import Fact
from hansei.projection.unchecked import Red, found_red, untested
from hansei.projection.ways import spelled
from hansei.projection.wording import code, counted, in_common
from hansei.retro.costs import Span, occurrences

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.projection.window import Window


@dataclass(frozen=True)
class UntestedEnd:
    """Knobs."""

    name: str = "untested-end"
    tasks: int = 3
    """Tasks that met it: once or twice somebody may have stopped the agent."""

    def find(self, window: Window) -> Iterator[Finding]:
        found: dict[str, list[Red]] = defaultdict(list)
        for red in found_red(window):
            found[red.ran.shown].append(red)
        for shown, told in sorted(found.items()):
            if window.tasks(it.session for it in told) >= self.tasks:
                yield self._finding(window, shown, told)

    def _finding(self, window: Window, shown: str, told: list[Red]) -> Finding:
        command = code(in_common([spelled(it.ran) for it in told]) or shown)
        ended = [left for _, _, left in untested(window)]
        runs = counted(len(told), "red run")
        sessions = counted(len({it.session for it in told}), "session")
        without = f"{sum(ended)} of {counted(len(ended), 'time')}"
        return Finding(
            heuristic=self.name,
            key=shown,
            claim=f"Agents end without {command}, and it is red when it is run next",
            because=(
                f"{runs} in {sessions}, each mended in a file that had been left unchecked",
                f"{without} code was changed, no test was run after it",
                "only the tokens of finding out are counted",
            ),
            occurrences=occurrences(window, [Span(it.session, it.run, it.mended) for it in told]),
            change=Change(
                Design.LINE,
                f"After your last edit of code run {command}, before you say it is done.",
            ),
            category=Category.FIX,
            effort=2,
            disproof=f"{command} was red for reasons that the unchecked edits have nothing to do"
            " with, or it takes too long to be run each time",
            metric=Metric(Fact.UNTESTED, shown),
        )
