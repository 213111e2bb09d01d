"""The pieces of a context: which events put text into it, and of what size and kind.

Sizes are bytes told apart by what they are, because tokenizers are: a word is few tokens for its
bytes, a number many. Counting the kinds of bytes costs little and tells languages, code, logs and
tables apart without knowing any of them.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

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


class Profile(NamedTuple):
    """A text's bytes by what they are."""

    letters: float = 0
    digits: float = 0
    marks: float = 0
    spaces: float = 0
    others: float = 0
    """Bytes beyond ASCII."""

    @property
    def bytes(self) -> float:
        return self.letters + self.digits + self.marks + self.spaces + self.others

    def times(self, factor: float) -> Profile:
        return Profile(*(part * factor for part in self))


class Piece(NamedTuple):
    """What one event put into the context."""

    seq: int
    kind: Kind
    profile: Profile
    images: int = 0
    entries: int = 1
    """Frames around it: a result, a prompt or a call has one, a reply has none."""


_DIGITS = b"0123456789"
_SPACES = b" \t\r\n"
_LETTERS = bytes(range(ord("A"), ord("Z") + 1)) + bytes(range(ord("a"), ord("z") + 1))
_BEYOND = bytes(range(128, 256))


def profile(text: str | bytes) -> Profile:
    """How many bytes of each kind a text has."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    rest = data if data.isascii() else data.translate(None, _BEYOND)
    others = len(data) - len(rest)
    unlettered = rest.translate(None, _LETTERS)
    unspaced = unlettered.translate(None, _SPACES)
    marks = len(unspaced.translate(None, _DIGITS))
    return Profile(
        letters=len(rest) - len(unlettered),
        digits=len(unspaced) - marks,
        marks=marks,
        spaces=len(unlettered) - len(unspaced),
        others=others,
    )


def given(numbered: Numbered, tools: Mapping[str, Tool]) -> Piece | None:
    """What an event that is not an answer put before the model, if anything."""
    seq, event = numbered
    match event:
        case ToolResult():
            kind = RESULT_KINDS.get(tools.get(event.call, Tool.OTHER), Kind.TOOL)
            return Piece(seq, kind, _shown(event), max(event.images, 0))
        case Prompt():
            kind = Kind.PROMPT if event.origin in _PEOPLE else Kind.INJECTED
            return Piece(seq, kind, profile(event.text), max(event.images, 0))
        case Compaction():
            return Piece(seq, Kind.SUMMARY, profile(event.text))
        case SlashCommand():
            return Piece(seq, Kind.PROMPT, profile(f"{event.name} {event.text}"))
        case Notice() if event.name in _SHOWN_NOTICES:
            return Piece(seq, Kind.INJECTED, profile(event.text))
        case Observation() if event.context is not None:
            return Piece(seq, Kind.INJECTED, Profile(letters=max(event.context.bytes, 0)))
        case _:
            return None


def _shown(result: ToolResult) -> Profile:
    """What the model saw of a result, taken to be of the same make as the text that is kept."""
    found = profile(result.text)
    if result.shown is None or result.shown < 0 or result.shown == found.bytes:
        return found
    if found.bytes < 1:
        return Profile(letters=result.shown)
    return found.times(result.shown / found.bytes)


def answered(numbered: Numbered) -> Piece | None:
    """What a part of an answer is when it comes back with the next request."""
    seq, event = numbered
    match event:
        case Reply():
            return Piece(seq, Kind.REPLY, profile(event.text), entries=0)
        case Thought():
            return Piece(seq, Kind.THOUGHT, profile(event.text), entries=0)
        case ToolCall():
            kind = Kind.EDIT if event.tool in _EDITING else Kind.CALL
            return Piece(seq, kind, profile(_arguments(event)))
        case _:
            return None


def _arguments(call: ToolCall) -> bytes:
    return call.name.encode() + msgspec.json.encode(call.arguments)


def tools_of(event: AnyEvent, tools: dict[str, Tool]) -> None:
    """Remember which tool a call went to, for its result."""
    if isinstance(event, ToolCall):
        tools[event.call] = event.tool
