"""Reads one file of a session, in either layout, and says whose session it is."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from hansei.events.keys import digest, event_key
from hansei.events.model import (
    AnyEvent,
    Driver,
    Notice,
    Relation,
    SessionFacts,
    Unrecognised,
)
from hansei.sources.agents.gemini_cli import AGENT, WHOLE, messages
from hansei.sources.agents.gemini_cli.records import Record, decode
from hansei.sources.contract import Problem, Reading, retold
from hansei.sources.families import jsonl, whole
from hansei.sources.families.clock import instant
from hansei.sources.families.records import FAILURES, salvage, take_lines
from hansei.sources.families.streams import Tally, remember, short, text_digest

if TYPE_CHECKING:
    from pathlib import Path

    from hansei.sources.contract import Cursor, Transcript

MESSAGES_KEPT = 32
"""Messages that may still be told again line by line; the program retells only its last one."""
SEEN_KEPT = 4096
"""Messages that are known to be told when a whole conversation is told again."""
TRUSTED_ID = 16
"""Shorter ids are counters or made by hand: they name something only within their file."""
LONGEST_NAME = 64
_SHARED_ID = re.compile(r"[0-9a-f]{32}")
"""An id that is not made by chance: what sessions begin with has the same one in all of them."""


class State(msgspec.Struct, omit_defaults=True):
    session: str | None = None
    subagent: bool = False
    tallies: dict[str, Tally] = {}
    seen: dict[str, bool] = {}
    """Messages told so far, by digest."""


@dataclass
class Reader:
    """What one reading has found so far."""

    path: Path
    state: State
    cwd: str | None
    line: bytes = b""
    offset: int = 0
    events: dict[int, AnyEvent] = field(default_factory=dict)
    sessions: dict[str, SessionFacts] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    records: int = 0

    @property
    def session(self) -> str:
        return self.state.session or self.path.stem

    @property
    def is_subagent(self) -> bool:
        return self.state.subagent or parent_of(self.path) is not None

    def emit(self, event: AnyEvent) -> None:
        """Add an event; a second telling of the same one takes the first one's place."""
        known = self.events.get(event.key)
        self.events[event.key] = event if known is None else retold(known, event)

    def where(self, timestamp: Any) -> dict[str, Any]:
        return {"session": self.session, "at": instant(timestamp), "cwd": self.cwd}

    def key(self, kind: str, *parts: str) -> int:
        """Identity within this file where a part is too short to be one of a kind."""
        if len(parts[0]) < TRUSTED_ID:
            parts = (self.path.stem, *parts)
        elif _SHARED_ID.fullmatch(parts[0]):
            parts = (self.session, *parts)
        return event_key(AGENT, kind, *parts)

    def tally(self, message: str) -> Tally:
        name = short(message)
        tally = self.state.tallies.get(name) or Tally()
        remember(self.state.tallies, name, tally, MESSAGES_KEPT)
        return tally

    def facts(self) -> SessionFacts:
        return self.sessions.setdefault(self.session, SessionFacts(id=self.session))

    def unrecognised(self, native: str, at: Any = None) -> None:
        """Leave a trace of a record we do not know."""
        mark, name = digest(self.line), native[:LONGEST_NAME]
        key = event_key(AGENT, "unrecognised", name, mark)
        self.emit(
            Unrecognised(key=key, name=name, digest=mark, size=len(self.line), **self.where(at))
        )


def read(transcript: Transcript, since: Cursor, limit: int) -> Reading:
    """What is new in one file."""
    if transcript.variant == WHOLE:
        return _read_whole(transcript.path, since)
    part = jsonl.read(transcript.path, since, limit)
    state = State() if part.restarted else msgspec.convert(since.state, State)
    reader = Reader(transcript.path, state, folder_of(transcript.path))
    reader.problems += part.problems
    take_lines(reader, part.numbered(), Record, decode, _take)
    return Reading(
        cursor=part.cursor(msgspec.to_builtins(reader.state)),
        events=list(reader.events.values()),
        sessions=reader.sessions,
        problems=reader.problems,
        records=reader.records,
        taken=part.end - part.offset,
        more=part.more,
        restarted=part.restarted,
    )


