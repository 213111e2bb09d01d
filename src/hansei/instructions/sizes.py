"""What a text costs in tokens, without a tokenizer.

There is none for every model that works offline, so the size is derived: letters, numbers, marks,
spaces and bytes beyond ASCII, each at its rate. The rates are those that a session's own bills gave
(`projection.provenance`) where the caller has them, else typical ones, which are farther off.
"""

from __future__ import annotations

from operator import mul
from typing import NamedTuple

from hansei.events.model import Evidence
from hansei.projection.provenance.calibration import BELIEF, NOISE, Rates
from hansei.projection.provenance.pieces import measured


class Size(NamedTuple):
    """Tokens of a text, from at least to at most, and how we know."""

    tokens: int
    low: int
    high: int
    kind: Evidence
    rule: str


def size(text: str, rates: Rates | None = None) -> Size:
    """The size of a text at a session's rates, or at typical ones."""
    used = rates or Rates()
    tokens = sum(map(mul, used.weights, measured(text)))
    # What half of a session misses the other half by, or how far sessions are from typical.
    spread = NOISE if used.steps else BELIEF
    return Size(
        tokens=round(tokens),
        low=int(tokens * (1 - spread)),
        high=-int(-tokens * (1 + spread) // 1),
        kind=Evidence.DERIVED,
        rule=rule(used),
    )


def rule(rates: Rates) -> str:
    """How sizes are worked out, in words."""
    names = ("letter", "number", "mark", "space", "byte beyond ASCII")
    told = ", ".join(
        f"{weight:.2f} a {name}" for name, weight in zip(names, rates.weights, strict=False)
    )
    basis = f"fitted on {rates.steps} requests" if rates.steps else "typical"
    return f"tokens = {told}; {basis}, give or take {NOISE if rates.steps else BELIEF:.0%}"
