"""Events made from what a log tells, each once however often it is told.

Logs of conversations repeat themselves: every request carries all that was said before, and a call
is told by the model's answer, by its own span and by the next request. So a thing is known by its
id where it has one, and else by its session, its words, and how often the same words came before in
the list it stands in. The first telling stays; a later one may only add what the first did not say.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from hansei.events.keys import SEPARATOR, digest, event_key
from hansei.events.model import (
    MARKER,
    AnyEvent,
    Basis,
    Driver,
    FileEdit,
    Notice,
    Origin,
    Prompt,
    Reply,
    RequestUsage,
    SessionFacts,
    Status,
    Thought,
    ToolCall,
    ToolResult,
    Unrecognised,
)
from hansei.events.tools import canonical_tool, mcp_server
from hansei.events.usage import merge
from hansei.sources.contract import Problem
from hansei.sources.families import tool_edits
from hansei.sources.families.chat import Kind, Role
from hansei.sources.families.shell import hides_status
from hansei.sources.families.streams import byte_size

if TYPE_CHECKING:
    from hansei.events.model import Tool
    from hansei.sources.families.chat import Part, Spoken
    from hansei.sources.families.streams import Counts


def made_up(name: str, *parts: str) -> str:
    """An id for a session that has none: what it is known by, then a name for people.

    The digest comes first, because people type the beginning of an id.
    """
    return f"{digest(SEPARATOR.join(parts).encode('utf-8', 'surrogatepass'))}-{name}"


@dataclass
class Telling:
    """What one log has told so far."""

    agent: str
    events: dict[int, AnyEvent] = field(default_factory=dict)
    sessions: dict[str, SessionFacts] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    calls: dict[tuple[str, str], str] = field(default_factory=dict)
    """What the call of that id in a session was given, as a digest."""
    edits: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    """The changes of files that a call makes, by session and call."""
    commands: dict[tuple[str, str], str] = field(default_factory=dict)
    """The command of each shell call, by session and call."""
    unclaimed: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """Calls that no span of a tool was found to be, by session and name."""

    def session(self, native: str, driver: Driver = Driver.HUMAN) -> SessionFacts:
        """The session of that id, begun if it is new."""
        if native not in self.sessions:
            self.sessions[native] = SessionFacts(id=native, driver=driver)
        return self.sessions[native]

    def key(self, *parts: str) -> int:
        """The identity of what these ids name."""
        return event_key(self.agent, *parts)

    def emit(self, event: AnyEvent) -> None:
        """Keep an event; one that is known already only learns what it did not say."""
        known = self.events.get(event.key)
        self.events[event.key] = event if known is None else _fuller(known, event)

    def claim(self, session: str, name: str, arguments: dict[str, Any]) -> str | None:
        """The call that a span without a call's id tells of: the oldest of the same words.

        If none has the same arguments, the oldest of the same name.
        """
        same = self.unclaimed.get((session, name), [])
        wanted = _given(name, arguments)
        alike = [call for call in same if self.calls.get((session, call)) == wanted]
        found = next(iter(alike or same), None)
        if found is not None:
            same.remove(found)
        return found

    def claimed(self, session: str, name: str, call: str) -> None:
        """Note that a span tells of this very call."""
        same = self.unclaimed.get((session, name), [])
        if call in same:
            same.remove(call)

    def problem(self, line: int, reason: str, offset: int = 0) -> None:
        self.problems.append(Problem(line, offset, reason))

    def unrecognised(self, session: str, name: str, value: Any, at: int | None = None) -> None:
        """A record of a kind that the format's page does not name."""
        data = msgspec.json.encode(value)
        mark = digest(data)
        self.session(session)
        key = self.key("unrecognised", session, name, mark)
        self.emit(
            Unrecognised(
                key=key, session=session, at=at, name=name[:80], digest=mark, size=len(data)
            )
        )

    def usage(
        self,
        session: str,
        known_by: str,
        counts: Counts,
        *,
        at: int | None = None,
        model: str | None = None,
        message: str | None = None,
        everywhere: bool = False,
    ) -> None:
        """What one request took.

        `everywhere` says that the id is one in the world, so that the request counts once also
        where a later telling puts it into another session.
        """
        place = ("usage", known_by) if everywhere else ("usage", session, known_by)
        self.emit(
            RequestUsage(
                key=self.key(*place),
                session=session,
                at=at,
                model=model,
                message=message,
                input=counts.input,
                cache_read=counts.cache_read,
                cache_write_5m=counts.cache_write_5m,
                cache_write_1h=counts.cache_write_1h,
                output=counts.output,
                reasoning=counts.reasoning,
                web_searches=counts.web_searches,
            )
        )

    def notice(
        self,
        session: str,
        known_by: str,
        name: str,
        *,
        text: str = "",
        at: int | None = None,
        data: dict[str, Any] | None = None,
    ) -> None:
        """Something the program recorded about itself."""
        key = self.key("notice", session, name, known_by)
        self.emit(Notice(key=key, session=session, at=at, name=name, text=text, data=data or {}))


