"""The pieces of a context: which events put text into it, and of what size and kind.

Sizes are counts of what a text is made of, because tokenizers go by that: a word is few tokens for
its bytes, a number many. Counting letters, numbers, marks and spaces costs little and tells
languages, code, logs and tables apart without knowing any of them.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import msgspec

from hansei.events.model import (
    Compaction,
    Notice,
    Observation,
    Origin,
    Prompt,
    Reply,
    SlashCommand,
    Thought,
    Tool,
    ToolCall,
    ToolResult,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hansei.events.model import AnyEvent


class Kind(StrEnum):
    """What filled the context."""

    PREFIX = "prefix"  # system prompt and tool schemas, which no transcript tells apart
    INSTRUCTIONS = "instructions"
    PROMPT = "prompt"
    INJECTED = "injected"  # put in by the agent program or a hook, not by a person
    READ = "read"
    COMMAND = "command output"
    SEARCH = "search"
    EDIT = "edit"
    WEB = "web"
    MCP = "mcp"
    SUBAGENT = "subagent"
    TOOL = "other tool"
    REPLY = "reply"
    CALL = "call"
    THOUGHT = "thought"
    SUMMARY = "summary"
    UNEXPLAINED = "unexplained"


RESULT_KINDS = {
    Tool.READ: Kind.READ,
    Tool.SHELL: Kind.COMMAND,
    Tool.SEARCH: Kind.SEARCH,
    Tool.EDIT: Kind.EDIT,
    Tool.WRITE: Kind.EDIT,
    Tool.WEB: Kind.WEB,
    Tool.MCP: Kind.MCP,
    Tool.SUBAGENT: Kind.SUBAGENT,
}
_EDITING = (Tool.EDIT, Tool.WRITE)
_TOLD = (Prompt, Compaction, SlashCommand, Notice, Observation)
_PEOPLE = (Origin.HUMAN, Origin.QUEUED_HUMAN, Origin.PARENT_AGENT)
_SHOWN_NOTICES = frozenset(
    {
        "bash_output",
        "command_permissions",
        "date_change",
        "deferred_tools_delta",
        "file",
        "local_command_output",
        "mcp_instructions_delta",
        "skill_listing",
        "task_reminder",
    }
)
"""Notices whose text agents put before the model; the others are for people."""


Features: TypeAlias = tuple[float, float, float, float, float, int, int]
"""Letters, numbers, marks, spaces, bytes beyond ASCII, frames, images.

A frame stands around a result, a prompt or a call; around a reply there is none."""
NOTHING: Features = (0, 0, 0, 0, 0, 0, 0)


class Piece(NamedTuple):
    """What one event put into the context."""

    seq: int
    kind: Kind
    features: Features


SAMPLE = 1024
"""Bytes that tell what a long text is made of. Chosen: with more of them one half of a real session
predicts the other no better."""
_GROUP = 8
_encoded = msgspec.json.Encoder().encode
_LETTERS = bytes(range(ord("A"), ord("Z") + 1)) + bytes(range(ord("a"), ord("z") + 1))


def _class(byte: int) -> bytes:
    if byte in b" \t\r\n":
        return b" "
    if byte in b"0123456789":
        return b"1"
    return b"." if byte < 128 else b"o"


_CLASSES = b"".join(map(_class, range(256)))


def measured(text: str | bytes, frames: int = 0, images: int = 0) -> Features:
    """What a text is made of; of a long one eight bytes here and there tell, evenly spread."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    size = len(data)
    if size >= 2 * SAMPLE:
        # An odd distance, because columns of tables and dumps have even widths.
        groups = memoryview(data)[: size - size % _GROUP].cast("Q")
        data = groups[:: size // SAMPLE | 1].tobytes()
    rest = data.translate(_CLASSES, _LETTERS)
    letters = len(data) - len(rest)
    spaces = rest.count(b" ")
    others = 0 if data.isascii() else rest.count(b"o")
    digits = rest.count(b"1")
    marks = len(rest) - spaces - others - digits
    numbers = 0
    if digits:
        numbers = rest.count(b" 1") + rest.count(b".1") + rest.startswith(b"1")
        numbers += rest.count(b"o1") if others else 0
    if size == len(data):
        return letters, numbers, marks, spaces, others, frames, images
    scale = size / len(data)
    return (
        letters * scale,
        numbers * scale,
        marks * scale,
        spaces * scale,
        others * scale,
        frames,
        images,
    )


def given(seq: int, event: AnyEvent, tools: Mapping[str, Tool]) -> Piece | None:
    """What an event that is not an answer put before the model, if anything."""
    if isinstance(event, ToolResult):
        kind = RESULT_KINDS.get(tools.get(event.call, Tool.OTHER), Kind.TOOL)
        return Piece(seq, kind, _shown(event))
    if not isinstance(event, _TOLD):
        return None
    match event:
        case Prompt():
            kind = Kind.PROMPT if event.origin in _PEOPLE else Kind.INJECTED
            return Piece(seq, kind, measured(event.text, 1, max(event.images, 0)))
        case Compaction():
            return Piece(seq, Kind.SUMMARY, measured(event.text, 1))
        case SlashCommand():
            return Piece(seq, Kind.PROMPT, measured(f"{event.name} {event.text}", 1))
        case Notice() if event.name in _SHOWN_NOTICES:
            return Piece(seq, Kind.INJECTED, measured(event.text, 1))
        case Observation() if event.context is not None:
            return Piece(seq, Kind.INJECTED, (max(event.context.bytes, 0), 0, 0, 0, 0, 1, 0))
        case _:
            return None


def _shown(result: ToolResult) -> Features:
    """What the model saw of a result, taken to be of the same make as the text that is kept."""
    images = max(result.images, 0)
    found = measured(result.text, 1, images)
    if result.shown is None or result.shown < 0:
        return found
    kept = len(result.text.encode("utf-8", "surrogatepass"))
    if not kept:
        return result.shown, 0, 0, 0, 0, 1, images
    letters, numbers, marks, spaces, others, *_ = (count * (result.shown / kept) for count in found)
    return letters, numbers, marks, spaces, others, 1, images


def answered(seq: int, event: AnyEvent) -> Piece | None:
    """What a part of an answer is when it comes back with the next request."""
    match event:
        case ToolCall():
            kind = Kind.EDIT if event.tool in _EDITING else Kind.CALL
            said = event.name.encode() + _encoded(event.arguments)
            return Piece(seq, kind, measured(said, 1))
        case Reply():
            return Piece(seq, Kind.REPLY, measured(event.text))
        case Thought():
            return Piece(seq, Kind.THOUGHT, measured(event.text))
        case _:
            return None
