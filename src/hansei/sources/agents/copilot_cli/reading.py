"""Reads one session's file of events, and says whose session an event is."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from hansei.events.keys import digest, event_key
from hansei.events.model import AnyEvent, Driver, Relation, SessionFacts, Unrecognised
from hansei.sources.agents.copilot_cli import AGENT, name_of
from hansei.sources.agents.copilot_cli.records import Data, Record, decode
from hansei.sources.contract import Problem, Reading, retold
from hansei.sources.families import jsonl
from hansei.sources.families.clock import instant
from hansei.sources.families.records import FAILURES, rescue, salvage, take_lines
from hansei.sources.families.streams import remember, short

if TYPE_CHECKING:
    from pathlib import Path

    from hansei.sources.contract import Cursor, Transcript

CALLS_KEPT = 256
"""Calls that may still be started or answered."""
TRUSTED_ID = 16
"""Shorter ids are counters or made by hand: they name something only within their file."""
LONGEST_NAME = 64
_NOTED = re.compile(
    r"^(name|summary|cwd|branch): +['\"]?([^\s'\"|>][^\n]*?)['\"]?\s*$", re.MULTILINE
)


class State(msgspec.Struct, omit_defaults=True):
    session: str | None = None
    context: int | None = None
    """Where the last line stands that tells the folder and the branch."""
    model: int | None = None
    """Where the last line stands that tells the model."""
    calls: dict[str, int] = {}
    """Calls without a result: where the line stands that tells their arguments."""
    told: dict[str, int] = {}
    """Output tokens of this run that its answers have told, by model."""
    children: dict[str, str] = {}
    """Calls without a result that have started a subagent, and which."""
    skill: int | None = None
    """Where the last line stands that tells a skill's text."""
    version: str | None = None
    recorded: bool = False
    """Whether requests have records of their own."""
    seen: dict[str, int] = {}
    """When each subagent of this run was last at work."""
    last: str | None = None
    """The answer told last, which may come in several parts."""
    last_output: int = 0


@dataclass
class Reader:
    """What one reading has found so far."""

    path: Path
    state: State
    line: bytes = b""
    offset: int = 0
    cwd: str | None = None
    branch: str | None = None
    model: str | None = None
    events: dict[int, AnyEvent] = field(default_factory=dict)
    sessions: dict[str, SessionFacts] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    records: int = 0

    @property
    def session(self) -> str:
        return self.state.session or name_of(self.path)

    def emit(self, event: AnyEvent) -> None:
        """Add an event; a second telling of the same one takes the first one's place."""
        known = self.events.get(event.key)
        self.events[event.key] = event if known is None else retold(known, event)

    def key(self, kind: str, *parts: str) -> int:
        """Identity within this file where a part is too short to be one of a kind."""
        if len(parts[0]) < TRUSTED_ID:
            parts = (name_of(self.path), *parts)
        return event_key(AGENT, kind, *parts)

    def identity(self, record: Record) -> str:
        """What an event is known by."""
        return record.id or digest(self.line)

    def data_at(self, offset: int | None) -> Data:
        """What a line says that was passed before."""
        return Data() if offset is None else (_record_of(self.line_at(offset)).data or Data())

    def line_at(self, offset: int) -> bytes:
        return self.line if offset == self.offset else jsonl.line_at(self.path, offset)

    def wait_for(self, call: str) -> bool:
        """Note where a call's arguments stand; tells whether it was noted before."""
        name = short(call)
        known = name in self.state.calls
        remember(self.state.calls, name, self.offset, CALLS_KEPT)
        return known

    def facts(self, session: str) -> SessionFacts:
        return self.sessions.setdefault(session, SessionFacts(id=session))

    def main(self) -> SessionFacts:
        """The session of the file itself. Who drives it is not recorded: mostly a person."""
        facts = self.facts(self.session)
        facts.driver = facts.driver or Driver.HUMAN
        return facts

    def within(self, where: dict[str, Any]) -> str:
        """The file and the subagent in it: what a text is told apart by that has no id."""
        return f"{name_of(self.path)}/{where['session'].partition('/')[2]}"

    def where(self, record: Record) -> dict[str, Any]:
        at = instant(record.timestamp)
        session = session_of(self, record)
        return {"session": session, "at": at, "cwd": self.cwd, "branch": self.branch}

    def unrecognised(self, native: str, where: dict[str, Any]) -> None:
        """Leave a trace of a record we do not know."""
        mark, name = digest(self.line), native[:LONGEST_NAME]
        key = event_key(AGENT, "unrecognised", name, mark)
        self.emit(Unrecognised(key=key, name=name, digest=mark, size=len(self.line), **where))


def _record_of(line: bytes) -> Record:
    try:
        return decode(line)
    except FAILURES:
        return salvage(rescue(line).value or {}, Record)


def read(transcript: Transcript, since: Cursor, limit: int) -> Reading:
    """What is new in one file."""
    from hansei.sources.agents.copilot_cli import happenings

    part = jsonl.read(transcript.path, since, limit)
    state = State() if part.restarted else msgspec.convert(since.state, State)
    reader = Reader(transcript.path, state, offset=-1)
    reader.problems += part.problems
    noted = _noted(transcript.path)
    reader.cwd, reader.branch = noted.get("cwd"), noted.get("branch")
    use_context(reader, reader.data_at(state.context))
    use_model(reader, reader.data_at(state.model))
    take_lines(reader, part.numbered(), Record, decode, happenings.take)
    _learn_noted(reader, noted)
    return part.reading(reader, msgspec.to_builtins(reader.state))


# --- sessions -------------------------------------------------------------------------------------


def session_of(reader: Reader, record: Record) -> str:
    """The session an event belongs to: that of the file, or of a subagent in it."""
    data = record.data or Data()
    own = record.agent_id or data.parent_tool_call_id
    if not own:
        return reader.main().id
    main = reader.session
    session = f"{main}/agent-{short(own)}"
    facts = reader.facts(session)
    facts.driver, facts.driver_recorded = Driver.SUBAGENT, True
    facts.version = reader.state.version
    facts.parent, facts.relation = main, Relation.SUBAGENT
    facts.cwd, facts.branch = facts.cwd or reader.cwd, reader.branch
    if (at := instant(record.timestamp)) is not None:
        remember(reader.state.seen, short(own), at, CALLS_KEPT)
    return session


def use_context(reader: Reader, data: Data) -> None:
    """Take the folder and the branch from what an event says."""
    context = data.context
    cwd, branch = (context.cwd, context.branch) if context else (data.cwd, data.branch)
    if cwd:
        reader.cwd, reader.branch = cwd, branch


def use_model(reader: Reader, data: Data) -> None:
    reader.model = data.new_model or data.selected_model or reader.model


def _noted(path: Path) -> dict[str, str]:
    """What the program notes of a session in a file beside the events."""
    try:
        text = (path.parent / "workspace.yaml").read_text("utf-8", "replace")
    except OSError:
        return {}
    return dict(_NOTED.findall(text))


def _learn_noted(reader: Reader, noted: dict[str, str]) -> None:
    if reader.session not in reader.sessions:
        return
    facts = reader.facts(reader.session)
    facts.title = noted.get("name") or noted.get("summary")
    facts.cwd = facts.cwd or reader.cwd
    facts.branch = facts.branch or reader.branch
