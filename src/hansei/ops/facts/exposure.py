"""How far instruction files, rules, skills and MCP servers got, over sessions."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.projection.facts.folds import USES
from hansei.projection.funnel import summed, text_of

if TYPE_CHECKING:
    from hansei.ops.facts.chosen import Chosen
    from hansei.projection.funnel import Sum


@dataclass(frozen=True)
class ExposureLine:
    """One text, and in how many sessions it got how far."""

    text: Sum
    evidence: list[str]
    """Where it fired, else where it was listed."""


def exposure(chosen: Chosen) -> list[ExposureLine]:
    """The dearest first: by tokens times the requests that carried them."""
    rows = list(chosen.rows(USES))
    places: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for session, row in rows:
        seq = row.fired_seq if row.fired_seq is not None else row.listed_seq
        if seq is not None:
            places[text_of(row)].append((session, seq))
    return [
        ExposureLine(text, chosen.newest(places[text_of(text)]))
        for text in summed(row for _, row in rows)
    ]
