"""What the simple rules would have offered from each session, to compare our own offers with.

They see one session at a time and know nothing of skips, of the gate or of what is said already;
what they find is counted and shown, never saved.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from hansei.learn import classic
from hansei.ops import sessions
from hansei.ops.processes import seldom_collecting
from hansei.ops.windows import grounds
from hansei.store import reading

if TYPE_CHECKING:
    from hansei.learn.model import Offer
    from hansei.ops.scope import Scope
    from hansei.store.database import Store


class Tally(NamedTuple):
    """What one rule offers."""

    rule: str
    offers: int
    names: tuple[tuple[str, int], ...]
    """What it would call them, the most frequent first."""


@dataclass(frozen=True)
class Simple:
    """What all of them offer."""

    sessions: int
    offers: tuple[Offer, ...]
    """By session."""

    @property
    def tallies(self) -> list[Tally]:
        """By rule, in their order."""
        return [self._tally(rule) for rule in classic.RULES]

    def _tally(self, rule: str) -> Tally:
        names = Counter(it.name for it in self.offers if it.detector == rule)
        often = sorted(names.items(), key=lambda it: (-it[1], it[0]))
        return Tally(rule, names.total(), tuple(often))


def simple(store: Store, scope: Scope, now: int, session: str | None = None) -> Simple:
    """The simple rules on each session of a scope, or on one of them."""
    only = None if session is None else sessions.find(store, session)
    chosen = [
        it
        for ground in grounds(store, scope, now)
        for it in ground.window.sessions.values()
        if only is None or it.number == only
    ]
    with seldom_collecting():
        found = [
            offer
            for it in chosen
            for offer in classic.offers(
                it.name, classic.transcript(reading.events(store, it.number))
            )
        ]
    return Simple(len(chosen), tuple(found))


def per_hundred(offers: int, sessions: int) -> float | None:
    """Offers for a hundred sessions; None where there is no session."""
    return 100 * offers / sessions if sessions else None
