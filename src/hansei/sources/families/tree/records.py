"""Entries of a session as far as we use them."""

from typing import Any

import msgspec

Stamp = str | int | float | None

IGNORED = {
    "thinking_level_change": "a setting",
    "label": "a bookmark in the list of entries",
}
"""Kinds of entries we leave out on purpose, and why. Any other unknown kind is `Unrecognised`."""


class Block(msgspec.Struct, rename="camel", gc=False):
    """A part of a message."""

    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    arguments: dict[str, Any] | None = None


class Usage(msgspec.Struct, rename="camel", gc=False):
    """What a request took. Inputs are disjoint."""

    input: int | float | None = None
    output: int | float | None = None
    cache_read: int | float | None = None
    cache_write: int | float | None = None
    reasoning_tokens: int | float | None = None


class Provenance(msgspec.Struct, rename="camel", gc=False):
    kind: str | None = None


class Message(msgspec.Struct, rename="camel", gc=False):
    role: str | None = None
    content: str | list[Block] | None = None
    timestamp: Stamp = None
    provider: str | None = None
    model: str | None = None
    usage: Usage | None = None
    stop_reason: str | None = None
    error_message: str | None = None
    response_id: str | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    is_error: bool | None = None
    details: msgspec.Raw = msgspec.Raw()
    provenance: Provenance | None = None
    command: str | None = None
    output: str | None = None
    exit_code: int | None = None
    custom_type: str | None = None
    summary: str | None = None
    tokens_before: int | None = None


class Entry(msgspec.Struct, rename="camel", gc=False):
    type: str | None = None
    id: str | None = None
    timestamp: Stamp = None
    message: Message | None = None
    cwd: str | None = None
    parent_session: str | None = None
    branched_from: str | None = None
    """What early versions called `parentSession`."""
    provider: str | None = None
    model_id: str | None = None
    custom_type: str | None = None
    data: msgspec.Raw = msgspec.Raw()
    content: str | list[Block] | None = None
    summary: str | None = None
    tokens_before: int | None = None
    from_hook: bool | None = None
    name: str | None = None


decode = msgspec.json.Decoder(Entry).decode


def words(content: str | list[Block] | None) -> str:
    """The text of a message."""
    if isinstance(content, list):
        return "\n".join(part.text for part in content if part.type == "text" and part.text)
    return content or ""


def images(content: str | list[Block] | None) -> int:
    parts = content if isinstance(content, list) else []
    return sum(part.type == "image" for part in parts)
