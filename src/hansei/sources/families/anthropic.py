"""Messages as Anthropic's API words them, which several agents write down as they are."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import msgspec

from hansei.sources.families.streams import Counts

Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
"""A number of tokens; anything else is a fault in the record and counts as not recorded."""


class CacheWrites(msgspec.Struct, gc=False):
    ephemeral_5m_input_tokens: Count | None = None
    ephemeral_1h_input_tokens: Count | None = None


class ServerTools(msgspec.Struct, gc=False):
    web_search_requests: Count | None = None


class OutputDetails(msgspec.Struct, gc=False):
    thinking_tokens: Count | None = None


class Usage(msgspec.Struct, gc=False):
    """What one response took. `input_tokens` is only what no cache held."""

    input_tokens: Count | None = None
    cache_creation_input_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None
    cache_creation: CacheWrites | None = None
    output_tokens: Count | None = None
    service_tier: str | None = None
    server_tool_use: ServerTools | None = None
    output_tokens_details: OutputDetails | None = None
    speed: str | None = None


class Part(msgspec.Struct, gc=False):
    """A piece of a tool result."""

    type: str | None = None
    text: str | None = None


Content: TypeAlias = str | list[Part | str] | dict[str, Any] | None


class Block(msgspec.Struct, gc=False):
    """A piece of a message: text, thinking, tool_use, tool_result, image."""

    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: dict[str, Any] | None = None
    tool_use_id: str | None = None
    content: Content = None
    is_error: bool | None = None


class Message(msgspec.Struct, gc=False):
    model: str | None = None
    id: str | None = None
    content: str | list[Block | str] | None = None
    usage: Usage | None = None

    def blocks(self) -> list[Block]:
        """The content as blocks, however it was written."""
        content = self.content
        if content is None:
            return []
        if isinstance(content, str):
            return [Block("text", content)]
        return [Block("text", block) if isinstance(block, str) else block for block in content]


def counts(usage: Usage) -> Counts:
    """The tokens of a response in disjoint fields.

    Without the split by lifetime, cache writes count as those that last five minutes: that is the
    API's default.
    """
    total, split = usage.cache_creation_input_tokens, usage.cache_creation
    five_minutes, one_hour = total, None
    if split is not None:
        parts = split.ephemeral_5m_input_tokens, split.ephemeral_1h_input_tokens
        if any(parts) or not total:
            five_minutes, one_hour = parts
    details, tools = usage.output_tokens_details, usage.server_tool_use
    return Counts(
        usage.input_tokens,
        usage.cache_read_input_tokens,
        five_minutes,
        one_hour,
        usage.output_tokens,
        details.thinking_tokens if details else None,
        tools.web_search_requests if tools else None,
    )


def is_announcement(usage: Usage) -> bool:
    """Whether this is a guess made before the answer: some providers announce an input so.

    Their last line has other numbers, and a request that never got that far took nobody knows what.
    """
    return (
        usage.output_tokens == 0
        and usage.cache_read_input_tokens is None
        and usage.cache_creation_input_tokens is None
        and usage.cache_creation is None
    )


def is_emptied(usage: Usage) -> bool:
    """Whether the numbers were taken out of a copy: no request takes nothing and says nothing."""
    return (
        usage.input_tokens
        == usage.cache_read_input_tokens
        == usage.cache_creation_input_tokens
        == usage.output_tokens
        == 0
    )


def tier(usage: Usage) -> str | None:
    """A price tier other than the usual one."""
    for name in (usage.service_tier, usage.speed):
        if name and name not in {"standard", "default"}:
            return name
    return None


def result_text(content: Content) -> tuple[str, int]:
    """The text of a tool result, and how many images it holds besides."""
    if isinstance(content, str):
        return content, 0
    if isinstance(content, dict):
        text = content.get("text")
        return text if isinstance(text, str) else msgspec.json.encode(content).decode(), 0
    texts = []
    images = 0
    for part in content or ():
        if isinstance(part, str):
            texts.append(part)
        elif part.text is not None:
            texts.append(part.text)
        elif part.type == "image":
            images += 1
    return "\n".join(texts), images
