"""Hand-made sessions, told in a few words."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from hansei.events.model import (
    Basis,
    Compaction,
    Origin,
    Prompt,
    Reply,
    RequestUsage,
    Status,
    Thought,
    Tool,
    ToolCall,
    ToolResult,
)
from hansei.store.reading import Numbered

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hansei.events.model import AnyEvent

_KEYS = count(1)


def numbered(events: Iterable[AnyEvent]) -> list[Numbered]:
    return [Numbered(seq, event) for seq, event in enumerate(events, start=1)]


def prompt(text: str, at: int | None = None, origin: Origin = Origin.HUMAN) -> Prompt:
    return Prompt(key=next(_KEYS), session="s", text=text, origin=origin, at=at)


def usage(context: int | None, output: int | None = 0, **more: Any) -> RequestUsage:
    return RequestUsage(key=next(_KEYS), session="s", input=context, output=output, **more)


def reply(text: str, **more: Any) -> Reply:
    return Reply(key=next(_KEYS), session="s", text=text, **more)


def thought(text: str, **more: Any) -> Thought:
    return Thought(key=next(_KEYS), session="s", text=text, **more)


def call(name: str, tool: Tool = Tool.SHELL, **more: Any) -> ToolCall:
    return ToolCall(key=next(_KEYS), session="s", call=name, tool=tool, name=tool.value, **more)


def result(
    name: str,
    text: str = "",
    status: Status = Status.OK,
    basis: Basis = Basis.FLAG,
    **more: Any,
) -> ToolResult:
    return ToolResult(
        key=next(_KEYS),
        session="s",
        call=name,
        text=text,
        status=status,
        basis=basis,
        **more,
    )


def compaction(text: str, **more: Any) -> Compaction:
    return Compaction(key=next(_KEYS), session="s", text=text, **more)
