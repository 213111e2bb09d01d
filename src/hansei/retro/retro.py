"""Running the heuristics over a window, ranking what they found, and what of it people see first.

The list people see first is short: one best bet, two to look into, two quick fixes, and never more
than two of one heuristic among them. Two good bets are better than five of which three are weak: so
there are floors, and what lies below them is told on demand.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from hansei.bets.counting import count, rank
from hansei.bets.model import Category, Design
from hansei.bets.recurring import Fact, in_context
from hansei.projection.remarks import heard
from hansei.retro.catalogue import HEURISTICS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from hansei.bets.counting import Frame
    from hansei.bets.model import Bet, Finding
    from hansei.projection.window import Window
    from hansei.retro.contract import Heuristic

INVESTIGATE: Final = 2
FIXES: Final = 2
OF_ONE: Final = 2
"""Bets of one heuristic in the short list."""
SHARED: Final = 0.8
"""The share of a bet's sessions and events that another one has too, for both to be one thing."""
LEAST: Final = 20_000
"""Tokens that acting has to save: one request of an ordinary session. Less is not noticed."""
LEAGUE: Final = 0.05
"""Of the best one's score: what is worth a twentieth of it only takes attention from it."""
RETURNS: Final = 0.3
"""Of what was not seen on the last active days: the least chance that it is not over already."""

PEOPLES_TIME: Final = frozenset({Fact.CORRECTIONS, Fact.REPLACED, Fact.REWORKED})
"""What takes people's time, which no token tells: where tokens rank, it would always come last."""

EVERYWHERE: Final = "the instruction file of this folder is read in all your projects"

PERSONS: Final = frozenset({Fact.CORRECTIONS})
"""Facts that only sessions can show in which people had their say."""


def look_back(
    window: Window,
    frame: Frame,
    size: Callable[[str], int],
    heuristics: Sequence[Heuristic] = HEURISTICS,
) -> list[Bet]:
    """The bets of a window, best first; `size` says how many tokens a text takes."""
    told = (finding for it in heuristics for finding in it.find(window))
    found = (_bet(it, window, frame, size) for it in _that_hold(told, window))
    return sorted(found, key=rank)


def _that_hold(found: Iterable[Finding], window: Window) -> Iterator[Finding]:
    """Without lines about one folder where all projects would read them; of others that is said."""
    for it in found:
        if it.change.design is not Design.LINE or not window.is_user_wide:
            yield it
        elif it.anywhere:
            yield replace(it, because=(*it.because, EVERYWHERE))


def _bet(finding: Finding, window: Window, frame: Frame, size: Callable[[str], int]) -> Bet:
    adds = finding.change.design is Design.LINE
    only_persons = finding.metric.fact in PERSONS
    return count(
        finding,
        frame,
        of_sessions=len(heard(window) if only_persons else window.sessions),
        rent_tokens=size(finding.change.text) if adds else None,
    )


def distinct(bets: Iterable[Bet]) -> list[Bet]:
    """Of several heuristics' bets about the same occurrences the first.

    The same holds for bets about one file that fills contexts: whoever makes it smaller acts on all
    of them. What one heuristic tells apart is two things, also where one event shows both: a list
    of skills shows every one of them.
    """
    kept: list[Bet] = []
    seen: list[tuple[str, set[tuple[int, int]], str | None]] = []
    for bet in bets:
        name = bet.finding.heuristic
        places = {(it.session, it.seq) for it in bet.finding.occurrences}
        file = in_context(bet.finding.metric.fact, bet.finding.metric.subject)
        if not any(
            name != other
            and (len(places & there) >= SHARED * len(places) or (file and file == that))
            for other, there, that in seen
        ):
            kept.append(bet)
            seen.append((name, places, file))
    return kept


def short_list(ranked: Sequence[Bet]) -> list[Bet]:
    """One best bet, up to two to look into, up to two quick fixes: worth something, not all alike.

    They stand in that order, which is the order they are numbered in. The last place of either
    kind is for what takes people's time, where there is such a bet.
    """
    used: Counter[str] = Counter()
    worth = _worth(ranked)

    def taken(category: Category | None, room: int) -> list[Bet]:
        chosen: list[Bet] = []
        fitting = [it for it in worth if category is None or it.finding.category is category]
        for bet in _with_people(fitting, room) if category is not None else fitting:
            if len(chosen) < room and used[bet.finding.heuristic] < OF_ONE:
                chosen.append(bet)
                used[bet.finding.heuristic] += 1
        worth[:] = [bet for bet in worth if bet not in chosen]
        return chosen

    return [
        *taken(None, 1),
        *taken(Category.INVESTIGATE, INVESTIGATE),
        *taken(Category.FIX, FIXES),
    ]


def may_be_over(bet: Bet) -> bool:
    """Whether it was not seen lately and says itself that it hardly returns."""
    return bool(bet.silent) and bet.confidence < RETURNS


def _with_people(ranked: Sequence[Bet], room: int) -> list[Bet]:
    """The same with the first bet on people's time in the last place there is room for."""
    told = list(ranked)
    first = next((it for it in told if _takes_people(it)), None)
    if first is not None and told.index(first) >= room:
        told.remove(first)
        told.insert(room - 1, first)
    return told


def _takes_people(bet: Bet) -> bool:
    return bet.net is None and bet.finding.metric.fact in PEOPLES_TIME


def _worth(ranked: Sequence[Bet]) -> list[Bet]:
    """Those that are above the floors; what it takes is not known of all."""
    able = [
        bet
        for bet in ranked
        if not bet.finding.on_demand
        and (bet.net is None or bet.net >= LEAST)
        and not may_be_over(bet)
    ]
    best = max((bet.score for bet in able), default=0.0)
    return [bet for bet in able if bet.net is None or bet.score >= LEAGUE * best]
