"""The records of a session file, with the fields that are read."""

from __future__ import annotations

from typing import Any

import msgspec


class Tokens(msgspec.Struct, gc=False):
    """What one request took: `input` includes `cached`, `output` leaves out `thoughts`."""

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    thoughts: int | None = None
    tool: int | None = None


class Thinking(msgspec.Struct, gc=False):
    subject: str | None = None
    description: str | None = None
    timestamp: Any = None


class Call(msgspec.Struct, rename="camel"):
    id: str | None = None
    name: str | None = None
    args: dict[str, Any] | None = None
    result: Any = None
    status: str | None = None
    timestamp: Any = None
    result_display: Any = None
    agent_id: str | None = None


class Record(msgspec.Struct, rename="camel"):
    """A line: a message, what the session is, a change of that, or a step back."""

    id: str | None = None
    timestamp: Any = None
    type: str | None = None
    content: Any = None
    display_content: Any = None
    tool_calls: list[Call] | None = None
    thoughts: list[Thinking] | None = None
    tokens: Tokens | None = None
    model: str | None = None
    session_id: str | None = None
    project_hash: str | None = None
    start_time: Any = None
    kind: str | None = None
    directories: list[str] | None = None
    summary: str | None = None
    messages: list[Record] | None = None
    set: Record | None = msgspec.field(default=None, name="$set")
    rewind_to: str | None = msgspec.field(default=None, name="$rewindTo")


decode = msgspec.json.Decoder(Record).decode


def text_of(content: Any) -> str:
    """The words in a message: a text, a part, or parts; what was only thought is left out."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    texts = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict) and part.get("thought") is not True:
            text = part.get("text")
            if isinstance(text, str):
                texts.append(text)
    return "".join(texts)


def images_in(content: Any) -> int:
    parts = content if isinstance(content, list) else [content]
    return sum(isinstance(part, dict) and "inlineData" in part for part in parts)


def holds_answers(content: Any) -> bool:
    """Whether a message only carries what tools answered, which stands beside the calls too."""
    parts = content if isinstance(content, list) else [content]
    return any(isinstance(part, dict) and "functionResponse" in part for part in parts)
