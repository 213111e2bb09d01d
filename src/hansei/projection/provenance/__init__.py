"""Token provenance: which event filled the context, and what carrying it took.

Rules, in the order they are applied:

1. The context of a request is measured: all its input, cached or not. A cache that expired changes
   the price of a context, not its size.
2. Its growth since the request before is what that one answered and what came in since
   (`steps`), at the session's own tokens per byte (`calibration`).
3. Growth beyond that is `unexplained`; growth short of it is shared by size.
4. What the first request stands on is a prefix as far as no later context is smaller.
5. A context that shrank lost pieces (`ledger`). A compaction replaces all but the ground.
6. A request that leaves the conversation for a moment is booked as `aside` (`asides`).

So for every session, exactly: tokens billed = tokens of all pieces times the requests that carried
them, plus the asides. All of it is derived; only contexts are measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from hansei.prices.rates import MILLION, divide_half_even
from hansei.projection.provenance.asides import Aside, without_asides
from hansei.projection.provenance.calibration import Rates, Thoughts, calibrate, expected
from hansei.projection.provenance.ledger import Carried, Ledger, Left
from hansei.projection.provenance.pieces import Kind
from hansei.projection.provenance.steps import steps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hansei.prices.rates import Rates as Prices
    from hansei.projection.exchanges import Conversation
    from hansei.projection.provenance.steps import Step

__all__ = [
    "Aside",
    "Carried",
    "Kind",
    "Left",
    "Provenance",
    "Thoughts",
    "Total",
    "cost",
    "provenance",
]

_NONE: Mapping[str, int] = MappingProxyType({})


class Total(NamedTuple):
    """All pieces of one kind."""

    kind: str
    pieces: int
    tokens: int
    """Put into the context, each once."""
    billed: int
    """The same times the requests that carried them."""


@dataclass(frozen=True)
class Provenance:
    """Where the input tokens of a session came from."""

    requests: int
    """Requests whose context is told; of the others nothing is known."""
    untold: int
    billed: int
    rates: Rates
    pieces: tuple[Carried, ...]
    asides: tuple[Aside, ...]

    @property
    def totals(self) -> list[Total]:
        """By kind, the largest first; they add up to what was billed."""
        sums: dict[str, list[int]] = {}
        for piece in self.pieces:
            total = sums.setdefault(piece.kind, [0, 0, 0])
            total[0] += 1
            total[1] += piece.tokens
            total[2] += piece.billed
        if self.asides:
            aside = sum(it.context for it in self.asides)
            sums["aside"] = [len(self.asides), aside, aside]
        return sorted(
            (Total(kind, *values) for kind, values in sums.items()),
            key=lambda it: (-it.billed, it.kind),
        )


def provenance(
    told: Conversation,
    *,
    instructions: Mapping[str, int] = _NONE,
    inherited: bool = False,
) -> Provenance:
    """Every billed input token of a session, by the event that put it there.

    `instructions` are the bytes of texts known to be in force from the start, by path. `inherited`
    says that the session continues another one: then what its first request stands on is not only
    a prefix, and is booked as unexplained.
    """
    measured = steps(told)
    main, asides = without_asides(measured)
    rates = calibrate(main)
    ledger = Ledger(rates)
    least = 0 if inherited else _least(main, rates)
    for place, step in enumerate(main):
        if place:
            ledger.take(step)
        else:
            ledger.begin(step, instructions, least)
    return Provenance(
        requests=len(measured),
        untold=len(told.exchanges) - len(measured),
        billed=sum(it.context for it in measured),
        rates=rates,
        pieces=tuple(ledger.close()),
        asides=tuple(asides),
    )


def _least(steps: Sequence[Step], rates: Rates) -> int:
    """The most that can have been there all the time: a compaction's summary is new for sure."""
    contexts = [
        it.context - round(sum(part.tokens for part in expected(it, rates)))
        if it.compacted
        else it.context
        for it in steps
    ]
    return max(min(contexts, default=0), 0)


def cost(piece: Carried, prices: Prices) -> int | None:
    """Nano-dollars for carrying a piece: written once, then read; None without a price.

    Where writing to a cache or reading from it has no price of its own, it is plain input.
    """
    write = prices.input if prices.cache_write_5m is None else prices.cache_write_5m
    read = prices.input if prices.cache_read is None else prices.cache_read
    if write is None or read is None:
        return None
    return divide_half_even(piece.tokens * (write + read * (piece.requests - 1)), MILLION)
