"""Two files of different folders that have to change together, and one is forgotten.

It counts where the second file was edited only after a run had failed, which then passed, or after
a person had said so. In two tasks at least, and the second is edited in more than half of the tasks
that edit the first: a file that happens to be mended once is no rule. A file and its own test are
known to everybody. The bet is a line that names both.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.bets.model import Category, Change, Design, Finding, Metric
from hansei.bets.recurring import Fact
from hansei.projection.together import Forgotten, edited, forgotten
from hansei.projection.wording import code, counted, most
from hansei.retro.costs import Span, occurrences, total

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.bets.model import Occurrence
    from hansei.projection.window import Window


@dataclass(frozen=True)
class EditedTogether:
    """Knobs."""

    name: str = "edited-together"
    tasks: int = 2
    """Tasks in which it was forgotten: once may have been one task's own business."""
    share: float = 0.5
    """Of the tasks that edit the first file, those that edit the second: less is no rule."""
    tokens: int = 5_000
    """What forgetting must have taken in all, where no person had to speak up: below, nobody
    would notice."""

    def find(self, window: Window) -> Iterator[Finding]:
        pairs: dict[tuple[str, str], list[Forgotten]] = defaultdict(list)
        for it in forgotten(window):
            pairs[it.first, it.second].append(it)
        files = edited(window)
        for (first, second), told in sorted(pairs.items()):
            if window.tasks(it.session for it in told) < self.tasks:
                continue
            both = [second in those for those in files.values() if first in those]
            took = occurrences(window, [Span(it.session, it.told, it.mended) for it in told])
            spent = total(took)
            persons = sum(it.command is None for it in told)
            if sum(both) > self.share * len(both) and (
                persons or spent is None or spent >= self.tokens
            ):
                yield self._finding(told, took, (sum(both), len(both)))

    def _finding(
        self, told: list[Forgotten], took: tuple[Occurrence, ...], both: tuple[int, int]
    ) -> Finding:
        first, second = told[0].first, told[0].second
        failed = [it.command for it in told if it.command is not None]
        persons = len(told) - len(failed)
        spoke = [f"{code(most(failed))} failed {len(failed)} times"] if failed else []
        spoke += [f"a person said so {counted(persons, 'time')}"] if persons else []
        return Finding(
            heuristic=self.name,
            key=f"{first} {second}",
            claim=f"{code(first)} is changed and {code(second)} is forgotten",
            because=(
                f"{' and '.join(spoke)} before it was edited too",
                f"{both[0]} of {counted(both[1], 'task')} that edited the first edited the second",
            ),
            occurrences=took,
            change=Change(
                Design.LINE, f"When you change {code(first)}, change {code(second)} to match."
            ),
            category=Category.FIX,
            effort=2,
            disproof=f"what was mended in {code(second)} had nothing to do with the edit of"
            f" {code(first)}",
            metric=Metric(Fact.FORGOTTEN, f"{first} {second}"),
        )
