"""`retro`: what goes wrong here again and again, as ranked bets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from hansei.mcp.contract import Answer, Arguments, Tool
from hansei.mcp.quotes import inert

if TYPE_CHECKING:
    from hansei.mcp.desk import Desk
    from hansei.ops.retro import Offer

CLAIM = 300
CHANGE = 160


class Asked(Arguments, frozen=True):
    limit: Annotated[int, Meta(ge=1, le=20)] = 5


class Bet(Answer, frozen=True):
    bet: str
    claim: str
    sessions: int
    of_sessions: int
    heuristic: str
    change: str
    confidence: float
    tokens_per_week: int | None = None


class Retro(Answer, frozen=True):
    workspace: str
    sessions: int
    bets: tuple[Bet, ...] = ()
    more: int = 0


def answer(desk: Desk, asked: Asked) -> Retro:
    from hansei.ops.retro import retro

    with desk.with_facts() as (store, scope):
        look = retro(store, scope, desk.clock())
    shown = look.offers[: asked.limit]
    return Retro(
        workspace=inert(look.workspace or ""),
        sessions=look.sessions,
        bets=tuple(map(_bet, shown)),
        more=len(look.offers) - len(shown),
    )


def _bet(it: Offer) -> Bet:
    return Bet(
        bet=it.short,
        claim=inert(it.claim, CLAIM),
        sessions=it.sessions,
        of_sessions=it.of_sessions,
        heuristic=it.heuristic,
        change=inert(it.change.text, CHANGE),
        confidence=round(it.confidence, 2),
        tokens_per_week=None if it.weekly is None else round(it.weekly.middle),
    )


TOOL = Tool(
    name="retro",
    about="What goes wrong or wastes tokens here again and again, as ranked bets.",
    arguments=Asked,
    answer=answer,
)
