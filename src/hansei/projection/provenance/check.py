"""Does it hold? Sizes fitted on half of a session's requests, tried on the other half.

Every second step is left out of the fit and its growth predicted from its texts alone; then the
halves change places. Growth beyond the prediction is what a ledger would book as unexplained.
Compactions and steps that shrank are no growth, and what came in with its size untold cannot be
predicted; they are counted on their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from hansei.projection.provenance.asides import without_asides
from hansei.projection.provenance.calibration import calibrate, predicted
from hansei.projection.provenance.steps import steps

if TYPE_CHECKING:
    from hansei.projection.exchanges import Conversation


@dataclass(frozen=True)
class Check:
    """How well a session's own sizes predict it. Tokens, added up over its steps."""

    steps: int
    growth: int
    beyond: float
    """Growth that the texts do not account for: unexplained."""
    short: float
    """Growth that the texts would have led one to expect, and that did not come."""
    shrinks: int
    shrunk: int
    compactions: int
    asides: int
    unsized: int
    """Steps with something of known source and untold size: no prediction to be had."""

    @property
    def unexplained(self) -> float:
        """The share of growth that would be booked as unexplained."""
        return self.beyond / self.growth

    @property
    def missed(self) -> float:
        """The share of growth by which predictions are off, both ways."""
        return (self.beyond + self.short) / self.growth


def held_out(told: Conversation) -> Check | None:
    """Each half of a session predicted from the other; None where nothing grew."""
    main, asides = without_asides(steps(told))
    grown = [now.context - before.context for before, now in pairwise(main)]
    growing = [
        place
        for place, growth in enumerate(grown, start=1)
        if growth >= 0 and main[place].unsized is None and not main[place].compacted
    ]
    total = sum(grown[place - 1] for place in growing)
    if total <= 0:
        return None
    beyond = short = 0.0
    for half in (0, 1):
        fitted = calibrate(main, [it for it in range(len(main)) if it % 2 == half])
        guesses = predicted(main, fitted)
        for place in growing:
            if place % 2 != half:
                growth = grown[place - 1]
                beyond += max(growth - max(guesses[place], 0.0), 0.0)
                short += max(guesses[place] - growth, 0.0)
    shrinks = [-it for it, now in zip(grown, main[1:], strict=True) if it < 0 and not now.compacted]
    return Check(
        steps=len(growing),
        growth=total,
        beyond=beyond,
        short=short,
        shrinks=len(shrinks),
        shrunk=sum(shrinks),
        compactions=sum(it.compacted for it in main[1:]),
        asides=len(asides),
        unsized=sum(it.unsized is not None for it in main[1:]),
    )
