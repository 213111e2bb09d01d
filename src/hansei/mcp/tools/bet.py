"""`bet`: one bet in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from hansei.mcp.contract import Answer, Arguments, Tool
from hansei.mcp.quotes import inert

if TYPE_CHECKING:
    from hansei.mcp.desk import Desk

LONGEST = 4_000
"""Characters of a change: a task in Markdown is a page."""
PLACES = 20


class Asked(Arguments, frozen=True):
    bet: Annotated[str, Meta(min_length=1, max_length=64)]


class Bet(Answer, frozen=True):
    bet: str
    state: str
    heuristic: str
    claim: str
    because: list[str]
    change: str
    design: str
    sessions: int
    of_sessions: int
    confidence: float
    effort_minutes: float
    disproof: str
    measured_by: str
    target: str | None = None
    fix: str | None = None
    tokens: int | None = None
    tokens_per_week: tuple[int, int] | None = None
    """From at least to at most, four times out of five."""
    decided_because: str | None = None
    see: tuple[str, ...] = ()


def answer(desk: Desk, asked: Asked) -> Bet:
    from hansei.ops.decisions import offered

    with desk.with_facts() as (store, scope):
        _, it = offered(store, scope, asked.bet, desk.clock(), anywhere=True)
    weekly = it.weekly
    return Bet(
        bet=it.short,
        state=it.state,
        heuristic=it.heuristic,
        claim=inert(it.claim, LONGEST),
        because=[inert(text, LONGEST) for text in it.because],
        change=inert(it.change.text, LONGEST),
        design=it.change.design,
        sessions=it.sessions,
        of_sessions=it.of_sessions,
        confidence=round(it.confidence, 2),
        effort_minutes=it.effort_minutes,
        disproof=inert(it.disproof, LONGEST),
        measured_by=inert(it.metric.words, LONGEST),
        target=it.target and inert(it.target),
        fix=it.fix and inert(it.fix, LONGEST),
        tokens=it.tokens,
        tokens_per_week=None if weekly is None else (round(weekly.low), round(weekly.high)),
        decided_because=it.reason and inert(it.reason),
        see=tuple(shown.place for shown in it.evidence[:PLACES]),
    )


TOOL = Tool(
    name="bet",
    about="One bet in full, by its id: the exact change, reasons, evidence.",
    arguments=Asked,
    answer=answer,
)
