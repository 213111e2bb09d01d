"""A kind of task that people give up: stopped or left unanswered, with nothing written.

One session that is left is a change of mind. The same kind of task left again and again is
something that agents cannot do here yet, or that is asked in a way that does not work. Kinds are
told by how sessions begin. Everything such a session took is counted, its subagents included.
Floor: three sessions, half of those that begin so, and 100,000 tokens.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.bets.model import Category, Change, Design, Finding, Metric, Occurrence
from hansei.bets.recurring import Fact
from hansei.projection.abandoned import abandoned, openings
from hansei.projection.wording import amount, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hansei.projection.abandoned import Abandoned
    from hansei.projection.window import Window


@dataclass(frozen=True)
class AbandonedSessions:
    """Knobs: how many of a kind, and what they must have taken."""

    name: str = "abandoned-sessions"
    sessions: int = 3
    """Twice is chance."""
    share: float = 0.5
    """Of the sessions that begin so: what mostly works is no hopeless kind of task."""
    tokens: int = 100_000
    """In all: five requests of ordinary sessions."""
    effort: float = 20
    """Minutes to read how they ended, and to change how it is asked."""

    def find(self, window: Window) -> Iterator[Finding]:
        begun = Counter(kind for kind, _ in openings(window).values())
        found: dict[str, list[Abandoned]] = defaultdict(list)
        for it in abandoned(window):
            found[it.kind].append(it)
        for kind, told in sorted(found.items()):
            spent = sum(it.tokens or 0 for it in told)
            if len(told) >= max(self.sessions, self.share * begun[kind]) and spent >= self.tokens:
                yield self._finding(kind, told, begun[kind], spent)

    def _finding(self, kind: str, told: Sequence[Abandoned], begun: int, spent: int) -> Finding:
        opening = one_line(min(it.opening for it in told), 60)
        because = (
            f"{len(told)} of {begun} sessions that begin so were stopped or left without an answer",
            f"they took {amount(spent)} tokens, and nothing that they wrote is left",
        )
        seen = "".join(f"- {it}\n" for it in because)
        return Finding(
            heuristic=self.name,
            key=kind,
            claim=f"Sessions that begin with “{opening}” are given up: {len(told)} of {begun}, "
            f"{amount(spent)} tokens",
            because=because,
            occurrences=tuple(Occurrence(it.session, it.seq, it.tokens) for it in told),
            change=Change(
                Design.BRIEF,
                f"# Make “{opening}” work, or stop asking for it\n\n{seen}\n## What to do\nOpen "
                "where each of them ended: what was the agent doing when it was stopped? If one "
                "thing is missing (access, a fixture, a rule of the house), supply it or write it "
                "down. If the task is too large, cut it into steps that end with something to "
                "look at.\n\n## How to check\nThe next session that begins so ends with an "
                "answer or a commit.\n",
            ),
            category=Category.INVESTIGATE,
            effort=self.effort,
            disproof="the work was taken up in other sessions and finished there",
            metric=Metric(Fact.ABANDONED, kind),
        )
