"""The oldest layout: one object per session, with what the person was shown in order of time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from hansei.events.keys import digest, event_key
from hansei.events.model import (
    MARKER,
    AnyEvent,
    Basis,
    Driver,
    Notice,
    Origin,
    Prompt,
    Reply,
    SessionFacts,
    Status,
    ToolCall,
    ToolResult,
    Unrecognised,
)
from hansei.sources.agents.copilot_cli import AGENT
from hansei.sources.agents.copilot_cli.calls import about, tool_of
from hansei.sources.contract import Reading
from hansei.sources.families import whole
from hansei.sources.families.clock import instant
from hansei.sources.families.records import FAILURES, salvage
from hansei.sources.families.streams import byte_size, text_digest

if TYPE_CHECKING:
    from hansei.sources.contract import Cursor, Transcript


class Outcome(msgspec.Struct):
    type: str | None = None
    log: Any = None


class Entry(msgspec.Struct, rename="camel"):
    id: str | None = None
    timestamp: Any = None
    type: str | None = None
    text: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: Any = None
    result: Outcome | None = None


class Session(msgspec.Struct, rename="camel"):
    session_id: str | None = None
    start_time: Any = None
    selected_model: str | None = None
    timeline: list[Entry] | None = None


def read(transcript: Transcript, since: Cursor) -> Reading:
    """All of a session, if it is not as it was."""
    found = whole.read(transcript.path, since)
    reading = Reading(found.cursor, problems=found.problems, restarted=found.restarted)
    if found.value is None:
        return reading
    try:
        session = msgspec.convert(found.value, Session)
    except FAILURES:
        session = salvage(found.value, Session)
    name = session.session_id or transcript.path.stem
    reading.taken = found.size
    events: dict[int, AnyEvent] = {}
    for entry in session.timeline or []:
        reading.records += 1
        for event in _events(entry, name, session.selected_model):
            events[event.key] = event
    reading.events = list(events.values())
    reading.sessions[name] = SessionFacts(id=name, driver=Driver.HUMAN)
    return reading


def _events(entry: Entry, session: str, model: str | None) -> list[AnyEvent]:
    where: dict[str, Any] = {"session": session, "at": instant(entry.timestamp)}
    text = entry.text or ""
    identity = entry.id or f"{entry.timestamp}\x1f{text_digest(text)}"

    def key(kind: str, *parts: str) -> int:
        return event_key(AGENT, kind, session, *(parts or (identity,)))

    if entry.type == "user":
        origin = Origin.HANSEI if MARKER in text else Origin.HUMAN
        return [Prompt(key=key("prompt"), text=text, origin=origin, **where)]
    if entry.type == "copilot":
        return [Reply(key=key("reply"), text=text, model=model, **where)] if text else []
    if entry.type in ("info", "warning", "error"):
        return [Notice(key=key("notice"), name=entry.type, text=text, **where)]
    if entry.call_id and entry.name:
        return _call(entry, entry.call_id, entry.name, model, key, where)
    line = msgspec.json.encode(entry)
    kind = entry.type or "an entry without a type"
    mark = digest(line)
    name = event_key(AGENT, "unrecognised", kind, mark)
    return [Unrecognised(key=name, name=kind[:64], digest=mark, size=len(line), **where)]


def _call(
    entry: Entry, call: str, name: str, model: str | None, key: Any, where: dict[str, Any]
) -> list[AnyEvent]:
    arguments = entry.arguments
    tool = tool_of(name, arguments, None)
    told: list[AnyEvent] = [
        ToolCall(
            key=key("call", call),
            call=call,
            tool=tool,
            name=name,
            arguments=arguments if isinstance(arguments, dict) else {},
            text=about(arguments),
            model=model,
            **where,
        )
    ]
    outcome = entry.result
    if outcome is None:
        return told
    text = outcome.log if isinstance(outcome.log, str) else ""
    status, basis = _verdict(outcome.type)
    result = ToolResult(
        key=key("result", call),
        call=call,
        text=text,
        status=status,
        basis=basis,
        size=byte_size(text),
        **where,
    )
    return [*told, result]


def _verdict(word: str | None) -> tuple[Status, Basis]:
    if word in ("rejected", "denied"):
        return Status.UNKNOWN, Basis.DECLINED
    if word == "success":
        return Status.OK, Basis.FLAG
    if word == "failure":
        return Status.FAILED, Basis.FLAG
    return Status.UNKNOWN, Basis.NONE
