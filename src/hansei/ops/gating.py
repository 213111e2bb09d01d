"""Offers before the gate, with the texts of the sessions they come from.

A session that goes on from another, or was started by it, is read with what came before it there:
what an agent was told to do may be a web page's words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.errors import NotFound
from hansei.learn import gate
from hansei.learn.spans import Span, spans
from hansei.ops.sessions import find, short_id
from hansei.projection.facts.subjects import subject
from hansei.store import reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hansei.learn.gate import Verdict
    from hansei.learn.model import Offer
    from hansei.projection.facts.subjects import Ground
    from hansei.store.database import Store
    from hansei.store.reading import Numbered

MOST_BEFORE = 8
"""Sessions that one may go back to; agents nest two or three deep."""


def judged(store: Store, offers: Iterable[Offer]) -> list[Verdict]:
    """What may become of each offer, in their order."""
    texts = Texts(store)
    return [
        gate.judged(offer, {name: texts.of(name) for name in {it.session for it in offer.evidence}})
        for offer in offers
    ]


class Texts:
    """The texts of sessions, each read once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._grounds: dict[int, Ground] = {}
        self._known: dict[str, list[Span]] = {}

    def of(self, name: str) -> list[Span]:
        """Those of a session as it is called; none where it is not stored any more."""
        if name not in self._known:
            try:
                number = find(self._store, name)
            except NotFound:
                self._known[name] = []
            else:
                self._known[name] = self._told(number)
        return self._known[name]

    def _told(self, number: int) -> list[Span]:
        events = list(reading.events(self._store, number))
        found = self._spans(number, events)
        began = next((event.at for _, event in events if event.at is not None), None)
        for before in self._before(number):
            earlier = [
                it
                for it in reading.events(self._store, before)
                if began is None or it.event.at is None or it.event.at <= began
            ]
            told = short_id(self._native(before))
            found = [it._replace(session=told) for it in self._spans(before, earlier)] + found
        return found

    def _spans(self, number: int, events: Sequence[Numbered]) -> list[Span]:
        return spans(events, subject(self._store, number, self._grounds).roots)

    def _before(self, number: int) -> list[int]:
        """The sessions that a session came from, the nearest first."""
        found: list[int] = []
        for _ in range(MOST_BEFORE):
            row = self._store.db.execute(
                "SELECT p.id FROM sessions s JOIN sessions p"
                " ON p.agent = s.agent AND p.native = s.parent WHERE s.id = ?",
                (found[-1] if found else number,),
            ).fetchone()
            if row is None or row[0] in (*found, number):
                break
            found.append(row[0])
        return found

    def _native(self, number: int) -> str:
        (native,) = self._store.db.execute(
            "SELECT native FROM sessions WHERE id = ?", (number,)
        ).fetchone()
        return str(native)
