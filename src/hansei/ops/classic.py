"""What the simple rules would have offered from each session, to compare our own offers with.

They see one session at a time and know nothing of skips, of the gate or of what is said already;
what they find is counted and shown, never saved.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from hansei.learn import classic
from hansei.ops.processes import seldom_collecting
from hansei.store import reading

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hansei.learn.model import Offer
    from hansei.projection.window import Session
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


def simple(store: Store, sessions: Iterable[Session]) -> Simple:
    """The simple rules on each of these sessions."""
    listed = list(sessions)
    with seldom_collecting():
        found = [
            offer
            for session in listed
            for offer in classic.offers(
                session.name, classic.transcript(reading.events(store, session.number))
            )
        ]
    return Simple(len(listed), tuple(found))


def per_hundred(offers: int, sessions: int) -> float | None:
    """Offers for a hundred sessions; None where there is no session."""
    return 100 * offers / sessions if sessions else None
