"""One reading of one rollout under way: what it remembers, and what an event is known by.

A fork's or a subagent's file begins with lines of the thread it came from. Those lines have new
times, new item ids and perhaps less in them than the original, so none of that can be an identity.
What every copy keeps is the id of the turn, the ids of calls, the running total of tokens, and the
words. Before turns had ids, the oldest thread named in the file and the running total so far stand
for the turn.

What is remembered between two readings is ids, numbers and digests, never text: a cursor is stored
as it is, and only events pass the redaction.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from hansei.events.keys import digest, event_key
from hansei.events.model import AnyEvent, SessionFacts, Unrecognised
from hansei.sources.agents.codex import AGENT
from hansei.sources.agents.codex.records import Payload, Record, decode
from hansei.sources.contract import Problem, Transcript, retold
from hansei.sources.families import jsonl, zstd
from hansei.sources.families.records import FAILURES, rescue, salvage
from hansei.sources.families.streams import text_digest

if TYPE_CHECKING:
    from hansei.events.model import FileEdit

CALLS_KEPT = 32
"""Calls whose result may still come; parallel calls are a handful."""
TEXTS_KEPT = 256
"""Texts of one turn of which a second, equal one is told apart."""
TRUSTED_ID = 16
"""Shorter ids are counters or made by hand: they name something only within their thread."""
TIME = 13
"""Characters of a UUID of the seventh kind that tell its time, to the millisecond."""
LONGEST_NAME = 64

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

Where: TypeAlias = dict[str, Any]
"""The fields all events of one line share: session, at, cwd."""


class Spent(msgspec.Struct, array_like=True):
    """The request that was told last."""

    key: int
    totals: list[int]
    """The thread's running total with this request in it."""
    counts: list[int | None]
    """What it took: uncached input, cache reads, cache writes, output, reasoning."""
    lines: int = 1
    told: int = 0
    """Tokens of all its lines added up."""
    recorded: bool = False
    """Whether a usage record has told of it."""
    awaited: bool = False
    """Whether a usage record told it first and the running total has yet to follow."""


class Call(msgspec.Struct, array_like=True):
    """A call whose result must be seen in its light."""

    masked: bool = False
    """Its exit code says nothing about what was run."""
    offset: int | None = None
    """Where its line is, if it holds a patch."""


class Note(msgspec.Struct, array_like=True):
    """What was told of a call's end before its result."""

    exit_code: int | None = None
    status: str | None = None
    child: str | None = None


class Compacted(msgspec.Struct, array_like=True):
    """A compaction and the kinds of lines that have told of it."""

    key: int
    forms: list[str]


class State(msgspec.Struct, omit_defaults=True):
    session: str | None = None
    """The thread of the file, where the file's name does not say it."""
    root: str | None = None
    """The oldest thread that the file's first lines name, if it is not the file's own."""
    helper: str | None = None
    """For a subagent: `agent` if another agent gave it its task, `program` if the program did."""
    turn: str = ""
    asked: bool = False
    """Whether a person has spoken in this turn."""
    texts: dict[str, int] = {}
    """How often each text of this turn was told."""
    context: int | None = None
    """Where the line is that says the folder and the model now in use."""
    tier: str | None = None
    spent: Spent | None = None
    calls: dict[str, Call] = {}
    notes: dict[str, Note] = {}
    compacted: Compacted | None = None
    compactions: int = 0


