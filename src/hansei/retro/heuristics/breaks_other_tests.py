"""Changing one thing turns the tests of another red, in task after task.

Nobody who changes the first thinks of the second: it is not its own test. It counts where a test
command was green, at most three files were edited, and the same command then named the tests as
failed; in two tasks at least, and in a third of all that edited the file. Where no single file does
it in two tasks, its folder may. The bet is a line that names both, with the command for those
tests. Counted are the requests from the red run to the next green one.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.bets.model import Category, Change, Design, Finding, Metric
from hansei.bets.recurring import Fact
from hansei.projection.breaks import Break, breaks, edits_of
from hansei.projection.facts.ran import bare
from hansei.projection.wording import code, counted, most
from hansei.retro.costs import Span, occurrences, total

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.bets.model import Occurrence
    from hansei.projection.window import Window


@dataclass(frozen=True)
class BreaksOtherTests:
    """Knobs."""

    name: str = "breaks-other-tests"
    tasks: int = 2
    """Tasks in which the same edit broke the same tests: once is a mistake like any other."""
    share: float = 1 / 3
    """Of the tasks that edit it, those that broke them: less is chance."""
    tokens: int = 5_000
    """What mending must have taken in all: below, nobody would notice."""

    def find(self, window: Window) -> Iterator[Finding]:
        pairs: dict[tuple[str, str], list[Break]] = defaultdict(list)
        folders: dict[tuple[str, str], list[Break]] = defaultdict(list)
        for it in breaks(window):
            pairs[it.path, it.tests].append(it)
        for (path, tests), told in pairs.items():
            if window.tasks(it.session for it in told) < self.tasks:
                folders[f"{posixpath.dirname(path)}/", tests] += told
        edited = edits_of(window)
        for (where, tests), told in sorted((pairs | folders).items()):
            tasks = window.tasks(it.session for it in told)
            touching = {
                task
                for path, those in edited.items()
                if path == where or (where.endswith("/") and f"{posixpath.dirname(path)}/" == where)
                for task in those
            }
            took = occurrences(window, [Span(it.session, it.run, it.end) for it in told])
            spent = total(took)
            if (
                tasks >= self.tasks
                and tasks >= self.share * len(touching)
                and (spent is None or spent >= self.tokens)
            ):
                yield self._finding(
                    (where, tests),
                    told,
                    took,
                    f"{tasks} of {counted(len(touching), 'task')} that edited it",
                )

    def _finding(
        self,
        pair: tuple[str, str],
        told: list[Break],
        took: tuple[Occurrence, ...],
        of: str,
    ) -> Finding:
        where, tests = map(code, pair)
        run = code(f"{most(' '.join((*it.ran.before, bare(it.ran))) for it in told)} {pair[1]}")
        return Finding(
            heuristic=self.name,
            key=" ".join(pair),
            claim=f"Changing {where} breaks {tests}",
            because=(f"green before the edit and red after it, in {of}",),
            occurrences=took,
            change=Change(Design.LINE, f"When you change {where}, check {tests} too: {run}."),
            category=Category.FIX,
            effort=2,
            disproof=f"{tests} failed for reasons that have nothing to do with {where}",
            metric=Metric(Fact.BROKEN, " ".join(pair)),
        )
