"""What a source is: a few methods over transcripts.

`discover` says which transcripts there are, `fingerprint` whether one changed, `reading_order`
which of the changed ones comes first, and `read` what is new in one. A source never sees the store.
All it must remember of a transcript between two reads is in the cursor it returns, so reading in
pieces gives the same events as reading whole.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import msgspec

from hansei.events.model import Observation, RequestUsage
from hansei.events.observations import earlier
from hansei.events.usage import merge

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from hansei.config import Environment
    from hansei.events.model import AnyEvent, SessionFacts

SLICE_BYTES = 8 * 1024 * 1024
"""How much of a transcript one `read` takes on at a time; keeps memory flat."""


@dataclass(frozen=True)
class Transcript:
    """One place on disk that holds one or more sessions."""

    agent: str
    path: Path
    variant: str = ""
    """Which of the agent's layouts this is, where it has several."""
    fingerprint: str = field(default="", compare=False)
    """What `Source.fingerprint` would say, where looking for the transcript has told it already."""

    @property
    def id(self) -> str:
        return written_out(str(self.path))


def written_out(name: str) -> str:
    """A file's name as text that can be stored: bytes that are no text are spelt out."""
    if name.isascii():
        return name
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


class Cursor(msgspec.Struct, frozen=True, array_like=True):
    """How far a transcript has been read. `state` is the source's own."""

    offset: int = 0
    line: int = 0
    check: str = ""
    """Digest of the last bytes read; a mismatch means the file was rewritten."""
    state: dict[str, Any] = {}


START = Cursor()


class Problem(msgspec.Struct, frozen=True, array_like=True):
    """A record that was skipped: where, and why. Never its content."""

    line: int
    offset: int
    reason: str


@dataclass
class Reading:
    """What one `read` brought."""

    cursor: Cursor
    events: list[AnyEvent] = field(default_factory=list)
    sessions: dict[str, SessionFacts] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    records: int = 0
    """Records met, understood or not."""
    taken: int = 0
    """Bytes read."""
    more: bool = False
    """Whether the transcript has more to read right away."""
    others: dict[str, Reading] = field(default_factory=dict)
    """What a place that belongs to no agent tells of agents' sessions, by agent."""
    restarted: bool = False
    """The file no longer continues what was read before: this reading starts from its beginning."""


@dataclass(frozen=True)
class Capabilities:
    """What this agent's transcripts can tell. What they cannot is unknown, never zero."""

    tokens: bool = True
    cache_tokens: bool = True
    reasoning_tokens: bool = False
    tool_results: bool = True
    exit_codes: bool = False
    file_edits: bool = True
    thoughts: bool = True
    branch: bool = False
    commit: bool = False
    added_context: bool = False
    """Whether a text that a hook adds to the context stands in the transcript, as it was."""
    hooks: bool = True
    """Whether the agent has hooks by which another program can be told what happens."""
    deletes_after_days: int | None = None
    """Days after which the agent itself deletes its transcripts, unless told otherwise."""


class Source(Protocol):
    """An agent whose transcripts we read."""

    name: str
    title: str
    capabilities: Capabilities

    def roots(self, environment: Environment, extra: list[str]) -> list[Path]:
        """Folders this agent may have written to, whether they exist or not."""
        ...

    def discover(self, environment: Environment, extra: list[str]) -> Iterator[Transcript]:
        """Every transcript there is. Opens none of them, so that looking for news stays cheap."""
        ...

    def reading_order(self, transcripts: list[Transcript]) -> list[Transcript]:
        """The same transcripts, originals before their copies: who tells of an event first owns it.

        May open the files, so it is asked only about those that are new or changed.
        """
        ...

    def fingerprint(self, transcript: Transcript) -> str:
        """A short text that changes whenever the transcript does. Raises OSError if it is gone."""
        ...

    def read(self, transcript: Transcript, since: Cursor, limit: int = SLICE_BYTES) -> Reading:
        """What is new since the cursor, about `limit` bytes of it at most."""
        ...

    def deletes_after_days(self, environment: Environment) -> int | None:
        """Days after which the agent deletes its transcripts as it is set up here, if it does."""
        ...


@runtime_checkable
class Narrow(Protocol):
    """A source whose roots hold much besides transcripts: logs, caches, whole repositories.

    A watcher follows these folders instead. A transcript outside them is looked at every few
    seconds.
    """

    def watched_folders(self, environment: Environment, extra: list[str]) -> list[Path]:
        """Folders in which new and changed files mostly are transcripts, there or not."""
        ...


def latest(events: Iterable[AnyEvent]) -> list[AnyEvent]:
    """What is known once all of these have been read, in the order in which each was first told.

    A second telling of a key by the same session replaces the first. One by another session is a
    copy and changes nothing. Two tellings of a request merge, whoever they are by. Of two
    hooks that saw the same thing the earlier one counts.
    """
    known: dict[int, AnyEvent] = {}
    for event in events:
        first = known.get(event.key)
        known[event.key] = event if first is None else retold(first, event)
    return list(known.values())


def retold(first: AnyEvent, later: AnyEvent) -> AnyEvent:
    """Two tellings of one key as one."""
    if isinstance(first, RequestUsage) and isinstance(later, RequestUsage):
        return merge(first, later)
    if isinstance(first, Observation) and isinstance(later, Observation):
        return earlier(first, later)
    return later if first.session == later.session else first
