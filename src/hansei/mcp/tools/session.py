"""`session`: one earlier session, or one event of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from hansei.events.model import (
    AnyEvent,
    FileEdit,
    Observation,
    Origin,
    Prompt,
    RequestUsage,
    ToolCall,
    ToolResult,
    Unrecognised,
)
from hansei.mcp.contract import Answer, Arguments, Tool
from hansei.mcp.quotes import Quote, quote

if TYPE_CHECKING:
    from hansei.mcp.desk import Desk

OUTLINED = 120
"""Characters of each event in an outline."""
OPENED = 4_000
"""Characters of an event that was asked for by its number."""


class Asked(Arguments, frozen=True):
    see: Annotated[str, Meta(min_length=1, max_length=200)]
    start: Annotated[int, Meta(ge=1)] = 1


class Happened(Answer, frozen=True):
    event: int
    kind: str
    said: Quote
    status: str | None = None


class Session(Answer, frozen=True):
    session: str
    agent: str
    name: Quote
    events: int
    happened: tuple[Happened, ...] = ()


def answer(desk: Desk, asked: Asked) -> Session:
    from hansei.ops.show import show

    with desk.opened() as store:
        found = show(store, asked.see)
    longest = OPENED if "#" in asked.see else OUTLINED
    told = tuple(
        _happened(seq, event, longest)
        for seq, event in found.events
        if seq >= asked.start and not isinstance(event, RequestUsage | Observation | Unrecognised)
    )
    head = found.session
    return Session(head.short, head.agent, quote(head.name, "person"), head.events, told)


def _happened(seq: int, event: AnyEvent, longest: int) -> Happened:
    text, by = _said(event)
    status = event.status.value if isinstance(event, ToolResult) else None
    return Happened(seq, str(event.__struct_config__.tag), quote(text, by, longest), status)


def _said(event: AnyEvent) -> tuple[str, str]:
    match event:
        case Prompt():
            return event.text, "person" if event.origin is Origin.HUMAN else str(event.origin)
        case ToolCall():
            return f"{event.name}: {event.text}", "agent"
        case ToolResult():
            return event.text, "output"
        case FileEdit():
            return event.path, "agent"
        case _:
            return str(getattr(event, "text", "") or getattr(event, "name", "")), "agent"


TOOL = Tool(
    name="session",
    about="Open evidence: a session id for its outline, id#event for one event.",
    arguments=Asked,
    answer=answer,
)