def _fuller(known: AnyEvent, later: AnyEvent) -> AnyEvent:
    if isinstance(known, RequestUsage) and isinstance(later, RequestUsage):
        return merge(known, later)
    if isinstance(known, ToolResult) and isinstance(later, ToolResult):
        if known.status is Status.UNKNOWN and later.status is not Status.UNKNOWN:
            return msgspec.structs.replace(later, text=later.text or known.text)
        if not known.text and later.text:
            return msgspec.structs.replace(known, text=later.text)
    if isinstance(known, ToolCall) and isinstance(later, ToolCall) and not known.arguments:
        known = msgspec.structs.replace(known, arguments=later.arguments, text=later.text)
    if known.at is None and later.at is not None:
        return msgspec.structs.replace(known, at=later.at)
    return known


@dataclass
class Conversation:
    """One pass through the messages of a session, from the first to the last."""

    telling: Telling
    session: str
    origin: Origin = Origin.HUMAN
    """Who speaks in the user's place."""
    tools: dict[str, Tool] = field(default_factory=dict)
    """Kinds of tools that only this format names so."""
    folder: str | None = None
    scope: str = ""
    """The id of the one message this pass is through, where messages have ids."""
    seen: Counter[str] = field(default_factory=Counter)
    waiting: list[tuple[str, str]] = field(default_factory=list)
    """Calls without a result so far: name and id."""

    def say(
        self,
        spoken: Spoken,
        *,
        at: int | None = None,
        model: str | None = None,
        message: str | None = None,
    ) -> None:
        """Tell the parts of a message as events."""
        at = spoken.at if spoken.at is not None else at
        images = sum(part.kind is Kind.IMAGE for part in spoken.parts)
        prompted = False
        for part in spoken.parts:
            if part.kind is Kind.CALL:
                self.call(part, at=at, model=model, message=message)
            elif part.kind is Kind.RESULT:
                self.result(part, at=at)
            elif part.kind is Kind.THOUGHT:
                self.thought(part.text, at=at, model=model, message=message)
            elif part.kind is Kind.TEXT and spoken.role is Role.ASSISTANT:
                self.reply(part.text, at=at, model=model, message=message)
            elif part.kind is Kind.TEXT:
                origin = Origin.HARNESS if spoken.role is Role.SYSTEM else self.origin
                self.prompt(part.text, origin, at=at, images=0 if prompted else images)
                prompted = True
        if images and not prompted and spoken.role is Role.USER:
            self.prompt("", self.origin, at=at, images=images)

    def known_by(self, kind: str, words: str) -> int:
        """What words are known by: their session, and how often they came before."""
        mark = digest(words.encode("utf-8", "surrogatepass"))
        count = self.seen[f"{kind} {mark}"]
        self.seen[f"{kind} {mark}"] += 1
        return self.telling.key(kind, self.session, self.scope, mark, str(count))

    def prompt(self, text: str, origin: Origin, *, at: int | None = None, images: int = 0) -> None:
        """Text in the user's place; ours, whoever it came from, if it carries our marker."""
        origin = Origin.HANSEI if MARKER in text else origin
        key = self.known_by("prompt", text)
        if text.strip() or images:
            self.telling.emit(
                Prompt(
                    key=key, session=self.session, at=at, text=text, origin=origin, images=images
                )
            )

    def reply(
        self,
        text: str,
        *,
        at: int | None = None,
        model: str | None = None,
        message: str | None = None,
    ) -> None:
        key = self.known_by("reply", text)
        if text.strip():
            self.telling.emit(
                Reply(key=key, session=self.session, at=at, text=text, model=model, message=message)
            )

    def thought(
        self,
        text: str,
        *,
        at: int | None = None,
        model: str | None = None,
        message: str | None = None,
    ) -> None:
        key = self.known_by("thought", text)
        if text.strip() or self.scope:  # of some thoughts only that there was one is kept
            self.telling.emit(
                Thought(
                    key=key, session=self.session, at=at, text=text, model=model, message=message
                )
            )

    def call(
        self,
        part: Part,
        *,
        at: int | None = None,
        model: str | None = None,
        message: str | None = None,
    ) -> str:
        """Tell a call and the changes of files it asks for; returns the id its result goes by."""
        name, arguments = part.name or "unnamed", part.arguments or {}
        call = self._call_id(part.id, name, arguments)
        tool = self.tools.get(name.lower()) or canonical_tool(name)
        text = tool_edits.about(arguments)
        key = self.telling.key("call", self.session, call)
        if key not in self.telling.events:
            self.telling.unclaimed.setdefault((self.session, name), []).append(call)
        self.telling.emit(
            ToolCall(
                key=key,
                session=self.session,
                at=at,
                call=call,
                tool=tool,
                name=name,
                arguments=arguments,
                text=text,
                server=mcp_server(name),
                model=model,
                message=message,
            )
        )
        self.telling.commands[self.session, call] = text
        self._edits(call, name, arguments, at)
        self.waiting.append((name, call))
        return call

    def _call_id(self, told: str | None, name: str, arguments: dict[str, Any]) -> str:
        """The id of a call. Some servers count calls anew in every answer: those get a suffix."""
        given = _given(name, arguments)
        if told is None:
            count = self.seen[f"call {given}"]
            self.seen[f"call {given}"] += 1
            return f"{given}-{count}"
        held = self.telling.calls.setdefault((self.session, told), given)
        nothing = _given(name, {})
        if held in (given, nothing) or given == nothing:
            return told
        return f"{told}-{given}"

    def _edits(self, call: str, name: str, arguments: dict[str, Any], at: int | None) -> None:
        keys = []
        for number, edit in enumerate(tool_edits.edits_of(name, arguments, self.folder)):
            key = self.telling.key("edit", self.session, call, str(number))
            keys.append(key)
            self.telling.emit(
                FileEdit(
                    key=key,
                    session=self.session,
                    at=at,
                    call=call,
                    path=edit.path,
                    operation=edit.operation,
                    hunks=edit.change.hunks if edit.change else [],
                    added=edit.change.added if edit.change else None,
                    removed=edit.change.removed if edit.change else None,
                    moved_to=edit.moved_to,
                )
            )
        self.telling.edits[self.session, call] = keys

    def result(self, part: Part, *, at: int | None = None) -> None:
        """Tell what came of a call; of one without an id, of the oldest that waits for it."""
        call = self._awaited(part)
        status, basis = self._status(call, part)
        self.telling.emit(
            ToolResult(
                key=self.telling.key("result", self.session, call),
                session=self.session,
                at=at,
                call=call,
                text=part.text,
                status=status,
                basis=basis,
                exit_code=part.exit_code,
                size=byte_size(part.text),
            )
        )
        if status is not Status.UNKNOWN:
            for key in self.telling.edits.get((self.session, call), ()):
                edit = self.telling.events[key]
                ended = status is Status.OK
                self.telling.events[key] = msgspec.structs.replace(edit, applied=ended)

    def _awaited(self, part: Part) -> str:
        named = [item for item in self.waiting if part.name in (None, item[0])]
        if part.id is not None:
            same = [it for it in self.waiting if it[1] == part.id or _suffixed(it[1], part.id)]
            if not same:
                return part.id
            self.waiting.remove(same[-1])
            return same[-1][1]
        if not named:
            return self._call_id(None, part.name or "unnamed", {"result": part.text})
        self.waiting.remove(named[0])
        return named[0][1]

    def _status(self, call: str, part: Part) -> tuple[Status, Basis]:
        if part.exit_code is not None:
            if part.exit_code != 0:
                return Status.FAILED, Basis.EXIT_CODE
            if hides_status(self.telling.commands.get((self.session, call), "")):
                return Status.UNKNOWN, Basis.MASKED
            return Status.OK, Basis.EXIT_CODE
        if part.failed is None:
            return Status.UNKNOWN, Basis.NONE
        return (Status.FAILED if part.failed else Status.OK), Basis.FLAG


def _given(name: str, arguments: dict[str, Any]) -> str:
    """What a call was given, as a digest."""
    return digest(msgspec.json.encode([name, arguments], order="sorted"))


def _suffixed(call: str, told: str) -> bool:
    return call.startswith(f"{told}-")
