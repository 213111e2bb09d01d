"""A line of the spool as events: what a hook saw, under the ids that the agent itself gave.

docs/concepts/hooks.md describes each field. Keys and facts are made so that the order in which
lines are read does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from hansei.events.keys import event_key
from hansei.events.model import (
    Driver,
    Instruction,
    Measured,
    Observation,
    Relation,
    RequestUsage,
    SessionFacts,
)
from hansei.hook.record import LINE_VERSION
from hansei.hook.words import SUBAGENT_SESSION
from hansei.sources.contract import Problem, Reading, retold
from hansei.sources.families import jsonl
from hansei.sources.families.records import take_lines

if TYPE_CHECKING:
    from hansei.events.model import AnyEvent
    from hansei.sources.contract import Cursor, Transcript

LATER = "a line of a later hansei"
NO_SESSION = "a hook whose input names no session"
READ_AS = {"copilot": "copilot_cli", "gemini": "gemini_cli"}
CALLED = {source: name for name, source in READ_AS.items()}
"""The same the other way round."""
"""Agents whose transcripts are read under another name than that of their hooks."""
_SEEN = ("cwd", "branch", "commit", "version", "dirty", "parent", "role")
"""What a line may say of its session as a whole."""


def read(transcript: Transcript, since: Cursor, limit: int) -> Reading:
    """What is new since the cursor, by agent."""
    part = jsonl.read(transcript.path, since, limit)
    reader = _Reader(problems=part.problems)
    take_lines(reader, part.numbered(), Line, _decoder.decode, _take)
    cursor = part.cursor({})
    return Reading(
        cursor=cursor,
        problems=reader.problems,
        records=reader.records,
        taken=part.end - part.offset,
        more=part.more,
        restarted=part.restarted,
        others=reader.told(cursor),
    )


class Size(msgspec.Struct, frozen=True):
    bytes: int = 0
    hash: str = ""


class Place(msgspec.Struct, frozen=True):
    kind: str = ""
    path: str = ""
    hash: str = ""
    bytes: int = 0


class Tokens(msgspec.Struct, frozen=True):
    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None


class Line(msgspec.Struct, frozen=True):
    """One line of the spool; docs/concepts/hooks.md describes each field."""

    v: int = LINE_VERSION
    agent: str = ""
    hook: str = ""
    at: int | None = None
    session: str | None = None
    call: str | None = None
    turn: str | None = None
    tool: str | None = None
    cwd: str | None = None
    commit: str | None = None
    branch: str | None = None
    dirty: bool | None = None
    prompt: Size | None = None
    input: Size | None = None
    output: Size | None = None
    source: str | None = None
    reason: str | None = None
    trigger: str | None = None
    tokens: Tokens | None = None
    model: str | None = None
    agent_id: str | None = None
    agent_type: str | None = None
    version: str | None = None
    arms: dict[str, str] = {}
    delivered: list[str] = []
    context: Size | None = None
    instructions: list[Place] | None = None


_decoder = msgspec.json.Decoder(Line)


@dataclass
class _Reader:
    """What one reading has found so far, by agent."""

    problems: list[Problem]
    line: bytes = b""
    offset: int = 0
    records: int = 0
    events: dict[str, dict[int, AnyEvent]] = field(default_factory=dict)
    seen: dict[str, dict[tuple[str, str], SessionFacts]] = field(default_factory=dict)
    """For each agent the earliest that is said of each session's facts."""

    def emit(self, agent: str, event: AnyEvent) -> None:
        events = self.events.setdefault(agent, {})
        known = events.get(event.key)
        events[event.key] = event if known is None else retold(known, event)

    def learn(self, agent: str, facts: SessionFacts) -> None:
        seen = self.seen.setdefault(agent, {})
        for name in _SEEN:
            value, known = getattr(facts, name), seen.get((facts.id, name))
            if value is not None and (known is None or _earlier(facts, known, name)):
                seen[facts.id, name] = facts

    def told(self, cursor: Cursor) -> dict[str, Reading]:
        readings = {}
        for agent in sorted(self.events):
            # Several facts may speak of one session; each is in force where it came first.
            facts = {id(it): it for it in self.seen.get(agent, {}).values()}
            readings[agent] = Reading(
                cursor=cursor,
                events=list(self.events[agent].values()),
                sessions={f"{it.id} {n}": it for n, it in enumerate(facts.values())},
            )
        return readings


