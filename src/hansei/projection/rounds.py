"""What calls took, all told: the text they put into the context, and requests made only for them.

A call that need not have been made would have spared two things: its own words and its result would
not have been carried by later requests, and where a request made no other call, that request
would not have been sent, nor what it said been carried. A request that falls away carries nothing
either, so what it carried of the other calls is not counted again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from hansei.projection.provenance import Kind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from hansei.projection.facts.called import Called
    from hansei.projection.provenance import Carried

_SPOKEN = frozenset((Kind.REPLY, Kind.THOUGHT))


@dataclass(frozen=True)
class Rounds:
    """The requests of one session that tell their context, and the calls each of them made."""

    requests: Sequence[int]
    """Their events, in order."""
    contexts: Mapping[int, int]
    """Tokens that each request carried."""
    spoken: Mapping[int, Sequence[Carried]]
    """What each request said beside its calls, as far as it came back."""
    calls: Mapping[int, Mapping[int, int]]
    """Which calls a request made, with the tokens of each; only those that came back."""
    pieces: Mapping[int, Sequence[Carried]]
    """What a call and its result put into the context, by call."""

    def spared(self, calls: Collection[int]) -> dict[int, int]:
        """Tokens that would not have been billed without these calls, by call.

        Calls that no request of known context carried are left out: what they took is not known.
        """
        known = {call for call in calls if call in self.pieces}
        gone = self._made_only(known)
        spared = dict.fromkeys(sorted(known), 0)
        for made in self.calls.values():
            for call, said in made.items():
                if call in known:
                    spared[call] += said + _rent(self.pieces[call], gone)
        for request in gone:
            for call, share in self._shared(request, gone):
                spared[call] += share
        return spared

    def rounds_of(self, calls: Collection[int]) -> dict[int, int]:
        """Tokens of the requests that made these calls and no others, by call.

        What asking for all of it at once would have spared: the answers would be carried as well.
        """
        known = {call for call in calls if call in self.pieces}
        gone = self._made_only(known)
        found = dict.fromkeys(sorted(known), 0)
        for request in gone:
            for call, share in self._shared(request, gone):
                found[call] += share + self.calls[request][call]
        return found

    def _made_only(self, calls: Collection[int]) -> list[int]:
        wanted = set(calls)
        return [
            it for it in self.requests if self.calls.get(it) and self.calls[it].keys() <= wanted
        ]

    def _shared(self, request: int, gone: Sequence[int]) -> Iterator[tuple[int, int]]:
        """What a request took that falls away, by the calls it made."""
        spoken = self.spoken.get(request, ())
        whole = self.contexts[request] + sum(it.tokens for it in spoken) + _rent(spoken, gone)
        several = sorted(self.calls[request])
        for place, call in enumerate(several):
            # Shared evenly, to the last token.
            yield call, whole * (place + 1) // len(several) - whole * place // len(several)


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
    made: dict[int, dict[int, int]] = defaultdict(dict)
    held: dict[int, list[Carried]] = {}
    for call in calls:
        own = of_event.get(call.seq, [])
        first = min((it.since for it in own), default=None)
        if first in before:
            made[before[first]][call.seq] = sum(it.tokens for it in own)
            result = [] if call.result is None else of_event.get(call.result, [])
            held[call.seq] = own + result
    spoken: dict[int, list[Carried]] = defaultdict(list)
    for event in of_event.values():
        for piece in event:
            if piece.kind in _SPOKEN and piece.since in before:
                spoken[before[piece.since]].append(piece)
    contexts = dict(zip(requests, accumulate(growth), strict=True))
    return Rounds(requests, contexts, spoken, made, held)


def _rent(pieces: Iterable[Carried], gone: Sequence[int]) -> int:
    """What carrying pieces took, without the requests that fall away."""
    return sum(it.tokens * (it.requests - _within(gone, it)) for it in pieces)


def _within(gone: Sequence[int], piece: Carried) -> int:
    """How many of the requests that fall away carried a piece."""
    end = len(gone) if piece.until is None else bisect_left(gone, piece.until)
    return end - bisect_left(gone, piece.since)
