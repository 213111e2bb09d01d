"""One reading of one transcript under way: what it remembers, and whose session a record is.

What is remembered between two readings is ids, numbers and digests, never text: a cursor is stored
as it is, and only events pass the redaction.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from hansei.events.keys import digest, event_key
from hansei.events.model import (
    AnyEvent,
    Driver,
    Relation,
    RequestUsage,
    SessionFacts,
    Unrecognised,
)
from hansei.sources.agents.claude_code.source import AGENT, SUBAGENT
from hansei.sources.contract import Problem, Transcript, retold
from hansei.sources.families.records import plain, salvage
from hansei.sources.families.streams import Tally, remember, short, text_digest

if TYPE_CHECKING:
    from pathlib import Path

    from hansei.sources.agents.claude_code.records import Record

MESSAGES_KEPT = 32
"""Answers whose lines may still go on; with twenty subagents at work, 17 others came in between."""
CALLS_KEPT = 32
"""Calls that may still wait for their result; twelve at once is the most seen."""
CHAINS_KEPT = 128
"""Records a subagent inside its parent's file may go on from."""
LONGEST_NAME = 64
TRUSTED_ID = 16
"""Shorter ids are counters or made by hand: they name something only within their session."""

_PEOPLE = ("cli", "claude-desktop", "claude-vscode", "claude-jetbrains", "ide")
"""Ways in that have a person at the other end, as `entrypoint` names them."""
_HELPER = re.compile(r"agent-a([a-z_]+)-[0-9a-f]+$")
"""Subagents the program runs for itself carry their purpose in their name."""


class Queued(msgspec.Struct, array_like=True):
    """A prompt waiting for its turn: where its line is, and what its text is known by."""

    offset: int
    digest: str


class Boundary(msgspec.Struct, array_like=True):
    """A compaction whose summary may follow: its record and key, and what was said of it."""

    record: str
    key: int
    trigger: str | None
    tokens_before: int | None


class State(msgspec.Struct, omit_defaults=True):
    root: str | None = None
    """The session a subagent's file belongs to, where the folder does not say it."""
    messages: dict[str, Tally] = {}
    hidden: dict[str, bool] = {}
    """Shell calls whose exit code says nothing; True for those that run on alone."""
    tasks: dict[str, str] = {}
    """Calls that start a subagent, by the digest of its prompt."""
    chains: dict[str, str] = {}
    """Records of subagents inside a main file, each with the first record of its chain."""
    queue: list[Queued] = []
    delivered: dict[str, int] = {}
    """Prompts that went in while the agent was at work: key by digest, for an attachment that may
    tell them again."""
    boundary: Boundary | None = None
    leaf: str | None = None
    """The last record with an id, for a title that may follow it."""
    named: bool = False
    """Whether a person gave the session its title."""


Where: TypeAlias = dict[str, Any]
"""The fields all events of one record share: session, at, cwd, branch."""


@dataclass
class Reader:
    """What one reading has found so far."""

    transcript: Transcript
    state: State
    session: str
    """The session of the file itself."""
    root: str | None
    """The session under which subagents of this file are numbered; None until a record says it."""
    line: bytes = b""
    offset: int = 0
    events: dict[int, AnyEvent] = field(default_factory=dict)
    requests: dict[str, tuple[int, Tally]] = field(default_factory=dict)
    """Requests told in this reading, each with its key: their counts are settled at the end."""
    leaf: str | None = None
    """The last record with an id."""
    learned: tuple[str | None, ...] = ()
    """What the last record said of its session: mostly the next one says the same."""
    sessions: dict[str, SessionFacts] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    records: int = 0

    def emit(self, event: AnyEvent) -> None:
        """Add an event; a second telling of the same one takes the first one's place."""
        known = self.events.get(event.key)
        self.events[event.key] = event if known is None else retold(known, event)

    def facts(self, session: str) -> SessionFacts:
        known = self.sessions.get(session)
        if known is None:
            known = self.sessions[session] = SessionFacts(id=session)
        return known

    def counts_later(self, identity: str, tally: Tally) -> bool:
        """Whether a line only adds to a request that was told and will be settled at the end."""
        known = self.requests.get(identity)
        if known is None:
            return False
        if known[1] is tally:
            return True
        # Its first lines are too long ago to be remembered: from here on each line is merged.
        self._settle(*known)
        return False

    def settle(self) -> list[AnyEvent]:
        """The events of this reading, once all its lines have been counted."""
        for key, tally in self.requests.values():
            self._settle(key, tally)
        self.state.leaf = short(self.leaf) if self.leaf else None
        return list(self.events.values())

    def _settle(self, key: int, tally: Tally) -> None:
        event = self.events[key]
        if isinstance(event, RequestUsage) and tally.lines > event.lines:
            self.events[key] = msgspec.structs.replace(event, **tally.totals())

    def tally(self, identity: str) -> Tally:
        """What the lines of one answer have said so far."""
        name = short(identity)
        tally = self.state.messages.get(name) or Tally()
        remember(self.state.messages, name, tally, MESSAGES_KEPT)
        return tally

    def unrecognised(self, native: str, where: Where) -> None:
        """Leave a trace of a record we do not know."""
        mark = digest(self.line)
        native = native[:LONGEST_NAME]
        key = key_of("unrecognised", native, mark)
        size = len(self.line)
        self.emit(Unrecognised(key=key, name=native, digest=mark, size=size, **where))


def open_reader(transcript: Transcript, state: State, *, fresh: bool) -> Reader:
    """A reader for a session's or a subagent's file."""
    session = root = transcript.path.stem
    if transcript.variant != SUBAGENT:
        return Reader(transcript, state, session, root, leaf=state.leaf)
    folder = subagents_folder(transcript.path)
    parent = folder.parent.name if folder else state.root
    if parent is None:
        return Reader(transcript, state, session, None, leaf=state.leaf)
    reader = Reader(transcript, state, f"{parent}/{session}", parent, leaf=state.leaf)
    if fresh:
        _learn_meta(reader)
    return reader


