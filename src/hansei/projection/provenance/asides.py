"""Requests that did not carry the conversation, or that were told only in part.

Now and then a request's context is far smaller than the one before, and the next is as large again
as if nothing had happened. Nothing was dropped then: the agent asked something aside, or told only
a part of the count (one divides it among parallel calls). Taking it for a drop would have the whole
context leave and come back. Which it was is decided by size: the return is explained either by the
events since the large request or by those since the small one, and the better explanation wins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hansei.projection.provenance.calibration import Rates, expected

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hansei.projection.provenance.steps import Step

AHEAD = 4
"""Steps within which a context has to be back; asides come one or two in a row."""


class Aside(NamedTuple):
    """A request outside the conversation, and what it was billed."""

    seq: int
    context: int


def without_asides(steps: Sequence[Step]) -> tuple[list[Step], list[Aside]]:
    """The steps of the conversation itself, and the requests beside it."""
    main: list[Step] = []
    asides: list[Aside] = []
    place = 0
    while place < len(steps):
        back = _back(steps, place, main[-1].context) if main else None
        if back is not None:
            skipped = steps[place:back]
            asides.extend(Aside(it.seq, it.context) for it in skipped)
            main.append(_joined(skipped, steps[back]))
            place = back + 1
        else:
            main.append(steps[place])
            place += 1
    return main, asides


def _back(steps: Sequence[Step], place: int, before: int) -> int | None:
    """Where the context is back, if the step at this place leaves it only for a while."""
    if steps[place].context >= before:
        return None
    ahead = range(place + 1, min(place + 1 + AHEAD, len(steps)))
    back = next((it for it in ahead if steps[it].context >= before), None)
    if back is None or any(it.compacted for it in steps[place : back + 1]):
        return None
    rates = Rates()
    sizes = [sum(part.tokens for part in expected(it, rates)) for it in steps[place : back + 1]]
    since_large = abs(steps[back].context - before - sum(sizes))
    since_small = abs(steps[back].context - steps[back - 1].context - sizes[-1])
    return back if since_large < since_small else None


def _joined(skipped: Sequence[Step], back: Step) -> Step:
    every = (*skipped, back)
    return back._replace(
        given=[piece for it in every for piece in it.given],
        answers=[answer for it in every for answer in it.answers],
        prompted=any(it.prompted for it in every),
        unsized=next((it.unsized for it in every if it.unsized is not None), None),
    )
