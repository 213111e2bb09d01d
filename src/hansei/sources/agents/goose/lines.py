"""A session kept as a file: what it is on the first line, then a message on each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from hansei.events.model import Driver
from hansei.sources.agents.goose import messages, sessions
from hansei.sources.agents.goose.calls import Asked, asked_in
from hansei.sources.agents.goose.messages import Owner, Said, Told
from hansei.sources.agents.goose.records import Line, Visibility, decode_line, words
from hansei.sources.contract import START, Reading
from hansei.sources.families import jsonl
from hansei.sources.families.records import FAILURES, rescue, salvage, take_lines
from hansei.sources.families.streams import remember, short

if TYPE_CHECKING:
    from hansei.sources.contract import Cursor, Problem, Transcript

CALLS_KEPT = 64
"""Calls whose results may still come: a model makes a handful at a time."""


class State(msgspec.Struct, omit_defaults=True):
    """What is remembered of a file: ids and places, never text."""

    header: int | None = None
    last: int | None = None
    """Where the last message is."""
    calls: dict[str, int] = {}


@dataclass
class Reader:
    """A reading under way."""

    transcript: Transcript
    state: State
    owner: Owner
    told: Told = field(default_factory=Told)
    line: bytes = b""
    offset: int = 0
    records: int = 0
    problems: list[Problem] = field(default_factory=list)

    def line_at(self, offset: int | None) -> Line:
        line = b"" if offset is None else jsonl.line_at(self.transcript.path, offset)
        try:
            return decode_line(line)
        except FAILURES:
            return salvage(rescue(line).value or {}, Line)

    def before(self) -> str:
        line = self.line_at(self.state.last)
        put_in = line.metadata is not None and line.metadata.agent_only
        return words(line.content or []) if put_in else ""

    def asked(self, call: str) -> Asked | None:
        line = self.line_at(self.state.calls.get(short(call)))
        parts = [part for part in line.content or () if part.tool_call and part.id == call]
        return asked_in(line.created, parts[0]) if parts else None


def read(transcript: Transcript, since: Cursor, limit: int) -> Reading:
    """What is new since the cursor."""
    part = jsonl.read(transcript.path, since, limit)
    fresh = part.restarted or since.offset == 0
    try:
        state = State() if fresh else msgspec.convert(since.state, State)
    except msgspec.ValidationError:  # notes of another version of this file: begin again
        reading = read(transcript, START, limit)
        reading.restarted = True
        return reading
    session = short(transcript.path.name.removesuffix(".jsonl"))
    reader = Reader(transcript, state, Owner(session, Driver.HUMAN))
    if state.header is not None:
        reader.owner = sessions.of_header(session, reader.line_at(state.header)).owner
    take_lines(reader, part.numbered(), Line, decode_line, _take)
    return Reading(
        cursor=part.cursor(msgspec.to_builtins(state)),
        events=list(reader.told.events.values()),
        sessions=reader.told.sessions,
        problems=part.problems + reader.problems,
        records=reader.records + len(part.problems),
        taken=part.end - part.offset,
        more=part.more,
        restarted=part.restarted,
    )


def _take(reader: Reader, line: Line) -> None:
    state = reader.state
    if line.role is None and line.content is None:
        if state.header is None:
            state.header = reader.offset
            found = sessions.of_header(reader.owner.id, line)
            reader.owner = found.owner
            sessions.tell(reader.told, found, found.total)
        return
    sessions.learn(reader.told, reader.owner)
    said = Said(
        owner=reader.owner,
        role=line.role or "",
        created=line.created,
        content=line.content or [],
        visibility=line.metadata or Visibility(),
        before=reader.before,
        ask=reader.asked,
    )
    for block in said.content:
        if block.tool_call is not None and block.id:
            remember(state.calls, short(block.id), reader.offset, CALLS_KEPT)
    messages.take(reader.told, said, reader.line)
    state.last = reader.offset
