"""One message as events; the same for rows and for lines of a file."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from hansei.events.keys import digest, event_key
from hansei.events.model import (
    MARKER,
    Compaction,
    Driver,
    Notice,
    Origin,
    Prompt,
    Reply,
    SlashCommand,
    Thought,
    Unrecognised,
)
from hansei.sources.agents.goose import AGENT, calls
from hansei.sources.agents.goose.records import IGNORED, Visibility, words
from hansei.sources.contract import Problem, retold
from hansei.sources.families.clock import instant
from hansei.sources.families.streams import text_digest

if TYPE_CHECKING:
    from collections.abc import Callable

    from hansei.events.model import AnyEvent, SessionFacts
    from hansei.sources.agents.goose.calls import Asked
    from hansei.sources.agents.goose.records import Block, Stamp

LONGEST_NAME = 80
COMPACTED = "Your context was compacted"
"""How the program tells the model that a summary stands for what was before."""
_BY_HAND = "at the user's request"
_EARLY = re.compile(r"\d{8}_\d{6}$")
"""The id of a session that was kept as a file: the time it began."""
_COMMAND = re.compile(r"/([a-z][\w-]*)(?:\s+(.*))?$", re.DOTALL)
_SPEAKERS = {Driver.SUBAGENT: Origin.PARENT_AGENT, Driver.AUTOMATED: Origin.HARNESS}
_THOUGHTS = ("thinking", "reasoning", "redactedThinking")


class Owner(NamedTuple):
    """The session a message belongs to."""

    id: str
    driver: Driver
    cwd: str | None = None
    model: str | None = None

    @property
    def scope(self) -> str:
        """What sets its messages apart from equal ones made in the same second.

        People do not say the same twice in a second; schedules and parents of subagents do. Only
        people's sessions are copied. A session that was begun as a file is known by its messages
        alone, since a first line that cannot be read must not cost the others.
        """
        return "" if self.driver is Driver.HUMAN or _EARLY.match(self.id) else self.id


class Said(NamedTuple):
    """A message, whichever way it is kept."""

    owner: Owner
    role: str
    created: Stamp
    content: list[Block]
    visibility: Visibility
    before: Callable[[], str]
    """The text of the message before it in its session, if the program put that in."""
    ask: Callable[[str], Asked | None]
    """The call with an id that an earlier message of the session made."""

    @property
    def where(self) -> dict[str, Any]:
        return {"session": self.owner.id, "at": instant(self.created), "cwd": self.owner.cwd}

    def key(self, kind: str, *parts: str) -> int:
        return event_key(AGENT, kind, self.owner.scope, str(self.created), *parts)


@dataclass
class Told:
    """What a reading brings."""

    events: dict[int, AnyEvent] = field(default_factory=dict)
    sessions: dict[str, SessionFacts] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    met_a_copy: bool = False
    """Whether something was told by a session other than the one that told it first."""

    def emit(self, event: AnyEvent) -> None:
        known = self.events.get(event.key)
        self.met_a_copy |= known is not None and known.session != event.session
        self.events[event.key] = event if known is None else retold(known, event)

    def unrecognised(self, said: Said, name: str, content: bytes) -> None:
        trace, size = digest(content), len(content)
        key = said.key("unrecognised", name, trace)
        name = name[:LONGEST_NAME]
        self.emit(Unrecognised(key=key, name=name, digest=trace, size=size, **said.where))


def take(told: Told, said: Said, stored: bytes) -> None:
    """One message; `stored` is what it looks like on disk, for what is not recognised."""
    if said.role not in ("user", "assistant"):
        told.unrecognised(said, f"message/{said.role}", stored)
        return
    _text(told, said)
    for part in said.content:
        kind = part.type or ""
        if kind in _THOUGHTS:
            _thought(told, said, part)
        elif kind in ("toolRequest", "frontendToolRequest"):
            calls.request(told, said, part)
        elif kind == "toolResponse":
            calls.response(told, said, part)
        elif kind == "systemNotification":
            _notice(told, said, part.notification_type or kind, part.msg or "")
        elif kind == "conversationCompacted":
            _compaction(told, said, part.msg or "", None)
        elif kind in ("contextLengthExceeded", "summarizationRequested"):
            _notice(told, said, kind, part.msg or "")
        elif kind not in ("text", "image", *IGNORED):
            told.unrecognised(said, f"content/{kind or 'without a type'}", stored)


def _text(told: Told, said: Said) -> None:
    text = words(said.content)
    images = sum(part.type == "image" for part in said.content)
    if said.visibility.agent_only:
        _put_in(told, said, text)
    elif said.role == "assistant":
        if text:
            key = said.key("reply", text_digest(text))
            told.emit(Reply(key=key, text=text, model=said.owner.model, **said.where))
    elif text or images:
        _prompt(told, said, text, images)


def _put_in(told: Told, said: Said, text: str) -> None:
    """Text that the program put into the context: a summary, or what a command stands for."""
    if text:
        key = said.key("prompt", text_digest(text))
        origin = Origin.HANSEI if MARKER in text else Origin.HARNESS
        told.emit(Prompt(key=key, text=text, origin=origin, **said.where))
    if COMPACTED in text:
        summary = text[: text.index(COMPACTED)].strip() or said.before()
        _compaction(told, said, summary, "manual" if _BY_HAND in text else "auto")


def _prompt(told: Told, said: Said, text: str, images: int) -> None:
    command = _COMMAND.match(text)
    if command and MARKER not in text and said.owner.driver is Driver.HUMAN:
        key = said.key("command", text_digest(text))
        name, rest = command[1], command[2] or ""
        told.emit(SlashCommand(key=key, name=name, text=rest, **said.where))
        return
    key = said.key("prompt", text_digest(text))
    origin = Origin.HANSEI if MARKER in text else _written_by(said)
    told.emit(Prompt(key=key, text=text, origin=origin, images=images, **said.where))


def _written_by(said: Said) -> Origin:
    """A person, unless the session is none's; the last prompt is repeated after a compaction."""
    speaker = _SPEAKERS.get(said.owner.driver)
    if speaker is not None:
        return speaker
    before = said.before()
    repeated = COMPACTED in before and _BY_HAND not in before
    return Origin.HARNESS if repeated else Origin.HUMAN


def _thought(told: Told, said: Said, part: Block) -> None:
    text = part.thinking or part.text or ""
    key = said.key("thought", text_digest(text))
    told.emit(Thought(key=key, text=text, model=said.owner.model, **said.where))


def _notice(told: Told, said: Said, name: str, text: str) -> None:
    key = said.key("notice", name, text_digest(text))
    told.emit(Notice(key=key, name=name[:LONGEST_NAME], text=text, **said.where))


def _compaction(told: Told, said: Said, text: str, trigger: str | None) -> None:
    key = said.key("compaction")
    told.emit(Compaction(key=key, text=text, trigger=trigger, **said.where))
