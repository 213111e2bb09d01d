"""Who pays rent in the context: every billed input token booked on the event that put it there.

The ledger holds the pieces that are in the context. A request's context is measured, and after each
step the pieces add up to it exactly: what is new shares the growth by size, what the new texts
cannot account for is booked as unexplained, and where the context became smaller pieces leave. What
stays is billed again with every request.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from hansei.projection.provenance.calibration import Sized, Thoughts, expected, usual_spread
from hansei.projection.provenance.pieces import RESULT_KINDS, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hansei.projection.provenance.calibration import Rates
    from hansei.projection.provenance.steps import Step


class Left(StrEnum):
    """Why a piece is no longer in the context."""

    COMPACTED = "compacted"
    DROPPED = "dropped"  # the context shrank without a word; the oldest results go first
    TURN = "turn"  # thoughts of a turn leave when the next one begins


class Carried(NamedTuple):
    """A piece of the context and how long it was carried: one row."""

    seq: int
    """The event that put it there; of a prefix and what is unexplained, the request."""
    kind: Kind
    tokens: int
    since: int
    """The first request that carried it, by its number."""
    requests: int
    """How many requests carried it."""
    left: Left | None
    until: int | None
    """The request that no longer carried it; None where it stayed to the end."""
    label: str = ""

    @property
    def billed(self) -> int:
        """Its rent in tokens: written once, then read with every further request."""
        return self.tokens * self.requests


@dataclass(slots=True)
class _Held:
    seq: int
    kind: Kind
    tokens: int
    since: int
    entered: int
    label: str = ""


@dataclass(slots=True)
class _Shelf:
    """Pieces in the order they came; those before `head` have left."""

    pieces: list[_Held] = field(default_factory=list)
    head: int = 0


_RESULTS = frozenset({*RESULT_KINDS.values(), Kind.TOOL})
_GROUND = frozenset({Kind.PREFIX, Kind.INSTRUCTIONS})


def _shelf_of(kind: Kind) -> int:
    """What leaves first when nothing says what left.

    What never was explained may be a reminder that is gone again, and agents that make room clear
    the oldest results first. The ground every request stands on goes last.
    """
    if kind is Kind.UNEXPLAINED:
        return 0
    if kind in _RESULTS:
        return 1
    return 3 if kind in _GROUND else 2


_SHELVES = {kind: _shelf_of(kind) for kind in Kind}
_by_entry = itemgetter(*map(Carried._fields.index, ("since", "seq", "kind", "label")))


class Ledger:
    """The context of a session, step by step."""

    def __init__(self, rates: Rates) -> None:
        self.rates = rates
        self.rows: list[Carried] = []
        self._shelves = [_Shelf() for _ in range(4)]
        self._turn: list[_Held] = []
        self._total = 0
        self._step = 0
        self._now = 0

    def begin(self, step: Step, instructions: Mapping[str, int], ground: int) -> None:
        """The first request: what is known of it, then what it stands on.

        At most `ground` tokens of that are a prefix: no context without them, they never leave. The
        rest is unexplained, such as a conversation the transcript does not hold.
        """
        self._now = step.seq
        known = expected(step, self.rates)
        self._put(known, min(step.context, round(sum(it.tokens for it in known))))
        letter = self.rates.letter
        for path, size in sorted(instructions.items()):
            room = step.context - self._total
            self._add(Sized(step.seq, Kind.INSTRUCTIONS, size * letter), room, path)
        self._hold(step.seq, Kind.PREFIX, min(ground, step.context - self._total))
        self._hold(step.seq, Kind.UNEXPLAINED, step.context - self._total)
        self._step += 1

    def take(self, step: Step) -> None:
        """One more request: pieces leave, pieces come, and the sum is its context."""
        self._now = step.seq
        if step.compacted:
            self._clear()
        elif step.prompted and self.rates.thoughts is Thoughts.TURN:
            for held in self._turn:
                self._leave(held, held.tokens, Left.TURN)
        if step.compacted or step.prompted:
            self._turn = []
        new = expected(step, self.rates)
        size = min(round(sum(it.tokens for it in new)), step.context)
        room = step.context - self._total
        if room < 0:
            self._drop(size - room)
            room = size
        # Within what is usual the fit is a little off; beyond it something else came in.
        shared = room if size and room <= size + usual_spread(size) else min(size, room)
        self._put(new, shared)
        rest = step.context - self._total
        if step.unsized is None:
            self._hold(step.seq, Kind.UNEXPLAINED, rest)
        else:
            self._hold(step.unsized.seq, step.unsized.kind, rest)
        self._step += 1

    def close(self) -> list[Carried]:
        """Every piece there was, those that stayed to the end included, by event."""
        stayed = [
            self._row(held, held.tokens, None)
            for shelf in self._shelves
            for held in shelf.pieces
            if held.tokens
        ]
        return sorted([*self.rows, *stayed], key=_by_entry)

    def _put(self, new: Sequence[Sized], total: int) -> None:
        for (seq, kind, _), tokens in zip(new, _shared(new, total), strict=True):
            self._hold(seq, kind, tokens)

    def _add(self, piece: Sized, room: int, label: str) -> None:
        self._hold(piece.seq, piece.kind, min(round(piece.tokens), room), label)

    def _hold(self, seq: int, kind: Kind, tokens: int, label: str = "") -> None:
        if tokens > 0:
            held = _Held(seq, kind, tokens, self._now, self._step, label)
            self._shelves[_SHELVES[kind]].pieces.append(held)
            self._total += tokens
            if kind is Kind.THOUGHT:
                self._turn.append(held)

    def _clear(self) -> None:
        """A compaction replaces everything but the ground."""
        for shelf in self._shelves[:3]:
            for held in shelf.pieces[shelf.head :]:
                self._leave(held, held.tokens, Left.COMPACTED)
            shelf.head = len(shelf.pieces)

    def _drop(self, amount: int) -> None:
        for shelf in self._shelves:
            while amount and shelf.head < len(shelf.pieces):
                held = shelf.pieces[shelf.head]
                part = min(amount, held.tokens)
                self._leave(held, part, Left.DROPPED)
                amount -= part
                if not held.tokens:
                    shelf.head += 1

    def _leave(self, held: _Held, tokens: int, why: Left) -> None:
        if tokens:
            self.rows.append(self._row(held, tokens, why))
            held.tokens -= tokens
            self._total -= tokens

    def _row(self, held: _Held, tokens: int, why: Left | None) -> Carried:
        until = None if why is None else self._now
        carried = self._step - held.entered
        return Carried(held.seq, held.kind, tokens, held.since, carried, why, until, held.label)


def _shared(parts: Sequence[Sized], total: int) -> list[int]:
    """Whole numbers in proportion to sizes that add up to the total exactly."""
    whole = sum(it.tokens for it in parts)
    if whole <= 0:
        return [0] * len(parts)
    shares = []
    size = 0.0
    before = 0
    for _, _, tokens in parts:
        size += tokens
        end = min(round(total * (size / whole)), total)
        shares.append(end - before)
        before = end
    shares[-1] += total - before
    return shares
