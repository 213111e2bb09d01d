"""What an agent was told in a session: by people, by commands they typed, by what tools printed.

A wrong command is often not an agent's own idea: it stands in a prompt, in a step that a program
printed, in a file that was read. There it is to be corrected. What agents wrote themselves, to
themselves or to one another, is nobody's text to correct.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.events.model import Origin, Prompt, SlashCommand, Tool, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hansei.store.reading import Numbered


class Teller(StrEnum):
    """Who or what said it."""

    PERSON = "person"
    COMMAND = "command"  # typed by a person, with a text of its own
    FILE = "file"
    PROGRAM = "program"


class Told(NamedTuple):
    seq: int
    teller: Teller
    name: str
    """The slash command or the path; empty for a person and for programs, which the call names."""
    call: int | None
    """The call that it is the answer to."""
    text: str


_PERSONS: Final = frozenset((Origin.HUMAN, Origin.QUEUED_HUMAN))
_TELLERS: Final = {Tool.READ: Teller.FILE, Tool.SHELL: Teller.PROGRAM, Tool.MCP: Teller.PROGRAM}


def told(events: Iterable[Numbered]) -> Iterator[Told]:
    """Everything that was said to the agent of a session, in order."""
    calls: dict[str, tuple[int, ToolCall]] = {}
    for seq, event in events:
        if isinstance(event, Prompt) and event.origin in _PERSONS:
            yield Told(seq, Teller.PERSON, "", None, event.text)
        elif isinstance(event, SlashCommand):
            yield Told(seq, Teller.COMMAND, event.name, None, event.text)
        elif isinstance(event, ToolCall):
            calls[event.call] = seq, event
        elif isinstance(event, ToolResult) and event.call in calls:
            asked, call = calls[event.call]
            teller = _TELLERS.get(call.tool)
            if teller is not None:
                name = call.text if teller is Teller.FILE else ""
                yield Told(seq, teller, name, asked, event.text)
