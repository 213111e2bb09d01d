"""Traces of the OpenAI Agents SDK, as its spans export themselves: one object each.

Spans are written when they end, so children stand before their parents. Only generations and
responses are counted; spans of turns and tasks repeat their sums. A span of a function has no
call's id: it is the oldest call of the same name and arguments that no other span is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hansei.events.model import Driver, Origin, Relation
from hansei.sources.contract import Capabilities
from hansei.sources.families import chat
from hansei.sources.families.chat import Kind, Part, Role
from hansei.sources.families.clock import instant
from hansei.sources.families.fields import mapping, word
from hansei.sources.families.telling import Conversation
from hansei.sources.log_format import LogFormat

if TYPE_CHECKING:
    from hansei.sources.families.telling import Telling
    from hansei.sources.log_files import LogFile

TRACE, SPAN = "trace", "trace.span"
_QUIET = frozenset(
    (
        "custom", "mcp_tools", "guardrail", "transcription", "speech", "speech_group", "turn",
        "task",
    )
)  # fmt: skip
"""Spans that tell nothing of their own which an event has a place for."""

Value = dict[str, Any]


def recognises(log: LogFile) -> bool:
    """Whether every record is a trace or a span of one."""
    return bool(log.first) and all(bool(_objects(it)) for it in log.first)


def _objects(value: Value) -> list[Value]:
    """The traces and spans of a record: itself, or what it was sent with."""
    listed = value.get("data")
    found = listed if isinstance(listed, list) else [value]
    return [it for it in found if isinstance(it, dict) and it.get("object") in (TRACE, SPAN)]


def tell(telling: Telling, log: LogFile) -> None:
    """Tell every span, in the order in which they began."""
    traces: dict[str, Value] = {}
    spans: dict[str, Value] = {}
    for record in log.records:
        found = _objects(record.value)
        if not found:
            telling.problem(record.line, "neither a trace nor a span of one", record.offset)
        for it in found:
            (traces if it["object"] == TRACE else spans)[str(it.get("id"))] = it
    for trace in traces.values():
        _learn(telling, _top(traces, trace.get("id")), trace)
    ordered = sorted(
        spans.values(), key=lambda it: (instant(it.get("started_at")) or 0, str(it.get("id")))
    )
    for span in ordered:
        session = _session(telling, traces, spans, span)
        _tell_span(telling, session, span)


def _learn(telling: Telling, session: str, trace: Value) -> None:
    facts = telling.session(session)
    metadata = mapping(trace.get("metadata"))
    facts.entrypoint = facts.entrypoint or word(trace.get("workflow_name"))
    facts.cwd = facts.cwd or word(metadata.get("cwd"))
    facts.branch = facts.branch or word(metadata.get("branch"))
    facts.commit = facts.commit or word(metadata.get("commit"))


def _top(traces: dict[str, Value], trace: Any) -> str:
    """The session of a trace: the group it belongs to, else the trace itself."""
    told = traces.get(str(trace), {}).get("group_id")
    return told if isinstance(told, str) and told else str(trace)


def _agents(spans: dict[str, Value], span: Value) -> list[Value]:
    """The agents around a span and itself, the nearest first."""
    found, passed = [], set[str]()
    place: Value | None = span
    while place is not None and str(place.get("id")) not in passed:
        passed.add(str(place.get("id")))
        if _data(place).get("type") == "agent":
            found.append(place)
        place = spans.get(str(place.get("parent_id")))
    return found


def _session(
    telling: Telling, traces: dict[str, Value], spans: dict[str, Value], span: Value
) -> str:
    """An agent that another agent runs as a tool has a session of its own."""
    top = _top(traces, span.get("trace_id"))
    telling.session(top)
    agents = _agents(spans, span)
    if len(agents) < 2:
        return top
    session = f"{top}/{agents[0].get('id')}"
    facts = telling.session(session, Driver.SUBAGENT)
    facts.driver_recorded = True
    facts.parent = top if len(agents) == 2 else f"{top}/{agents[1].get('id')}"
    facts.relation, facts.role = Relation.SUBAGENT, word(_data(agents[0]).get("name"))
    return session


# --- spans ----------------------------------------------------------------------------------------


def _tell_span(telling: Telling, session: str, span: Value) -> None:
    data, at = _data(span), instant(span.get("started_at"))
    kind, known = str(data.get("type")), str(span.get("id"))
    if kind in ("generation", "response"):
        _tell_request(telling, session, span, data)
    elif kind == "function":
        _tell_function(telling, session, span, data)
    elif kind == "agent":
        told = {"agent": data.get("name")} if data.get("name") else {}
        telling.notice(session, known, "agent", text=_error(span), at=at, data=told)
    elif kind == "handoff":
        told = {name: data.get(name) for name in ("from_agent", "to_agent") if data.get(name)}
        telling.notice(session, known, "handoff", text=_error(span), at=at, data=told)
    elif kind not in _QUIET:
        telling.unrecognised(session, f"span {kind}", data, at)


def _tell_request(telling: Telling, session: str, span: Value, data: Value) -> None:
    start, end = instant(span.get("started_at")), instant(span.get("ended_at"))
    model, told = word(data.get("model")), word(data.get("response_id"))
    is_subagent = telling.session(session).driver is Driver.SUBAGENT
    talk = Conversation(telling, session, Origin.PARENT_AGENT if is_subagent else Origin.HUMAN)
    for message in _messages(data.get("input"), "user"):
        if (spoken := chat.spoken(message)) is not None:
            answered = model if spoken.role is Role.ASSISTANT else None
            talk.say(spoken, at=start, model=answered)
    for message in _messages(data.get("output"), "assistant"):
        if (spoken := chat.spoken(message)) is not None:
            talk.say(spoken, at=end or start, model=model, message=told)
    counts = chat.usage(data.get("usage"))
    if counts is not None:
        known = f"{span.get('trace_id')} {told or span.get('id')}"
        telling.usage(session, known, counts, at=start, model=model, message=told, everywhere=True)
    if error := _error(span):
        telling.notice(session, str(span.get("id")), "request_failed", text=error, at=end)


def _messages(told: Any, role: str) -> list[Any]:
    if isinstance(told, str):
        return [{"role": role, "content": told}]
    return told if isinstance(told, list) else []


def _tell_function(telling: Telling, session: str, span: Value, data: Value) -> None:
    name, arguments = word(data.get("name")) or "unnamed", chat.arguments_of(data.get("input"))
    call = telling.claim(session, name, arguments) or str(span.get("id"))
    talk = Conversation(telling, session)
    start, end = instant(span.get("started_at")), instant(span.get("ended_at"))
    talk.call(Part(Kind.CALL, id=call, name=name, arguments=arguments), at=start)
    telling.claimed(session, name, call)
    failed = True if span.get("error") else None
    came = data.get("output")
    if came is None and failed is None and end is None:
        return
    text = chat.text_of(came) or _error(span)
    talk.result(Part(Kind.RESULT, text, call, failed=failed), at=end)


def _error(span: Value) -> str:
    error = span.get("error")
    if isinstance(error, dict):
        inner = mapping(error.get("data")).get("error")
        parts = [word(error.get("message")), word(inner)]
        return ": ".join(part for part in parts if part)
    return error if isinstance(error, str) else ""


def _data(span: Value) -> Value:
    return mapping(span.get("span_data"))


SOURCE = LogFormat(
    name="openai_agents",
    title="OpenAI Agents SDK",
    looks_like="objects whose `object` is `trace` or `trace.span`, as the SDK exports them",
    recognises=recognises,
    tell=tell,
    capabilities=Capabilities(reasoning_tokens=True, thoughts=False),
)
