"""A model's answers: what it said and thought, the calls it made, and what the request took."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hansei.events.keys import digest
from hansei.events.model import (
    Interruption,
    Notice,
    Reply,
    RequestUsage,
    Thought,
    Tool,
    ToolCall,
)
from hansei.events.tools import canonical_tool, mcp_server
from hansei.sources.families.streams import Counts, billed, text_digest
from hansei.sources.families.tree import changes
from hansei.sources.families.tree.reader import Asked
from hansei.sources.families.tree.records import Block, words

if TYPE_CHECKING:
    from hansei.sources.families.tree.reader import Reader
    from hansei.sources.families.tree.records import Message, Usage

MOST = 2**53
"""A number of tokens beyond this, or below zero, is a fault in the record."""
ABOUT = ("command", "path", "file_path", "filePath", "query", "pattern", "url", "targetUrl", "task",
         "message", "action")  # fmt: skip
"""Arguments that say what a call is about, the telling ones first."""


def take(reader: Reader, message: Message, stamp: str) -> None:
    """One answer. One that the program wrote itself is no request."""
    if reader.dialect.own_provider and message.provider == reader.dialect.own_provider:
        name, text = message.model or "program", words(message.content)
        key = reader.key("notice", stamp, name, text_digest(text))
        reader.emit(Notice(key=key, name=name[:80], text=text, **reader.where))
        return
    content = message.content
    parts = [Block(type="text", text=content)] if isinstance(content, str) else content or []
    model = message.model or reader.model
    about = {"model": model, "message": message.response_id, **reader.where}
    for number, part in enumerate(parts):
        _part(reader, part, stamp, number, about)
    _request(reader, message, parts, stamp, about)
    _ending(reader, message, stamp)


def _part(reader: Reader, part: Block, stamp: str, number: int, about: dict[str, Any]) -> None:
    if part.type == "text":
        if part.text:
            key = reader.key("reply", stamp, str(number), text_digest(part.text))
            reader.emit(Reply(key=key, text=part.text, **about))
    elif part.type == "thinking":
        text = part.thinking or ""
        key = reader.key("thought", stamp, str(number), text_digest(text))
        reader.emit(Thought(key=key, text=text, **about))
    elif part.type == "toolCall":
        _call(reader, part, stamp, about)
    elif part.type != "image":
        reader.unrecognised(f"answer/{part.type}")


def _call(reader: Reader, part: Block, stamp: str, about: dict[str, Any]) -> None:
    if not part.id or not part.name:
        reader.unrecognised("a call without an id or a name")
        return
    arguments = part.arguments or {}
    edits = changes.edits(reader, Asked(stamp, part), None, None)
    call = ToolCall(
        key=reader.key("call", stamp, part.id),
        call=part.id,
        tool=tool_of(reader, part.name),
        name=part.name,
        arguments=arguments,
        text="\n".join(edit.path for edit in edits) if edits else subject(arguments),
        server=mcp_server(part.name),
        **about,
    )
    reader.emit(call)
    for edit in edits:
        reader.emit(edit)
    reader.ask(part.id, Asked(stamp, part))


def tool_of(reader: Reader, name: str) -> Tool:
    return reader.dialect.tools.get(name) or canonical_tool(name)


def subject(arguments: dict[str, Any]) -> str:
    """What a call is about, on its own."""
    told = (arguments.get(name) for name in ABOUT)
    return next((value for value in told if isinstance(value, str) and value), "")


# --- what the request took ------------------------------------------------------------------------


def _request(
    reader: Reader, message: Message, parts: list[Block], stamp: str, about: dict[str, Any]
) -> None:
    """One request. Without words and without tokens there was no answer, and nothing is counted."""
    counts = counted(message.usage)
    if not parts and not billed(counts):
        return
    texts = (part.text or part.thinking or part.id or "" for part in parts)
    mark = message.response_id or digest("\x1f".join(texts).encode("utf-8", "surrogatepass"))
    key = reader.key("request", stamp, mark)
    reader.emit(RequestUsage(key=key, **counts._asdict(), **about))


def counted(usage: Usage | None) -> Counts:
    """Disjoint counts; none at all where all of them are zero, since nobody told them then."""
    if usage is None:
        return Counts()
    told = Counts(
        input=_sound(usage.input),
        cache_read=_sound(usage.cache_read),
        cache_write_5m=_sound(usage.cache_write),
        output=_sound(usage.output),
        reasoning=_sound(usage.reasoning_tokens),
    )
    return told if billed(told) else Counts()


def _sound(number: float | None) -> int | None:
    return int(number) if number is not None and 0 <= number <= MOST else None


def _ending(reader: Reader, message: Message, stamp: str) -> None:
    text = message.error_message or ""
    key = reader.key("ending", stamp, message.stop_reason or "", text_digest(text))
    if message.stop_reason == "aborted" and reader.dialect.person_stops:
        reader.emit(Interruption(key=key, text=text, **reader.where))
    elif message.stop_reason in ("aborted", "error"):
        name = "aborted" if message.stop_reason == "aborted" else "request_failed"
        reader.emit(Notice(key=key, name=name, text=text, **reader.where))
