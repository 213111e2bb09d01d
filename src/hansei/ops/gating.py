"""Offers before the gate, with the texts of the sessions they come from.

A session that goes on from another, or was started by it, is read with what came before it there:
what an agent was told to do may be a web page's words. And what an agent read in one session it may
have kept in a file for the next, so untrusted texts of earlier sessions are asked too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from hansei.config import DAY_MS
from hansei.errors import NotFound
from hansei.events.model import Origin, Prompt
from hansei.learn import gate, labels
from hansei.learn.model import UNTRUSTED
from hansei.learn.spans import Span, spans
from hansei.learn.warrants import Circumstance
from hansei.ops.sessions import find, short_id
from hansei.projection.facts.subjects import subject
from hansei.store import query, reading
from hansei.store.query import Choice, Pattern
from hansei.store.rows import json_list

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hansei.learn.gate import Verdict
    from hansei.learn.labels import Part
    from hansei.learn.model import Offer
    from hansei.projection.facts.subjects import Ground
    from hansei.store.database import Store
    from hansei.store.reading import Numbered

MOST_BEFORE: Final = 8
"""Sessions that one may go back to; agents nest two or three deep."""
_BETWEEN: Final = 60
"""Characters between the two longest words of a run: eight words fit, and a line's number."""
_LONGEST_PATTERN: Final = 900
"""Characters that are looked for at once."""
_READ: Final = ("tool_result", "prompt")
"""Kinds of events in which somebody else's words can stand."""


def judged(texts: Texts, offer: Offer, names: Mapping[str, str]) -> Verdict:
    """What may become of an offer; `names` tells the whole names of its evidence's sessions."""
    told = {it: texts.of(whole) for it, whole in sorted(names.items())}
    circumstances = {
        it: known for it, whole in names.items() if (known := texts.circumstance(whole)) is not None
    }
    clean, _ = gate.cleaned(offer)
    before = texts.elsewhere(gate.matter(clean), names.values())
    return gate.judged(offer, told, circumstances, before)


class Texts:
    """The texts of sessions, each read once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._grounds: dict[int, Ground] = {}
        self._known: dict[int, list[Span]] = {}

    def of(self, name: str) -> list[Span]:
        """Those of a session as it is called; none where it is not stored any more."""
        number = self._number(name)
        return [] if number is None else self._of(number)

    def _number(self, name: str) -> int | None:
        try:
            return find(self._store, name)
        except NotFound:
            return None

    def _of(self, number: int) -> list[Span]:
        if number not in self._known:
            self._known[number] = self._told(number)
        return self._known[number]

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

    # --- whether sessions are independent ---

    def circumstance(self, name: str) -> Circumstance | None:
        """When and what for a session was, and which it came from; None where it is gone."""
        number = self._number(name)
        if number is None:
            return None
        line = [number, *self._before(number)]
        started, parent = self._store.db.execute(
            "SELECT started_at, parent FROM sessions WHERE id = ?", (line[-1],)
        ).fetchone()
        # The first of a line may itself come from one that is gone; its siblings do too.
        family = self._native(line[-1]) if parent is None or len(line) > 1 else str(parent)
        day = None if started is None else started // DAY_MS
        return Circumstance(family, day, self._task(line[-1]))

    def _task(self, number: int) -> str:
        asked = (
            event.text
            for _, event in reading.events(self._store, number)
            if isinstance(event, Prompt) and event.origin in (Origin.HUMAN, Origin.QUEUED_HUMAN)
        )
        return labels.plain(next(asked, "")).strip()

    # --- words that were kept from an earlier session ---

    def elsewhere(self, wanted: Sequence[Part], names: Iterable[str]) -> dict[str, list[Span]]:
        """Untrusted texts of earlier sessions in which parts of an offer may stand.

        Of all workspaces: what an agent keeps in the home folder goes from one to another.
        """
        own = {number for it in names if (number := self._number(it)) is not None}
        others = self._earlier(own)
        patterns = list(_patterns(wanted))
        if not others or not patterns:
            return {}
        met: set[int] = set()
        with query.opened(self._store) as log:
            for text in patterns:
                log.find(Pattern(text, regex=True), Choice(others, _READ))
                met |= {it.session for places in log.places(None, 1000) for it in places}
        return {
            short_id(self._native(number)): [it for it in self._of(number) if it.label in UNTRUSTED]
            for number in sorted(met)
        }

    def _earlier(self, own: Iterable[int]) -> list[int]:
        """Sessions that began before the last of some ended."""
        rows = self._store.db.execute(
            "SELECT o.id FROM sessions o, (SELECT max(coalesce(ended_at, started_at)) AS ended"
            " FROM sessions WHERE id IN (SELECT value FROM json_each(?1))) m"
            " WHERE o.id NOT IN (SELECT value FROM json_each(?1)) AND o.next_seq > 1"
            " AND (m.ended IS NULL OR o.started_at IS NULL OR o.started_at <= m.ended)"
            " ORDER BY o.id",
            (json_list(own),),
        )
        return [number for (number,) in rows]


def _patterns(wanted: Iterable[Part]) -> Iterable[str]:
    """Expressions for which texts are worth reading: the two longest words of every run."""
    told = dict.fromkeys(_pair(run.split()) for part in wanted for run in part.runs)
    room: list[str] = []
    for one in told:
        if room and sum(map(len, room)) + len(one) > _LONGEST_PATTERN:
            yield "|".join(room)
            room = []
        room.append(one)
    if room:
        yield "|".join(room)


def _pair(words: Sequence[str]) -> str:
    longest = sorted(sorted(range(len(words)), key=lambda it: (-len(words[it]), it))[:2])
    return f"[\\s\\S]{{1,{_BETWEEN}}}".join(re.escape(words[it]) for it in longest)
