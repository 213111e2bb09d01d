"""The pieces of a context: which events put text into it, and of what size and kind.

Sizes are bytes told apart by what they are, because tokenizers are: a word is few tokens for its
bytes, a number many. Counting the kinds of bytes costs little and tells languages, code, logs and
tables apart without knowing any of them.
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

    from hansei.store.reading import Numbered


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


Features: TypeAlias = tuple[float, ...]
"""How many letters, digits, marks, spaces, bytes beyond ASCII, frames and images."""
NOTHING: Features = (0, 0, 0, 0, 0, 0, 0)


class Piece(NamedTuple):
    """What one event put into the context."""

    seq: int
    kind: Kind
    features: Features


_DIGITS = b"0123456789"
_SPACES = b" \t\r\n"
_LETTERS = bytes(range(ord("A"), ord("Z") + 1)) + bytes(range(ord("a"), ord("z") + 1))
_BEYOND = bytes(range(128, 256))


class Profile(NamedTuple):
    """A text's bytes by what they are."""

    letters: float
    digits: float
    marks: float
    spaces: float
    others: float
    """Bytes beyond ASCII."""


SAMPLE = 2048
"""Bytes that tell what a long text is made of. Chosen: with a quarter of it half of a session
predicts the other half worse, with twice as much no better."""


def profile(text: str | bytes) -> Profile:
    """How many bytes of each kind a text has; of a long one every n-th byte tells."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if len(data) < 2 * SAMPLE:
        return Profile(*_counts(data))
    # An odd distance, because columns of tables and dumps have even widths.
    part = data[:: len(data) // SAMPLE | 1]
    scale = len(data) / len(part)
    return Profile(*(count * scale for count in _counts(part)))


def _counts(data: bytes) -> tuple[int, int, int, int, int]:
    rest = data if data.isascii() else data.translate(None, _BEYOND)
    unlettered = rest.translate(None, _LETTERS)
    unspaced = unlettered.translate(None, _SPACES)
    marks = len(unspaced.translate(None, _DIGITS))
    return (
        len(rest) - len(unlettered),
        len(unspaced) - marks,
        marks,
        len(unlettered) - len(unspaced),
        len(data) - len(rest),
    )


def given(numbered: Numbered, tools: Mapping[str, Tool]) -> Piece | None:
    """What an event that is not an answer put before the model, if anything."""
    seq, event = numbered
    match event:
        case ToolResult():
            kind = RESULT_KINDS.get(tools.get(event.call, Tool.OTHER), Kind.TOOL)
            return Piece(seq, kind, (*_shown(event), 1, max(event.images, 0)))
        case Prompt():
            kind = Kind.PROMPT if event.origin in _PEOPLE else Kind.INJECTED
            return Piece(seq, kind, (*profile(event.text), 1, max(event.images, 0)))
        case Compaction():
            return _framed(seq, Kind.SUMMARY, event.text)
        case SlashCommand():
            return _framed(seq, Kind.PROMPT, f"{event.name} {event.text}")
        case Notice() if event.name in _SHOWN_NOTICES:
            return _framed(seq, Kind.INJECTED, event.text)
        case Observation() if event.context is not None:
            return Piece(seq, Kind.INJECTED, (max(event.context.bytes, 0), 0, 0, 0, 0, 1, 0))
        case _:
            return None


def _framed(seq: int, kind: Kind, text: str | bytes) -> Piece:
    return Piece(seq, kind, (*profile(text), 1, 0))


def _shown(result: ToolResult) -> Profile:
    """What the model saw of a result, taken to be of the same make as the text that is kept."""
    found = profile(result.text)
    if result.shown is None or result.shown < 0:
        return found
    kept = sum(found)
    if kept < 1:
        return Profile(result.shown, 0, 0, 0, 0)
    return Profile(*(part * (result.shown / kept) for part in found))


def answered(numbered: Numbered) -> Piece | None:
    """What a part of an answer is when it comes back with the next request; texts have no frame."""
    seq, event = numbered
    match event:
        case ToolCall():
            kind = Kind.EDIT if event.tool in _EDITING else Kind.CALL
            return _framed(seq, kind, event.name.encode() + msgspec.json.encode(event.arguments))
        case Reply():
            return Piece(seq, Kind.REPLY, (*profile(event.text), 0, 0))
        case Thought():
            return Piece(seq, Kind.THOUGHT, (*profile(event.text), 0, 0))
        case _:
            return None
