"""What stretches of sessions took: every request is counted once, however many stretches hold it.

Calls are often made side by side, and then fail side by side: each of their episodes spans the same
requests. The first one is billed for them.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from hansei.bets.model import Occurrence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hansei.projection.facts.asked import Asked
    from hansei.projection.window import Window


class Span(NamedTuple):
    """A stretch of a session that would not have been needed."""

    session: int
    first: int
    """The call it begins after."""
    last: int
    """The call it ends with; the same as `first` where nothing came of it."""
    minutes: float | None = None
    whole: bool = False
    """Whether the request for the first call was for nothing too, where it asked for no more."""
    shown: int | None = None
    """The event to open, where that is not the first call."""
    tries: tuple[int, ...] = ()
    """The calls that failed, and what ended it: where a person spoke in between, only requests of
    the turns of these are its doing. Empty counts all."""


def occurrences(window: Window, spans: Iterable[Span]) -> tuple[Occurrence, ...]:
    """Spans with what they took, in order."""
    counted: dict[int, set[int]] = defaultdict(set)
    useless = defaultdict(set)
    told = sorted(set(spans))
    for span in told:
        if span.whole:
            useless[span.session].add(span.first)
    return tuple(
        Occurrence(
            span.session,
            span.first if span.shown is None else span.shown,
            _taken(window, span, counted[span.session], useless[span.session]),
            span.minutes,
        )
        for span in told
    )


def _taken(window: Window, span: Span, counted: set[int], useless: set[int]) -> int | None:
    between = [
        it
        for it in window.requests_between(span.session, span.first, span.last)
        if not span.tries or _belongs(window, span, it)
    ]
    if span.whole:
        asking = window.request_for(span.session, span.first)
        if asking is not None and set(asking.calls) <= useless:
            between = [asking, *between]
    if not between:
        return window.rent_of_call(span.session, span.first)
    fresh = [it for it in between if it.seq not in counted]
    counted.update(it.seq for it in fresh)
    known = [it.tokens for it in between if it.tokens is not None]
    return sum(it.tokens or 0 for it in fresh) if known else None


def _belongs(window: Window, span: Span, request: Asked) -> bool:
    """Whether a request was made in a turn in which it was tried; an answer ends the turn."""
    asking: Asked | None = request
    if not request.calls:
        asking = window.request_for(span.session, request.seq - 1)
    turns = {window.turns[span.session, it] for it in span.tries}
    calls = () if asking is None else asking.calls
    return any(window.turns[span.session, it] in turns for it in calls)


def total(found: Iterable[Occurrence]) -> int | None:
    """All of it; None where no agent tells."""
    known = [it.tokens for it in found if it.tokens is not None]
    return sum(known) if known else None
