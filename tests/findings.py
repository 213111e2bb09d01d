"""Findings and frames made by hand, for tests of bets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from hansei.bets.counting import Frame
from hansei.bets.model import Category, Change, Design, Finding, Metric, Occurrence
from hansei.bets.recurring import Fact
from hansei.projection.window import Window

DAY = 86_400_000


def finding(
    occurrences: Iterable[Occurrence],
    *,
    key: str = "make typecheck",
    heuristic: str = "toy",
    category: Category = Category.FIX,
    effort: float = 1,
) -> Finding:
    return Finding(
        heuristic=heuristic,
        key=key,
        claim=f"`{key}` does not exist here",
        because=("it is tried again and again",),
        occurrences=tuple(occurrences),
        change=Change(Design.LINE, f"Never run `{key}`.", "AGENTS.md"),
        category=category,
        effort=effort,
        disproof=f"`{key}` works",
        metric=Metric(Fact.FAILURES, key),
        fix="make types",
    )


def frame(days: Mapping[int, int] | Iterable[int], *, requests: int = 0, **more: object) -> Frame:
    """A session on each of these days, or by number the day it began."""
    began = days if isinstance(days, Mapping) else dict(enumerate(days))
    started = {session: day * DAY + 1 for session, day in began.items()}
    return Frame("here", started, requests, **more)  # type: ignore[arg-type] # families at most


def each(sessions: Iterable[int], tokens: int | None = 100, seq: int = 1) -> list[Occurrence]:
    """It happened once in each of these sessions."""
    return [Occurrence(session, seq, tokens) for session in sessions]


@dataclass(frozen=True)
class Planted:
    """A heuristic that finds what it is told, in the sessions that are in the window."""

    told: Mapping[str, Iterable[str]]
    """Sessions by what happened in them."""
    name: str = "planted"
    tokens: int | None = 100
    categories: Mapping[str, Category] = field(default_factory=dict)

    def find(self, window: Window) -> Iterator[Finding]:
        for seq, (key, names) in enumerate(self.told.items(), 1):
            numbers = [it.number for it in window.sessions.values() if it.name in set(names)]
            if numbers:
                category = self.categories.get(key, Category.FIX)
                found = each(numbers, self.tokens, seq)
                yield finding(found, key=key, heuristic=self.name, category=category)
