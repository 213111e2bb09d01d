"""Tasks that took far more than the others here, and the cause that they share.

Far is told by the workspace's own tasks, a session with its subagents being one. The cause is
counted from the events: requests spent on one program that failed in the same words again and
again, or what carrying one file or output took. Subagents and long sessions are no cause: people
order them. An outlier without a cause is no bet, because "it was expensive" helps nobody. Two tasks
with the same cause make a bet; one alone is told only on demand, because it may have been a bad
day. Floor: five tasks to compare with, four times the middle one, and 500,000 tokens for the cause.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.bets.model import Category, Change, Design, Finding, Metric, Occurrence
from hansei.bets.recurring import Fact
from hansei.projection.compactions import FILE
from hansei.projection.outliers import FAILING, MANY, limit, outliers
from hansei.projection.wording import amount, code, counted, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hansei.projection.outliers import Outlier
    from hansei.projection.window import Window


@dataclass(frozen=True)
class CostOutlier:
    """Knobs: what the cause must have taken, and in how many tasks."""

    name: str = "cost-outlier"
    tasks: int = 2
    """With the same cause."""
    tokens: int = 500_000
    """That the cause took in all: what nobody would miss is nothing to look into."""
    effort: float = 20
    """Minutes to open the tasks and to decide."""

    def find(self, window: Window) -> Iterator[Finding]:
        above = limit(window)
        if above is None:
            return
        found: dict[str, list[Outlier]] = defaultdict(list)
        for it in outliers(window, above):
            found[it.cause].append(it)
        for cause, told in sorted(found.items()):
            if sum(it.took for it in told) >= self.tokens:
                yield self._finding(cause, told, above)

    def _finding(self, cause: str, told: Sequence[Outlier], above: int) -> Finding:
        what, advice = _in_words(cause)
        took = sum(it.took for it in told)
        tasks = counted(len(told), "task")
        sizes = sorted(it.tokens for it in told)
        span = " to ".join(dict.fromkeys((amount(sizes[0]), amount(sizes[-1]))))
        because = (
            f"{tasks} took {span} tokens; the middle one of all takes {amount(above / MANY)}",
            f"{amount(took)} of {amount(sum(it.tokens for it in told))} tokens: {what}",
        )
        seen = "".join(f"- {it}\n" for it in because)
        return Finding(
            heuristic=self.name,
            key=cause,
            claim=f"The dearest tasks here share a cause, {what}: {amount(took)} tokens in {tasks}"
            if len(told) > 1
            else f"One task took {amount(told[0].tokens)} tokens, {told[0].share:.0%} of them for "
            f"{what}",
            because=because,
            occurrences=tuple(Occurrence(it.session, it.seq, it.took) for it in told),
            change=Change(
                Design.BRIEF,
                f"# Look into what made {tasks} so dear: {what}\n\n{seen}\n"
                f"## What to do\n{advice}\n"
                f"\n## How to check\nTasks of the same kind stay below {amount(above)} tokens.\n",
            ),
            category=Category.INVESTIGATE,
            effort=self.effort,
            disproof="these tasks were that much larger than others, and each part of them was "
            "needed",
            metric=Metric(Fact.OUTLIERS, f"{above} {cause}"),
            on_demand=len(told) < self.tasks,
        )


def _in_words(cause: str) -> tuple[str, str]:
    kind, _, name = cause.partition(" ")
    if kind == FAILING:
        return f"failures of {code(name)} that were tried again and again", (
            "Open the places that are listed: what did the agent try, and what got it past? Write "
            "that down, or have it stop and ask after three tries."
        )
    thing, _, rest = name.partition(" ")
    shown = quoted(rest) if thing == FILE else code(rest or name)
    return f"carrying {shown} along", (
        f"See how much of {shown} was needed: a range, a search or a shorter form of the "
        "command instead, or a subagent that reads it and reports."
    )
