"""One session under way: where the reading is, and what is remembered between two readings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import msgspec

from hansei.events.keys import digest, event_key
from hansei.events.model import MARKER, Driver, Origin, Prompt, SessionFacts, Unrecognised
from hansei.sources.contract import Problem, retold
from hansei.sources.families import jsonl
from hansei.sources.families.records import FAILURES, rescue, salvage, value_of
from hansei.sources.families.streams import remember, short, text_digest
from hansei.sources.families.tree import records
from hansei.sources.families.tree.records import Entry, Message

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from hansei.events.model import AnyEvent, Tool
    from hansei.sources.families.tree.records import Block, Stamp

Where: TypeAlias = dict[str, Any]

CALLS_KEPT = 64
"""Calls whose results may still come: a model makes a handful at a time."""
LONGEST_NAME = 80


class Said(NamedTuple):
    """A piece of a text in the user's place, and who wrote it."""

    text: str
    origin: Origin


def as_said(text: str, _: Message) -> list[Said]:
    """A text as it stands, a person's."""
    return [Said(text, Origin.HUMAN)]


@dataclass(frozen=True)
class Dialect:
    """What one agent of this family does in its own way."""

    agent: str
    pieces: Callable[[str, Message], list[Said]] = as_said
    """A text in the user's place, taken apart by who wrote what."""
    learn: Callable[[SessionFacts, Said], None] | None = None
    """What a piece says of the session as a whole."""
    tools: Mapping[str, Tool] = field(default_factory=dict)
    """Tools that only this agent has."""
    own_provider: str = ""
    """The provider named in answers that no model gave: the program wrote them itself."""
    person_stops: bool = True
    """Whether an answer that was broken off was broken off by a person, as far as is known."""


class State(msgspec.Struct, omit_defaults=True):
    """What is remembered of a transcript: ids and places, never text."""

    session: str | None = None
    header: int | None = None
    """Where the line is that tells the folder."""
    model: int | None = None
    """Where the last line is that changed the model."""
    calls: dict[str, int] = {}
    """Calls by their id, with the place of the line that made them."""


class Asked(NamedTuple):
    """A call, as its result needs it."""

    stamp: str
    block: Block


@dataclass
class Reader:
    """A reading under way."""

    dialect: Dialect
    path: Path
    state: State
    session: str
    speaker: Origin | None = None
    """Who speaks where the text does not say it; None is a person."""
    cwd: str | None = None
    model: str | None = None
    where: Where = field(default_factory=dict)
    line: bytes = b""
    offset: int = 0
    records: int = 0
    problems: list[Problem] = field(default_factory=list)
    events: dict[int, AnyEvent] = field(default_factory=dict)
    sessions: dict[str, SessionFacts] = field(default_factory=dict)
    asked: dict[str, Asked] = field(default_factory=dict)

    def emit(self, event: AnyEvent) -> None:
        known = self.events.get(event.key)
        self.events[event.key] = event if known is None else retold(known, event)

    def key(self, kind: str, *parts: str) -> int:
        return event_key(self.dialect.agent, kind, *parts)

    def facts(self) -> SessionFacts:
        known = self.sessions.get(self.session)
        if known is None:
            known = SessionFacts(id=self.session, driver=Driver.HUMAN, cwd=self.cwd)
            self.sessions[self.session] = known
        return known

    def stamp(self, entry: Entry) -> str:
        """The time by which an entry is known again in a copy: its message's own, if it has one."""
        own = entry.message.timestamp if entry.message else None
        told: Stamp = entry.timestamp if own is None else own
        return str(told) if told is not None else digest(self.line)

    def prompt(self, stamp: str, said: Said, images: int = 0) -> None:
        origin = Origin.HANSEI if MARKER in said.text else said.origin
        key = self.key("prompt", stamp, text_digest(said.text))
        self.emit(Prompt(key=key, text=said.text, origin=origin, images=images, **self.where))

    def unrecognised(self, name: str) -> None:
        trace, size = digest(self.line), len(self.line)
        key = self.key("unrecognised", trace)  # whoever the header says it is of
        name = name[:LONGEST_NAME]
        self.emit(Unrecognised(key=key, name=name, digest=trace, size=size, **self.where))

    def ask(self, call: str, asked: Asked) -> None:
        """Remember a call until its result comes."""
        self.asked[call] = asked
        remember(self.state.calls, short(call), self.offset, CALLS_KEPT)

    def call(self, call: str) -> Asked | None:
        """The call a result belongs to, from this reading or an earlier one."""
        known = self.asked.get(call)
        place = self.state.calls.get(short(call))
        if known is not None or place is None:
            return known
        entry = self.entry_at(place)
        parts = entry.message.content if entry.message else None
        for block in parts if isinstance(parts, list) else []:
            if block.type == "toolCall" and block.id == call:
                return Asked(self.stamp(entry), block)
        return None

    def entry_at(self, offset: int) -> Entry:
        """An entry that was read before."""
        line = jsonl.line_at(self.path, offset)
        try:
            return records.decode(line)
        except FAILURES:
            return salvage(rescue(line).value or {}, Entry)

    def use_header(self, entry: Entry) -> None:
        self.cwd = entry.cwd or None

    def use_model(self, entry: Entry) -> None:
        self.model = model_in(entry)


def model_in(entry: Entry) -> str | None:
    """The model an entry changes to."""
    if entry.model_id:
        return entry.model_id
    held = value_of(entry.data)
    told = held.get("modelId") if isinstance(held, dict) else None
    return told if isinstance(told, str) else None


def open_reader(dialect: Dialect, path: Path, state: State, fallback: str) -> Reader:
    """A reading that knows again what an earlier one had learnt."""
    reader = Reader(dialect, path, state, state.session or fallback)
    if state.header is not None:
        reader.use_header(reader.entry_at(state.header))
    if state.model is not None:
        reader.use_model(reader.entry_at(state.model))
    return reader