@dataclass
class Reader:
    """What one reading has found so far."""

    transcript: Transcript
    state: State
    session: str
    where: Where = field(default_factory=dict)
    stamp: str | int | float | None = None
    at: int | None = None
    line: bytes = b""
    offset: int = 0
    cwd: str | None = None
    model: str | None = None
    events: dict[int, AnyEvent] = field(default_factory=dict)
    edits: dict[str, list[FileEdit]] = field(default_factory=dict)
    """Edits of calls met in this reading; those of earlier ones are read again from their line."""
    sessions: dict[str, SessionFacts] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    records: int = 0

    def emit(self, event: AnyEvent) -> None:
        """Add an event; a second telling of the same one takes the first one's place."""
        known = self.events.get(event.key)
        self.events[event.key] = event if known is None else retold(known, event)

    def facts(self) -> SessionFacts:
        known = self.sessions.get(self.session)
        if known is None:
            known = self.sessions[self.session] = SessionFacts(id=self.session)
        return known

    def unrecognised(self, native: str) -> None:
        """Leave a trace of a line we do not know."""
        mark = digest(self.line)
        native = native[:LONGEST_NAME]
        key = key_of("unrecognised", native, mark)
        size = len(self.line)
        self.emit(Unrecognised(key=key, name=native, digest=mark, size=size, **self.where))

    # --- turns ------------------------------------------------------------------------------------

    def begin_turn(self, turn: str | None) -> None:
        """Go on in this turn; it may be the one we are in."""
        state = self.state
        if turn and turn != state.turn and is_uuid(turn):
            state.turn = turn
            state.asked = False
            self.forget_texts()

    def forget_texts(self) -> None:
        """What was told so far cannot be confused with what follows."""
        state = self.state
        state.texts.clear()
        state.compacted, state.compactions = None, 0

    def thread(self, turn: str | None = None) -> str:
        """What the turn is known by, in whichever file; without a turn's id, the thread."""
        own = turn if turn and is_uuid(turn) else self.state.turn
        return own or self.state.root or self.session

    def turn(self, turn: str | None = None) -> str:
        """The same, but without a turn's id only the part of the thread since the last request."""
        own = turn if turn and is_uuid(turn) else self.state.turn
        spent = self.state.spent
        return own or f"{self.thread()}#{spent.totals if spent else ''}"

    def text_key(self, kind: str, text: str, turn: str | None = None) -> int:
        """What a text is known by: its turn, its words, and how often they came before."""
        return self.mark_key(kind, text_digest(text), turn)

    def mark_key(self, kind: str, mark: str, turn: str | None) -> int:
        """The same by the digest of the words."""
        name = f"{kind}:{mark}"
        texts = self.state.texts
        before = texts.get(name, 0)
        texts[name] = before + 1
        if len(texts) > TEXTS_KEPT:
            del texts[next(iter(texts))]
        return key_of(kind, self.turn(turn), mark, str(before))

    def is_inherited(self, turn: str | None) -> bool:
        """Whether a turn is older than this thread and so that of another one.

        Both ids begin with the time they were made at, so they can be compared as they are.
        """
        turn = turn or self.state.turn
        return is_timed(turn) and is_timed(self.session) and turn[:TIME] < self.session[:TIME]

    # --- lines elsewhere in the file --------------------------------------------------------------

    def payload_at(self, offset: int) -> Payload:
        """The payload of the line at an offset."""
        path = self.transcript.path
        packed = path.suffix == zstd.SUFFIX
        return payload_of((zstd if packed else jsonl).line_at(path, offset))

    def use_context(self, payload: Payload) -> None:
        self.cwd, self.model = payload.cwd or self.cwd, payload.model or self.model


def payload_of(line: bytes) -> Payload:
    """The payload in a line of which it is known that it has one."""
    try:
        record = decode(line)
    except FAILURES:
        record = salvage(rescue(line).value or {}, Record)
    return record.payload or Payload()


# --- identity -------------------------------------------------------------------------------------


def key_of(*parts: str) -> int:
    return event_key(AGENT, *parts)


def call_key(reader: Reader, kind: str, call: str) -> int:
    """A call's id is enough where the provider made it."""
    trusted = len(call) >= TRUSTED_ID
    return key_of(kind, call if trusted else f"{reader.turn()}\x1f{call}")


def is_uuid(identity: str) -> bool:
    return _UUID.fullmatch(identity) is not None


def is_timed(identity: str) -> bool:
    """Whether an id is a UUID of the seventh kind, which begins with a time."""
    return len(identity) == 36 and identity[14] == "7"
