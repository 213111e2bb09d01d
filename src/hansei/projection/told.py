"""What an agent was told in a session: by people, by commands they typed, by what tools printed.

A wrong command is often not an agent's own idea: it stands in a prompt, in a step that a program
printed, in a file that was read. There it is to be corrected. What the agent's program hands it and
what agents write to one another is told too, but nobody's text to correct; and what no log holds is
told where an agent repeats it.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.events.model import (
    FileEdit,
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
    from collections.abc import Iterable, Iterator

    from hansei.store.reading import Numbered


class Teller(StrEnum):
    """Who or what said it."""

    PERSON = "person"
    COMMAND = "command"  # typed by a person, with a text of its own
    FILE = "file"
    PROGRAM = "program"
    CONTEXT = "context"  # handed over by the agent's program, a hook or the agent that started it
    QUOTE = "quote"  # repeated by the agent, as something it was given
    AGENT = "agent"  # what it wrote into a file itself


class Told(NamedTuple):
    seq: int
    teller: Teller
    name: str
    """The slash command or the path; empty for a person and for programs, which the call names."""
    call: int | None
    """The call that it is the answer to."""
    text: str


_PERSONS: Final = frozenset((Origin.HUMAN, Origin.QUEUED_HUMAN))
CORRECTABLE: Final = frozenset((Teller.PERSON, Teller.COMMAND, Teller.FILE, Teller.PROGRAM))
"""Those whose text somebody here can correct."""
_QUOTES: Final = re.compile(
    r"\b(?:according to|as (?:instructed|described|documented)|instructions? (?:say|are|tell)"
    r"|protocol|system reminder|(?:prompt|reminder|context|documentation) (?:says|shows|tells))\b"
    r"|<[a-z]+(?:[-_ ][a-z]+)*>",
    re.IGNORECASE,
)
"""How an agent names what it was given; it fills in no word that it was not given."""
_TELLERS: Final = {Tool.READ: Teller.FILE, Tool.SHELL: Teller.PROGRAM, Tool.MCP: Teller.PROGRAM}


def told(events: Iterable[Numbered]) -> Iterator[Told]:
    """Everything that was said to the agent of a session, in order."""
    calls: dict[str, tuple[int, ToolCall]] = {}
    for seq, event in events:
        if isinstance(event, Prompt) and event.origin in _PERSONS:
            yield Told(seq, Teller.PERSON, "", None, event.text)
        elif isinstance(event, Prompt):
            yield Told(seq, Teller.CONTEXT, "", None, event.text)
        elif isinstance(event, (Thought, Reply)) and _QUOTES.search(event.text):
            yield Told(seq, Teller.QUOTE, "", None, event.text)
        elif isinstance(event, SlashCommand):
            yield Told(seq, Teller.COMMAND, event.name, None, event.text)
        elif isinstance(event, ToolCall):
            calls[event.call] = seq, event
        elif isinstance(event, FileEdit) and event.call in calls and event.applied is not False:
            text = "\n".join(it.new for it in event.hunks)
            yield Told(seq, Teller.AGENT, event.path, calls[event.call][0], text)
        elif isinstance(event, ToolResult) and event.call in calls:
            asked, call = calls[event.call]
            teller = _TELLERS.get(call.tool)
            if teller is not None:
                name = call.text if teller is Teller.FILE else ""
                yield Told(seq, teller, name, asked, event.text)
