"""One transcript, line by line: each record to its handler."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from hansei.events.keys import digest
from hansei.events.model import Driver, Origin
from hansei.sources.agents.claude_code import answers, program, prompts, records, turns
from hansei.sources.agents.claude_code.reader import (
    State,
    branch_of,
    key_of,
    learn,
    open_reader,
    session_of,
)
from hansei.sources.agents.claude_code.records import IGNORED, Record
from hansei.sources.agents.claude_code.source import HISTORY
from hansei.sources.contract import START, Reading
from hansei.sources.families import jsonl
from hansei.sources.families.clock import instant
from hansei.sources.families.records import take_lines
from hansei.sources.families.streams import text_digest

if TYPE_CHECKING:
    from collections.abc import Callable

    from hansei.sources.agents.claude_code.reader import Reader, Where
    from hansei.sources.contract import Cursor, Transcript


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
    reader = open_reader(transcript, state, fresh=fresh)
    reader.problems += part.problems
    if transcript.variant == HISTORY:
        take_lines(reader, part.numbered(), _Typed, _decode_typed, _take_typed)
    else:
        take_lines(reader, part.numbered(), Record, records.decode, _take)
    events = reader.settle()
    return Reading(
        cursor=part.cursor(msgspec.to_builtins(state)),
        events=events,
        sessions=reader.sessions,
        problems=reader.problems,
        records=reader.records + len(part.problems),
        taken=part.end - part.offset,
        more=part.more,
        restarted=part.restarted,
    )


_HANDLERS: dict[str, Callable[[Reader, Record, Where], None]] = {
    "assistant": answers.assistant,
    "user": turns.user,
    "progress": answers.progress,
    "system": program.system,
    "attachment": turns.attachment,
    "queue-operation": turns.queue_operation,
    "summary": program.summary,
    "ai-title": program.title,
    "custom-title": program.title,
    "pr-link": program.fact,
    "cost-state": program.fact,
}


def _take(reader: Reader, record: Record) -> None:
    """Turn one record into events."""
    session = session_of(reader, record)
    where = {
        "session": session,
        "at": instant(record.timestamp),
        "cwd": record.cwd,
        "branch": branch_of(record),
    }
    learn(reader, record, session)
    kind = record.type or ""
    handler = _HANDLERS.get(kind)
    if handler is not None:
        handler(reader, record, where)
    elif kind not in IGNORED:
        reader.unrecognised(kind or "a record without a type", where)
    if record.uuid:
        reader.leaf = record.uuid


# --- the list of prompts a person typed -----------------------------------------------------------


class _Typed(msgspec.Struct, rename="camel"):
    display: str | None = None
    timestamp: str | int | float | None = None
    project: str | None = None
    session_id: str | None = None


_decode_typed = msgspec.json.Decoder(_Typed).decode


def _take_typed(reader: Reader, typed: _Typed) -> None:
    """A prompt of a session whose transcript may be gone: kept apart, in a session of its own."""
    owner = typed.session_id or digest((typed.project or "").encode("utf-8", "surrogatepass"))
    session = f"{HISTORY}:{owner}"
    where = {"session": session, "at": instant(typed.timestamp), "cwd": typed.project}
    text = typed.display
    if text is None:
        reader.unrecognised("history without a prompt", where)
        return
    facts = reader.facts(session)
    facts.driver, facts.entrypoint = Driver.HUMAN, HISTORY
    facts.cwd = facts.cwd or typed.project
    key = key_of("history", owner, str(typed.timestamp), text_digest(text))
    reader.emit(prompts.as_typed(key, text, Origin.HUMAN, where))
