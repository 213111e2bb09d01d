"""A step that agents plan, and do not do before they say that they are done.

Agents write plans that end with tests, documentation, a commit. Where several sessions end with an
answer while the same kind of step is still open in their own plan, people believe in work that was
not done. Sessions that were stopped count for nothing. What it costs is somebody's trust and time
and no tokens, so none are counted. Floor: three sessions, and a third of those that planned such
a step.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.bets.model import Category, Change, Design, Finding, Metric, Occurrence
from hansei.bets.recurring import Fact
from hansei.projection.unfinished import planned_steps, unfinished
from hansei.projection.wording import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hansei.projection.unfinished import Unfinished
    from hansei.projection.window import Window

_DO = {
    "tests": "run the tests that your plan names",
    "documentation": "write the documentation that your plan names",
    "commit": "make the commit or pull request that your plan names",
    "checks": "run the checks that your plan names",
    "review": "do the review that your plan names",
    "deployment": "do the deployment that your plan names",
}


@dataclass(frozen=True)
class UnfinishedPlan:
    """Knobs: how often a kind of step must stay open."""

    name: str = "unfinished-plan"
    sessions: int = 3
    """Twice is chance."""
    share: float = 0.33
    """Of the sessions that planned such a step: fewer had their reasons."""
    effort: float = 2
    """Minutes to read one line and agree."""

    def find(self, window: Window) -> Iterator[Finding]:
        found: dict[str, list[Unfinished]] = defaultdict(list)
        for it in unfinished(window):
            found[it.kind].append(it)
        steps = planned_steps(window)
        for kind, told in sorted(found.items()):
            planned = sum(kind in it for it in steps.values())
            enough = window.tasks(it.session for it in told) >= self.sessions
            if enough and len(told) >= self.share * planned:
                yield self._finding(kind, told, planned)

    def _finding(self, kind: str, told: Sequence[Unfinished], planned: int) -> Finding:
        shown = list(dict.fromkeys(one_line(it.text, 50) for it in told))[:2]
        return Finding(
            heuristic=self.name,
            key=kind,
            claim=f"Agents say they are done with the {kind} of their plan still open, in "
            f"{len(told)} of {planned} sessions that planned it",
            because=(
                "still open at the end: " + ", ".join(f"“{it}”" for it in shown),
                "what it costs is not tokens but work that somebody believes in",
            ),
            occurrences=tuple(Occurrence(it.session, it.seq, None) for it in told),
            change=Change(
                Design.LINE,
                f"Before you say that you are done, {_DO[kind]}, or say that it is not done and "
                "why.",
            ),
            category=Category.FIX,
            effort=self.effort,
            disproof="the steps were done, and only the plan was not brought up to date",
            metric=Metric(Fact.UNFINISHED, kind),
            anywhere=True,
        )
