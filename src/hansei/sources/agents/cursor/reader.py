"""One reading under way: what it found, and what an event is known by.

What is remembered between two readings is ids, numbers and digests, never text: a cursor is stored
as it is, and only events pass the redaction.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from hansei.events.keys import digest, event_key
from hansei.events.model import AnyEvent, SessionFacts, Unrecognised
from hansei.sources.agents.cursor import AGENT
from hansei.sources.contract import Problem, retold

if TYPE_CHECKING:
    from hansei.sources.contract import Transcript

TRUSTED_ID = 16
"""Shorter ids are counters or made by hand: they name something only within their chat."""
LONGEST_NAME = 64

Where: TypeAlias = dict[str, Any]
"""The fields all events of one record share: session, at, cwd."""


@dataclass
class Reader:
    """What one reading has found so far."""

    transcript: Transcript
    line: bytes = b""
    offset: int = 0
    events: dict[int, AnyEvent] = field(default_factory=dict)
    sessions: dict[str, SessionFacts] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    records: int = 0
    taken: int = 0
    lacking: bool = False
    """Whether a state of a file was looked for that is not there, or not yet."""

    def emit(self, event: AnyEvent) -> None:
        """Add an event; a second telling of the same one takes the first one's place."""
        known = self.events.get(event.key)
        self.events[event.key] = event if known is None else retold(known, event)

    def facts(self, session: str) -> SessionFacts:
        known = self.sessions.get(session)
        if known is None:
            known = self.sessions[session] = SessionFacts(id=session)
        return known

    def problem(self, place: int, reason: str) -> None:
        """Note a row, or a whole table, that could not be read."""
        self.problems.append(Problem(place, place, reason))

    def unrecognised(self, native: str, record: bytes, where: Where) -> None:
        """Leave a trace of a record we do not know."""
        mark, native = digest(record), native[:LONGEST_NAME]
        key = key_of("unrecognised", where["session"], native, mark)
        self.emit(Unrecognised(key=key, name=native, digest=mark, size=len(record), **where))


def key_of(*parts: str) -> int:
    return event_key(AGENT, *parts)


def call_key(kind: str, call: str, chat: str) -> int:
    """A call's id is enough where the provider made it."""
    return key_of(kind, call if len(call) >= TRUSTED_ID else f"{chat}\x1f{call}")
