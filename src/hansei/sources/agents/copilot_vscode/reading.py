"""Reads one chat in either layout, and tells each request when it is over."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from hansei.events.keys import digest, event_key
from hansei.events.model import AnyEvent, Driver, SessionFacts, Unrecognised
from hansei.sources.agents.copilot_vscode import AGENT, WHOLE, replay, requests
from hansei.sources.agents.copilot_vscode.values import number as count
from hansei.sources.contract import START, Problem, Reading, retold
from hansei.sources.families import jsonl, whole
from hansei.sources.families.addresses import folder_of
from hansei.sources.families.records import FAILURES, rescue

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from hansei.sources.contract import Cursor, Transcript

TRUSTED_ID = 16
"""Shorter ids are counters or made by hand: they name something only within their file."""
LONGEST_NAME = 64
NOWHERE = "a change that cannot be applied"


@dataclass
class Reader:
    """What one reading has found so far."""

    path: Path
    cwd: str | None
    chat: replay.Chat = field(default_factory=replay.Chat)
    title: str | None = None
    events: dict[int, AnyEvent] = field(default_factory=dict)
    sessions: dict[str, SessionFacts] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    records: int = 0

    @property
    def session(self) -> str:
        told = self.chat.value.get("sessionId")
        return told if isinstance(told, str) and told else self.path.stem

    def emit(self, event: AnyEvent) -> None:
        """Add an event; a second telling of the same one takes the first one's place."""
        known = self.events.get(event.key)
        self.events[event.key] = event if known is None else retold(known, event)

    def key(self, kind: str, *parts: str) -> int:
        """Identity within this file where a part is too short to be one of a kind."""
        if len(parts[0]) < TRUSTED_ID:
            parts = (self.path.stem, *parts)
        return event_key(AGENT, kind, *parts)

    def unrecognised(self, native: str, value: Any, *parts: str) -> None:
        """Leave a trace of a part we do not know."""
        content = msgspec.json.encode(value)
        event = Unrecognised(
            key=self.key("unrecognised", *parts, native),
            session=self.session,
            name=native[:LONGEST_NAME],
            digest=digest(content),
            size=len(content),
        )
        self.emit(event)

    def tell(self, places: Iterable[int], *, over: bool = False) -> None:
        """Tell the requests at these places: as far as they are over, or all of each."""
        asked = self.chat.requests
        for place in places:
            if 0 <= place < len(asked):
                last = place == len(asked) - 1
                requests.tell(self, asked[place], place, over=over or not last)

    def learn(self) -> None:
        """What is known of the chat as a whole, once something was asked in it."""
        if self.events or self.chat.requests:
            self.sessions[self.session] = SessionFacts(
                id=self.session, driver=Driver.HUMAN, cwd=self.cwd, title=self.title
            )

    def note_title(self) -> None:
        """The last title that was given; one that is taken away again stays the last."""
        title = self.chat.value.get("customTitle")
        self.title = title if isinstance(title, str) and title else self.title


def read(transcript: Transcript, since: Cursor, limit: int) -> Reading:
    """What is new in one chat."""
    if transcript.variant == WHOLE:
        return _read_whole(transcript.path, since)
    part = jsonl.read(transcript.path, since, limit)
    reader = Reader(transcript.path, _folder(transcript.path))
    reader.problems += part.problems
    for _, _, line in _before(transcript.path, part.offset):
        if (change := _change(line)[0]) is not None:
            reader.chat.apply(change)
            reader.note_title()
    for number, offset, line in part.numbered():
        change, reason = _change(line)
        reader.records += change is not None or reason is not None
        if change is not None and not _take(reader, change):
            reason = reason or NOWHERE
        if reason is not None:
            reader.problems.append(Problem(number, offset, reason))
    reader.learn()
    return part.reading(reader, {})


def _before(path: Path, offset: int) -> Iterable[tuple[int, int, bytes]]:
    """The lines up to an offset: a log is replayed from its beginning."""
    if not offset:
        return ()
    return jsonl.read(path, START, offset).numbered()


def _change(line: bytes) -> tuple[dict[str, Any] | None, str | None]:
    """A line as a change, and what is wrong with it; neither for a blank one."""
    try:
        value = msgspec.json.decode(line)
        if isinstance(value, dict):
            return value, None
    except FAILURES:
        pass
    found = rescue(line)
    return found.value, found.reason


def _take(reader: Reader, change: dict[str, Any]) -> bool:
    """Apply a change, and tell the requests it touches; those it takes out are told before."""
    before = len(reader.chat.requests)
    kept, path = _kept(change, before), replay.path_of(change) or []
    reader.tell(range(kept, before), over=True)
    if not reader.chat.apply(change):
        return False
    reader.note_title()
    asked = len(reader.chat.requests)
    if change.get("kind") == replay.WHOLE:
        reader.tell(range(asked))
    elif path == ["requests"]:
        reader.tell(range(max(kept - 1, 0), asked))  # the one before is over now
    elif path[:1] == ["requests"] and isinstance(path[1], int):
        reader.tell([path[1]])
    return True


def _kept(change: dict[str, Any], before: int) -> int:
    """How many of the requests stay as they are."""
    kind, path = change.get("kind"), replay.path_of(change) or []
    if kind == replay.WHOLE or (path == ["requests"] and kind != replay.PUSH):
        return 0
    start = count(change.get("i")) if path == ["requests"] else None
    if len(path) == len(("requests", 0)) and path[0] == "requests" and isinstance(path[1], int):
        start = path[1]
    return before if start is None else min(start, before)


def _read_whole(path: Path, since: Cursor) -> Reading:
    """The layout before: one object, written anew."""
    found = whole.read(path, since)
    reading = Reading(found.cursor, problems=found.problems, restarted=found.restarted)
    if found.value is None:
        return reading
    reader = Reader(path, _folder(path))
    reader.chat.value = found.value
    reader.note_title()
    asked = len(reader.chat.requests)
    reader.tell(range(asked))
    reader.learn()
    reading.events, reading.sessions = list(reader.events.values()), reader.sessions
    reading.records, reading.taken = asked, found.size
    return reading


def _folder(path: Path) -> str | None:
    """The folder that is open in the window of a chat; unknown where there are several."""
    value, _ = _change(_content(path.parent.parent / "workspace.json"))
    return folder_of((value or {}).get("folder"))


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
