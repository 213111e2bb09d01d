"""Running the heuristics over a window, and ranking what they found.

Of two bets about the same occurrences the one with the higher score stays. The list people see
first is short: one best bet, two to look into, two quick fixes, and never more than two of one
heuristic among them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hansei.bets.counting import Frame, count
from hansei.bets.model import Category, Design
from hansei.retro.catalogue import HEURISTICS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from hansei.bets.model import Bet, Finding
    from hansei.retro.contract import Heuristic
    from hansei.retro.window import Window

INVESTIGATE: Final = 2
FIXES: Final = 2
OF_ONE: Final = 2
"""Bets of one heuristic in the short list."""
SHARED: Final = 0.8
"""The share of a bet's sessions and events that another one has too, for both to be one thing."""


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
    ranked = _without_doubles(sorted(found, key=lambda bet: (-bet.score, bet.id)))
    return Retro(tuple(ranked), tuple(short_list(ranked)))


def _bet(finding: Finding, window: Window, frame: Frame, size: Callable[[str], int]) -> Bet:
    adds = finding.change.design is Design.LINE
    return count(
        finding,
        frame,
        of_sessions=len(window.sessions),
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


def short_list(ranked: Iterable[Bet]) -> list[Bet]:
    """One best bet, then up to two of each category, worth something, of different heuristics."""
    room = {Category.FIX: FIXES, Category.INVESTIGATE: INVESTIGATE}
    used: Counter[str] = Counter()
    chosen: list[Bet] = []
    for bet in ranked:
        if bet.score <= 0 or used[bet.finding.heuristic] >= OF_ONE:
            continue
        if chosen and not room[bet.finding.category]:
            continue
        if chosen:
            room[bet.finding.category] -= 1
        used[bet.finding.heuristic] += 1
        chosen.append(bet)
    return chosen
