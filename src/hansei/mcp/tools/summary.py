"""`summary`: what this workspace spent."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from hansei.mcp.contract import Answer, Arguments, Tool
from hansei.mcp.quotes import inert

if TYPE_CHECKING:
    from hansei.mcp.desk import Desk
    from hansei.ops.summary import Line


class Asked(Arguments, frozen=True):
    by: Literal["model", "agent", "day", "branch", "pr", "commit", "driver"] = "model"
    since: Annotated[str, Meta(max_length=40)] = "28d"


class Row(Answer, frozen=True):
    of: str
    sessions: int
    requests: int
    tokens: int | None = None
    usd: float | None = None
    unpriced_requests: int = 0


class Summary(Answer, frozen=True):
    total: Row
    rows: tuple[Row, ...] = ()


def answer(desk: Desk, asked: Asked) -> Summary:
    from hansei.ops.scope import moment
    from hansei.ops.summary import goal_of, summary

    # What spend was for is a fact; the rest is told by the store alone.
    with desk.with_facts() if goal_of((asked.by,)) else desk.scoped() as (store, whole):
        scope = replace(whole, since=moment(asked.since, desk.clock()))
        found = summary(store, scope, (asked.by,))
    return Summary(_row(found.total, "all"), tuple(_row(it, None) for it in found.lines))


def _row(line: Line, name: str | None) -> Row:
    label = name or next((it for it in line.labels.values() if it), None) or "unknown"
    cost = line.cost_nanodollars
    return Row(
        of=inert(label),
        sessions=line.sessions,
        requests=line.requests,
        tokens=line.total_tokens,
        usd=None if cost is None else round(cost / 1e9, 2),
        unpriced_requests=line.unpriced_requests,
    )


TOOL = Tool(
    name="summary",
    about="Tokens and cost of this workspace.",
    arguments=Asked,
    answer=answer,
)
