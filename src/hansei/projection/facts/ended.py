"""How a session ended, as far as its events tell: the last word, and whether it was answered."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.events.model import (
    Interruption,
    Prompt,
    Reply,
    SlashCommand,
    Thought,
    ToolCall,
    ToolResult,
)
from hansei.projection.calls import SPEAKERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hansei.store.reading import Numbered


class End(StrEnum):
    """What came last."""

    ANSWERED = "answered"
    INTERRUPTED = "interrupted"
    """A person stopped the agent, and said nothing more."""
    AT_WORK = "at work"
    """A call or a thought, and no answer."""
    UNANSWERED = "unanswered"
    """A prompt, and nothing after it."""


class Ended(NamedTuple):
    seq: int
    """The event that came last."""
    end: End


_ENDS: Final = {
    Reply: End.ANSWERED,
    Interruption: End.INTERRUPTED,
    ToolCall: End.AT_WORK,
    ToolResult: End.AT_WORK,
    Thought: End.AT_WORK,
}
_LEAVING: Final = frozenset({"exit", "quit", "clear", "logout"})
"""Commands that only close a session: they are no last word."""


def ended(events: Sequence[Numbered]) -> list[Ended]:
    """The end of a session in one row; none where nothing was said."""
    for seq, event in reversed(events):
        end = _ENDS.get(type(event))
        if end is not None:
            return [Ended(seq, end)]
        if isinstance(event, Prompt) and event.origin in SPEAKERS:
            return [Ended(seq, End.UNANSWERED)]
        if isinstance(event, SlashCommand) and event.name.removeprefix("/") not in _LEAVING:
            return [Ended(seq, End.ANSWERED)]
    return []