def _read_whole(path: Path, since: Cursor) -> Reading:
    """The older layout: one object, written anew with every message."""
    found = whole.read(path, since)
    reading = Reading(found.cursor, problems=found.problems, restarted=found.restarted)
    if found.value is None:
        return reading
    try:
        conversation = msgspec.convert(found.value, Record)
    except FAILURES:
        conversation = salvage(found.value, Record)
    reader = Reader(path, State(), folder_of(path))
    _learn(reader, conversation)
    for message in conversation.messages or []:
        reader.line = msgspec.json.encode(message)
        reader.records += 1
        _message(reader, message, again=False)
    reading.events, reading.sessions = list(reader.events.values()), reader.sessions
    reading.records, reading.taken = reader.records, found.size
    return reading


def _take(reader: Reader, record: Record) -> None:
    """Turn one line into events."""
    if record.rewind_to is not None:
        _rewind(reader, record.rewind_to)
    elif record.id is not None:
        _message(reader, record, again=False)
    elif record.set is not None:
        _learn(reader, record.set)
        for message in record.set.messages or []:
            _message(reader, message, again=True)
    elif record.session_id is not None or record.project_hash is not None:
        _learn(reader, record)
    else:
        reader.unrecognised(record.type or "a record of no known kind", record.timestamp)


def _message(reader: Reader, record: Record, *, again: bool) -> None:
    """Tell a message, unless a whole conversation is only told again with it in it."""
    if record.id is None:
        reader.unrecognised("a message without an id", record.timestamp)
        return
    _learn_place(reader)
    mark = text_digest(record.id)
    if again and mark in reader.state.seen:
        messages.count_again(reader, record, record.id)
        return
    remember(reader.state.seen, mark, True, SEEN_KEPT)
    messages.tell(reader, record, record.id, synthetic=again)


def _rewind(reader: Reader, message: str) -> None:
    """What is taken back stays told: it was asked, answered and paid for."""
    _learn_place(reader)
    key = reader.key("rewind", message)
    reader.emit(Notice(key=key, name="rewind", data={"to": message}, **reader.where(None)))


# --- sessions -------------------------------------------------------------------------------------


def _learn(reader: Reader, record: Record) -> None:
    """What a line says of the session as a whole."""
    if record.session_id:
        reader.state.session = short(record.session_id)
    if record.kind == "subagent":
        reader.state.subagent = True
    if record.directories and reader.cwd is None:
        reader.cwd = record.directories[0]
    if record.session_id or reader.state.session:
        _learn_place(reader)
    if record.summary:
        reader.facts().title = record.summary


def _learn_place(reader: Reader) -> None:
    facts = reader.facts()
    facts.cwd = facts.cwd or reader.cwd
    if facts.driver is not None and not reader.is_subagent:
        return
    facts.driver = Driver.SUBAGENT if reader.is_subagent else Driver.HUMAN
    facts.driver_recorded = reader.is_subagent
    if reader.is_subagent:
        facts.parent, facts.relation = parent_of(reader.path), Relation.SUBAGENT


def parent_of(path: Path) -> str | None:
    """The session whose folder a subagent's file lies in."""
    return path.parent.name if path.parent.parent.name == "chats" else None


def folder_of(path: Path) -> str | None:
    """The folder that was worked in: by a note beside the chats, or by the lists of projects."""
    chats = next((it for it in path.parents if it.name == "chats"), None)
    if chats is None:
        return None
    project = chats.parent
    try:
        noted = (project / ".project_root").read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        noted = ""
    return noted or _listed(project.parent.parent, project.name)


def _listed(program: Path, project: str) -> str | None:
    """A folder whose short name or digest is the project's, in the program's own lists."""
    for folder, name in _entries(program / "projects.json", "projects").items():
        if name == project:
            return folder
    known = _entries(program / "trustedFolders.json")
    return next((it for it in known if hashlib.sha256(it.encode()).hexdigest() == project), None)


def _entries(path: Path, *below: str) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
        for name in below:
            value = value[name]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return value if isinstance(value, dict) else {}
