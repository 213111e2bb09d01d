"""Running the heuristics over a window, and ranking what they found.

Of two bets about the same occurrences the one with the higher score stays. The list people see
first is short: one best bet, two to look into, two quick fixes, and never more than two of one
heuristic among them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hansei.bets.counting import Frame, count, rank
from hansei.bets.model import Category, Design
from hansei.retro.catalogue import HEURISTICS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from hansei.bets.model import Bet, Finding
    from hansei.projection.window import Window
    from hansei.retro.contract import Heuristic

INVESTIGATE: Final = 2
FIXES: Final = 2
OF_ONE: Final = 2
"""Bets of one heuristic in the short list."""
SHARED: Final = 0.8
"""The share of a bet's sessions and events that another one has too, for both to be one thing."""


PERSONS: Final = frozenset({"corrections"})
"""Facts that only sessions driven by a person can show."""


@dataclass(frozen=True)
class Retro:
    """Everything a look back found, best first."""

    bets: tuple[Bet, ...]
    shown: tuple[Bet, ...]
    """The short list."""


def look_back(
    window: Window,
    frame: Frame,
    size: Callable[[str], int],
    heuristics: Sequence[Heuristic] = HEURISTICS,
) -> Retro:
    """The bets of a window; `size` says how many tokens a text takes."""
    found = [_bet(finding, window, frame, size) for it in heuristics for finding in it.find(window)]
    ranked = _without_doubles(sorted(found, key=rank))
    return Retro(tuple(ranked), tuple(short_list(ranked)))


def _bet(finding: Finding, window: Window, frame: Frame, size: Callable[[str], int]) -> Bet:
    adds = finding.change.design is Design.LINE
    only_persons = finding.metric.fact in PERSONS
    return count(
        finding,
        frame,
        of_sessions=sum(it.is_persons or not only_persons for it in window.sessions.values()),
        rent_tokens=size(finding.change.text) if adds else None,
    )


def _without_doubles(ranked: Iterable[Bet]) -> list[Bet]:
    kept: list[Bet] = []
    seen: list[set[tuple[int, int]]] = []
    for bet in ranked:
        places = {(it.session, it.seq) for it in bet.finding.occurrences}
        if not any(len(places & other) >= SHARED * len(places) for other in seen):
            kept.append(bet)
            seen.append(places)
    return kept


def short_list(ranked: Sequence[Bet]) -> list[Bet]:
    """One best bet, up to two to look into, up to two quick fixes: worth something, not all alike.

    They stand in that order, which is the order they are numbered in.
    """
    used: Counter[str] = Counter()
    worth = [bet for bet in ranked if bet.net is None or bet.score > 0]

    def taken(category: Category | None, room: int) -> list[Bet]:
        chosen: list[Bet] = []
        for bet in worth:
            fits = category is None or bet.finding.category is category
            if len(chosen) < room and fits and used[bet.finding.heuristic] < OF_ONE:
                chosen.append(bet)
                used[bet.finding.heuristic] += 1
        worth[:] = [bet for bet in worth if bet not in chosen]
        return chosen

    return [
        *taken(None, 1),
        *taken(Category.INVESTIGATE, INVESTIGATE),
        *taken(Category.FIX, FIXES),
    ]