def subagents_folder(path: Path) -> Path | None:
    """The folder that holds a session's subagents, if the file lies in one."""
    return next((folder for folder in path.parents if folder.name == "subagents"), None)


def helper_purpose(path: Path) -> str | None:
    """What the program runs this subagent for, if it runs it for itself."""
    found = _HELPER.match(path.stem)
    return found[1] if found else None


# --- identity -------------------------------------------------------------------------------------


def key_of(*parts: str) -> int:
    return event_key(AGENT, *parts)


def record_id(record: Record, text: str) -> str:
    """What a record is known by, wherever it is copied to."""
    uuid = record.uuid or ""
    if len(uuid) >= TRUSTED_ID:
        return uuid
    return f"{record.type}\x1f{uuid}\x1f{record.timestamp}\x1f{text_digest(text)}"


def answer_id(
    session: str, message: str | None, request: str | None, uuid: str | None, line: bytes
) -> str:
    """What a model's answer is known by: the provider's id alone where the provider gave one.

    Ids too short to be one of a kind name an answer only within its session.
    """
    if not message:
        return uuid or digest(line)
    if message.startswith("msg_") and len(message) >= len("msg_") + 20:
        return message
    both = f"{message}\x1f{request or ''}"
    return both if max(len(message), len(request or "")) >= TRUSTED_ID else f"{session}\x1f{both}"


def call_id(call: str, where: Where) -> str:
    return call if len(call) >= TRUSTED_ID else f"{where['session']}\x1f{call}"


# --- sessions -------------------------------------------------------------------------------------


def session_of(reader: Reader, record: Record) -> str:
    """The session a record belongs to."""
    if reader.transcript.variant == SUBAGENT:
        if reader.root is None and record.session_id:
            reader.root = reader.state.root = short(record.session_id)
            reader.session = f"{reader.root}/{reader.session}"
            _learn_meta(reader)
        return reader.session
    return _chain(reader, record) if record.is_sidechain else reader.session


def _chain(reader: Reader, record: Record) -> str:
    """The session of a subagent whose records stand in its parent's file."""
    state = reader.state
    known = state.chains.get(short(record.parent_uuid or ""))
    first = known or short(record.uuid or "unknown")
    if record.uuid:
        remember(state.chains, short(record.uuid), first, CHAINS_KEPT)
    session = f"{reader.session}/side-{first}"
    facts = learn_subagent(reader, session, reader.session)
    if known is None and record.message is not None:
        for block in record.message.blocks():
            facts.spawned_by = facts.spawned_by or state.tasks.get(text_digest(block.text or ""))
    return session


def learn_subagent(reader: Reader, session: str, parent: str | None) -> SessionFacts:
    """What holds for every subagent's session."""
    facts = reader.facts(session)
    facts.driver, facts.driver_recorded = Driver.SUBAGENT, True
    facts.parent, facts.relation = facts.parent or parent, Relation.SUBAGENT
    return facts


def learn(reader: Reader, record: Record, session: str) -> None:
    """Take what a record says of its session as a whole."""
    said = (
        session,
        record.cwd,
        record.git_branch,
        record.version,
        record.entrypoint,
        record.session_id,
        record.attribution_agent,
        record.forked_from.session_id if record.forked_from else None,
    )
    if said == reader.learned:
        return
    reader.learned = said
    facts = reader.facts(session)
    facts.cwd = facts.cwd or record.cwd
    facts.branch = branch_of(record) or facts.branch
    facts.version = record.version or facts.version
    facts.entrypoint = facts.entrypoint or record.entrypoint
    if reader.transcript.variant == SUBAGENT:
        learn_subagent(reader, session, reader.root)
        facts.role = facts.role or record.attribution_agent
    elif not record.is_sidechain:
        _learn_main(facts, record)


def _learn_main(facts: SessionFacts, record: Record) -> None:
    copied, owner = record.forked_from, record.session_id
    if copied is not None and copied.session_id:
        facts.parent, facts.relation = copied.session_id, Relation.FORK
    elif facts.parent is None and owner and owner != facts.id:
        facts.parent, facts.relation = owner, Relation.CONTINUATION
    if record.version and not facts.driver_recorded:
        facts.driver, facts.driver_recorded = _driver(record.entrypoint)


def _driver(entrypoint: str | None) -> tuple[Driver, bool]:
    """Who drove a session, and whether the transcript says so."""
    if entrypoint and entrypoint.startswith("sdk"):
        return Driver.AUTOMATED, True
    return Driver.HUMAN, entrypoint in _PEOPLE


def branch_of(record: Record) -> str | None:
    """The branch; without a repository or on no branch the program writes `HEAD` or nothing."""
    branch = record.git_branch
    return branch if branch and branch != "HEAD" else None


class _Meta(msgspec.Struct, rename="camel"):
    agent_type: str | None = None
    description: str | None = None
    tool_use_id: str | None = None
    parent_agent_id: str | None = None


def _learn_meta(reader: Reader) -> None:
    """What the file beside a subagent's transcript says of it."""
    path = reader.transcript.path
    try:
        meta = salvage(plain(path.with_suffix(".meta.json").read_bytes()), _Meta)
    except OSError:
        meta = _Meta()
    parent = reader.root
    if parent and meta.parent_agent_id:
        parent = f"{parent}/agent-{meta.parent_agent_id}"
    facts = learn_subagent(reader, reader.session, parent)
    facts.role = meta.agent_type or helper_purpose(path)
    facts.title, facts.spawned_by = meta.description, meta.tool_use_id