def _earlier(one: SessionFacts, other: SessionFacts, name: str) -> bool:
    return (one.seen_at or 0, str(getattr(one, name))) < (
        other.seen_at or 0,
        str(getattr(other, name)),
    )


def _take(reader: _Reader, line: Line) -> None:
    if line.v != LINE_VERSION:
        reader.problems.append(Problem(reader.records, reader.offset, LATER))
    elif not (line.session and line.agent and line.hook and line.at is not None):
        reader.problems.append(Problem(reader.records, reader.offset, NO_SESSION))
    else:
        session = session_of(line.agent, line.session, line.agent_id)
        agent = READ_AS.get(line.agent, line.agent)
        reader.emit(agent, _observation(line, session))
        if line.tokens is not None:
            reader.emit(agent, _usage(line, session, line.tokens))
        reader.learn(agent, _facts(line, session))


def session_of(agent: str, session: str, subagent: str | None) -> str:
    """The id under which the transcript of a session or of its subagent tells the same."""
    pattern = SUBAGENT_SESSION.get(agent)
    if subagent is None or pattern is None:
        return session
    return pattern.format(session=session, agent=subagent)


def _observation(line: Line, session: str) -> Observation:
    prompt, given, output = (_measured(size) for size in (line.prompt, line.input, line.output))
    return Observation(
        key=event_key("hook", line.agent, session, line.hook, _native_id(line)),
        session=session,
        at=line.at,
        cwd=line.cwd,
        branch=line.branch,
        name=line.hook,
        call=line.call,
        turn=line.turn,
        native_tool=line.tool,
        word=line.source or line.reason or line.trigger,
        version=line.version,
        commit=line.commit,
        dirty=line.dirty,
        prompt=prompt,
        input=given,
        output=output,
        instructions=_instructions(line.instructions),
        arms=line.arms,
        delivered=line.delivered,
        context=_measured(line.context),
    )


def _native_id(line: Line) -> str:
    """What one call of a hook is known by: the agent's own id where it gave one, else its time."""
    sizes = [size.hash if size else "" for size in (line.prompt, line.input, line.output)]
    if line.call:
        return line.call
    if line.turn and line.prompt:
        return f"{line.turn} {line.prompt.hash}"
    return " ".join([str(line.at), *sizes])


def _measured(size: Size | None) -> Measured | None:
    return None if size is None else Measured(size.bytes, size.hash)


def _instructions(listed: list[Place] | None) -> list[Instruction] | None:
    if listed is None:
        return None
    return [Instruction(place.kind, place.path, place.hash, place.bytes) for place in listed]


def _usage(line: Line, session: str, tokens: Tokens) -> RequestUsage:
    """What only the hook tells. Its input includes the cache, as far as the numbers allow it."""
    cached = (tokens.cache_read or 0) + (tokens.cache_write or 0)
    fresh = tokens.input
    if fresh is not None and fresh >= cached:
        fresh -= cached
    return RequestUsage(
        key=event_key("hook usage", line.agent, session, line.turn or str(line.at)),
        session=session,
        at=line.at,
        cwd=line.cwd,
        branch=line.branch,
        model=line.model,
        request=line.turn,
        input=fresh,
        cache_read=tokens.cache_read,
        cache_write_5m=tokens.cache_write,
        output=tokens.output,
    )


def _facts(line: Line, session: str) -> SessionFacts:
    facts = SessionFacts(
        id=session,
        seen_at=line.at,
        cwd=line.cwd,
        branch=line.branch,
        commit=line.commit,
        version=line.version,
        dirty=line.dirty,
    )
    if session != line.session:
        facts.parent, facts.relation = line.session, Relation.SUBAGENT
        facts.driver, facts.driver_recorded = Driver.SUBAGENT, True
        facts.role = line.agent_type
    return facts
