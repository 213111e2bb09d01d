"""What calls took, all told: the text they put into the context, and requests made only for them.

A call that need not have been made would have spared two things: its own words and its result would
not have been carried by later requests, and where a request made no other call, that request
would not have been sent. A request that falls away carries nothing either, so what it carried of
the other calls is not counted again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from hansei.projection.provenance import Kind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from hansei.projection.facts.called import Called
    from hansei.projection.provenance import Carried

_ANSWERS = frozenset((Kind.CALL, Kind.REPLY, Kind.THOUGHT))


@dataclass(frozen=True)
class Rounds:
    """The requests of one session that tell their context, and the calls each of them made."""

    requests: Sequence[int]
    """Their events, in order."""
    contexts: Mapping[int, int]
    """Tokens that each request carried."""
    answers: Mapping[int, int]
    """Tokens that each request answered, as far as they came back."""
    calls: Mapping[int, frozenset[int]]
    """Which calls a request made; only those that a later request carried."""
    pieces: Mapping[int, Sequence[Carried]]
    """What a call and its result put into the context, by call."""

    def spared(self, calls: Collection[int]) -> dict[int, int]:
        """Tokens that would not have been billed without these calls, by call.

        Calls that no request of known context carried are left out: what they took is not known.
        """
        known = {call for call in calls if call in self.pieces}
        gone = [it for it in self.requests if self.calls.get(it) and self.calls[it] <= known]
        spared = {
            call: sum(it.tokens * (it.requests - _within(gone, it)) for it in self.pieces[call])
            for call in sorted(known)
        }
        for request in gone:
            made = sorted(self.calls[request])
            whole = self.contexts[request] + self.answers.get(request, 0)
            for place, call in enumerate(made):
                # Shared evenly, to the last token.
                spared[call] += whole * (place + 1) // len(made) - whole * place // len(made)
        return spared

    def carried(self, call: int) -> int | None:
        """How many requests carried a call's result; None where that is not known."""
        return max((it.requests for it in self.pieces.get(call, ())), default=None)


def rounds(pieces: Iterable[Carried], calls: Iterable[Called]) -> Rounds:
    """One session's requests, from what its contexts were made of."""
    came, left = Counter[int](), Counter[int]()
    of_event: dict[int, list[Carried]] = defaultdict(list)
    for piece in pieces:
        came[piece.since] += piece.tokens
        if piece.until is not None:
            left[piece.until] += piece.tokens
        of_event[piece.seq].append(piece)
    requests = sorted({*came, *left})
    growth = (came[it] - left[it] for it in requests)
    before = dict(zip(requests[1:], requests, strict=False))
    made: dict[int, set[int]] = defaultdict(set)
    held: dict[int, list[Carried]] = {}
    for call in calls:
        first = min((it.since for it in of_event.get(call.seq, ())), default=None)
        if first in before:
            made[before[first]].add(call.seq)
            result = () if call.result is None else of_event.get(call.result, ())
            held[call.seq] = [*of_event[call.seq], *result]
    answers = Counter[int]()
    for event in of_event.values():
        for piece in event:
            spoken = piece.kind in _ANSWERS or piece.seq in held
            if spoken and piece.since in before:
                answers[before[piece.since]] += piece.tokens
    return Rounds(
        requests,
        dict(zip(requests, accumulate(growth), strict=True)),
        answers,
        {it: frozenset(those) for it, those in made.items()},
        held,
    )


def _within(gone: Sequence[int], piece: Carried) -> int:
    """How many of the requests that fall away carried a piece."""
    end = len(gone) if piece.until is None else bisect_left(gone, piece.until)
    return end - bisect_left(gone, piece.since)
