"""`recall`: what helped the last time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from hansei.mcp.contract import MOST_TEXT, Answer, Arguments, Tool
from hansei.mcp.quotes import Quote, quote
from hansei.mcp.remembered import Failure, failure

if TYPE_CHECKING:
    from hansei.mcp.desk import Desk


class Asked(Arguments, frozen=True):
    error: Annotated[str, Meta(min_length=1, max_length=MOST_TEXT)]
    limit: Annotated[int, Meta(ge=1, le=10)] = 3


class About(Answer, frozen=True):
    session: str
    name: Quote


class Recalled(Answer, frozen=True):
    compared_with: int
    failures: tuple[Failure, ...] = ()
    more: int = 0
    sessions: tuple[About, ...] = ()


def answer(desk: Desk, asked: Asked) -> Recalled:
    from hansei.ops.recall import recall

    with desk.with_facts() as (store, scope):
        found = recall(store, scope, asked.error, limit=asked.limit)
    return Recalled(
        compared_with=found.compared,
        failures=tuple(failure(it) for it in found.failures),
        more=found.more,
        sessions=tuple(About(it.reference, quote(it.name, "person")) for it in found.sessions),
    )


TOOL = Tool(
    name="recall",
    about="When something fails: paste command and error (or name a topic) to see how it was "
    "solved here before.",
    arguments=Asked,
    answer=answer,
)
