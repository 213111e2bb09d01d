"""One reading under way, and what an event is known by.

A fork copies a session's messages and their parts under new ids, into a session that does not say
where they came from. Nothing else in them changes. So ids of sessions, messages and parts identify
nothing, and what a copy keeps must do:

- a prompt is known by the time its message was made, and by its words;
- what belongs to an answer is known by the time the answer was begun, by the prompt it answers,
  and by its words, its call or its number.

Two sessions at work at the same time may well begin a message in the same millisecond; they are not
asked the same thing then.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import msgspec

from hansei.events.keys import digest, event_key
from hansei.events.model import AnyEvent, SessionFacts, Unrecognised
from hansei.sources.agents.opencode import AGENT, records
from hansei.sources.agents.opencode.records import Message, Part
from hansei.sources.contract import Problem, retold
from hansei.sources.families.clock import instant
from hansei.sources.families.records import FAILURES, rescue, salvage
from hansei.sources.families.streams import text_digest

if TYPE_CHECKING:
    from collections.abc import Callable

    from hansei.sources.agents.opencode.storage import Storage
    from hansei.sources.agents.opencode.stored import Stored

T = TypeVar("T", bound=msgspec.Struct)

LONGEST_NAME = 64

Where: TypeAlias = dict[str, Any]
"""The fields that all events of one message share: session, cwd, and a time that may be refined."""


class Asked(NamedTuple):
    """The message that an answer answers, as far as its events need it."""

    identity: str = ""
    """What it is known by, in whichever copy."""
    text: str = ""
    """Its first text."""
    compaction: Part | None = None
    """That it asks for a summary."""


class Owner(NamedTuple):
    """The session a message stands in."""

    id: str
    cwd: str | None
    is_child: bool


@dataclass
class Said:
    """A message with its parts, on the way to becoming events."""

    owner: Owner
    message: Message
    parts: list[Part]
    made: str
    """When it was made, or its id if it does not say."""
    asked: Asked = field(default_factory=Asked)
    told: dict[str, int] = field(default_factory=dict)
    """How often each text of it was told."""

    @property
    def where(self) -> Where:
        path = self.message.path
        cwd = (path.cwd if path else None) or self.owner.cwd
        return {"session": self.owner.id, "at": self.at("created"), "cwd": cwd}

    def at(self, moment: str) -> int | None:
        return moment_of(self.message.time, moment)

    @property
    def is_over(self) -> bool:
        """Whether nothing more will be said in it."""
        return self.at("completed") is not None or self.message.error is not None

    def key(self, kind: str, *parts: str) -> int:
        return event_key(AGENT, kind, self.asked.identity, self.made, *parts)

    def text_key(self, kind: str, text: str) -> int:
        """By its words, and how often they came before in this message."""
        mark = text_digest(text)
        name = f"{kind}:{mark}"
        before = self.told.get(name, 0)
        self.told[name] = before + 1
        return self.key(kind, mark, str(before))


@dataclass
class Reader:
    """What one reading has found so far."""

    storage: Storage
    events: dict[int, AnyEvent] = field(default_factory=dict)
    sessions: dict[str, SessionFacts] = field(default_factory=dict)
    owners: dict[str, Owner] = field(default_factory=dict)
    own_records: dict[str, records.Session] = field(default_factory=dict)
    asked: dict[str, Asked] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    records: int = 0
    taken: int = 0
    met_a_copy: bool = False
    """Whether another session told what is told already, which the next reading has to tell."""

    def emit(self, event: AnyEvent) -> None:
        """Add an event; a second telling of the same one takes the first one's place."""
        known = self.events.get(event.key)
        if known is not None and known.session != event.session:
            self.met_a_copy = True
        else:
            self.events[event.key] = event if known is None else retold(known, event)

    def facts(self, session: str) -> SessionFacts:
        known = self.sessions.get(session)
        if known is None:
            known = self.sessions[session] = SessionFacts(id=session)
        return known

    def unrecognised(self, said: Said, native: str, stored: Stored) -> None:
        """Leave a trace of a record we do not know."""
        mark, name = digest(stored.data), native[:LONGEST_NAME]
        key = said.key("unrecognised", name, mark)
        size = len(stored.data)
        self.emit(Unrecognised(key=key, name=name, digest=mark, size=size, **said.where))

    def record(self, stored: Stored, kind: type[T], decode: Callable[[bytes], T]) -> T | None:
        """What is stored as a record; None, and a problem noted, if it cannot be one."""
        self.records += 1
        self.taken += len(stored.data)
        try:
            return decode(stored.data)
        except FAILURES:
            value, reason = rescue(stored.data)
        if reason is not None or value is None:
            what = f"{kind.__name__.lower()}: {reason or 'empty'}"
            self.problems.append(Problem(stored.place, stored.place, what))
        return None if value is None else salvage(value, kind)

    def asked_by(self, message: str | None) -> Asked:
        """The message with this id, as what an answer is known by."""
        if message is None:
            return Asked()
        known = self.asked.get(message)
        if known is None:
            known = self.asked[message] = self._look_up(message)
        return known

    def _look_up(self, message: str) -> Asked:
        stored = self.storage.message(message)
        if stored is None:
            return Asked()
        found = _quietly(stored.data, Message, records.decode_message)
        parts = [
            _quietly(part.data, Part, records.decode_part) for part in self.storage.parts(message)
        ]
        text = next((part.text for part in parts if part.type == "text" and part.text), "")
        made = moment_of(found.time, "created")
        identity = digest(f"{made or message}\x1f{text}".encode("utf-8", "surrogatepass"))
        compaction = next((part for part in parts if part.type == "compaction"), None)
        return Asked(identity, text, compaction)


def _quietly(data: bytes, kind: type[T], decode: Callable[[bytes], T]) -> T:
    """A record whose problems are told where it is read for its own sake."""
    try:
        return decode(data)
    except FAILURES:
        return salvage(rescue(data).value or {}, kind)


def moment_of(times: records.Times | None, name: str) -> int | None:
    """One of the times of a record, as a time."""
    return instant(getattr(times, name)) if times is not None else None
