"""Sessions of Anthropic's managed agents: events as their API returns them, bare or in a wrapping.

The spans of model requests carry what each took; the session's own usage is their sum. Nothing
names the session, so the file does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hansei.events.model import Driver, Interruption, Origin
from hansei.sources.contract import Capabilities
from hansei.sources.families import anthropic, chat
from hansei.sources.families.chat import Kind, Part
from hansei.sources.families.clock import instant
from hansei.sources.families.fields import word
from hansei.sources.families.records import salvage
from hansei.sources.families.telling import Conversation, made_up
from hansei.sources.log_format import LogFormat

if TYPE_CHECKING:
    from hansei.sources.families.telling import Telling
    from hansei.sources.log_files import LogFile

_FAMILIES = ("agent.", "user.", "session.", "span.", "system.")
_QUIET = frozenset(
    (
        "span.model_request_start", "session.usage", "span.outcome_evaluation_start",
        "span.outcome_evaluation_ongoing", "session.thread_created",
    )
)  # fmt: skip
"""Events that tell nothing which is not told elsewhere."""
_CALLS = frozenset(("agent.tool_use", "agent.mcp_tool_use", "agent.custom_tool_use"))
_RESULTS = frozenset(("agent.tool_result", "agent.mcp_tool_result", "user.custom_tool_result"))

Value = dict[str, Any]


def recognises(log: LogFile) -> bool:
    """Whether every record is such an event."""
    return bool(log.first) and all(_event(it) is not None for it in log.first)


def _event(value: Value) -> Value | None:
    """The event of a record, out of its wrapping."""
    raw = value.get("raw")
    held = raw if isinstance(raw, dict) else value
    kind = held.get("type")
    ok = isinstance(kind, str) and kind.startswith(_FAMILIES) and "id" in held
    return held if ok else None


def tell(telling: Telling, log: LogFile) -> None:
    """Tell every event, each known by its own id."""
    events = []
    for record in log.records:
        event = _event(record.value)
        if event is None:
            telling.problem(record.line, "not an event with a type and an id", record.offset)
        else:
            events.append(event)
    if not events:
        return
    named = next((it["session_id"] for it in events if isinstance(it.get("session_id"), str)), None)
    session = named or made_up(log.stem, str(events[0]["id"]))
    facts = telling.session(session, Driver.AUTOMATED)
    facts.driver_recorded = False
    started: dict[str, int | None] = {}
    for event in events:
        if event["type"] == "span.model_request_start":
            started[str(event["id"])] = _at(event)
        _tell_event(telling, session, event, started)


def _tell_event(
    telling: Telling, session: str, event: Value, started: dict[str, int | None]
) -> None:
    kind, known, at = str(event["type"]), str(event["id"]), _at(event)
    talk = Conversation(telling, session, scope=known)
    if kind == "user.message":
        talk.prompt(chat.text_of(event.get("content")), Origin.HUMAN, at=at)
    elif kind == "user.define_outcome":
        words = [chat.text_of(event.get(name)) for name in ("description", "rubric")]
        talk.prompt("\n\n".join(filter(None, words)), Origin.HUMAN, at=at)
    elif kind == "user.interrupt":
        key = telling.key("interruption", session, known)
        telling.emit(Interruption(key=key, session=session, at=at))
    elif kind == "agent.message":
        talk.reply(chat.text_of(event.get("content")), at=at)
    elif kind == "agent.thinking":
        talk.thought(chat.text_of(event.get("content") or event.get("thinking")), at=at)
    elif kind in _CALLS:
        part = Part(
            Kind.CALL,
            id=known,
            name=word(event.get("name")),
            arguments=chat.arguments_of(event.get("input")),
        )
        talk.call(part, at=at)
    elif kind in _RESULTS:
        _tell_result(talk, event, at)
    elif kind == "span.model_request_end":
        _tell_request(telling, session, event, started)
    elif kind.startswith(("session.", "span.")) and kind not in _QUIET:
        _tell_state(telling, session, event, at)
    elif kind not in _QUIET:
        telling.unrecognised(session, kind, event, at)


def _tell_result(talk: Conversation, event: Value, at: int | None) -> None:
    told = next((event[it] for it in ("tool_use_id", "custom_tool_use_id", "mcp_tool_use_id")
                 if isinstance(event.get(it), str)), None)  # fmt: skip
    failed = event.get("is_error")
    text = chat.text_of(event.get("content"))
    flag = failed if isinstance(failed, bool) else None
    talk.result(Part(Kind.RESULT, text, told, failed=flag), at=at)


def _tell_request(
    telling: Telling, session: str, event: Value, started: dict[str, int | None]
) -> None:
    usage, begun = event.get("model_usage"), str(event.get("model_request_start_id"))
    at = started.get(begun) or _at(event)
    if isinstance(usage, dict):
        counts = anthropic.counts(salvage(usage, anthropic.Usage))
        telling.usage(session, begun, counts, at=at, model=word(event.get("model")))
    if event.get("is_error"):
        telling.notice(session, begun, "request_failed", at=_at(event))


def _tell_state(telling: Telling, session: str, event: Value, at: int | None) -> None:
    facts = telling.session(session)
    facts.entrypoint = facts.entrypoint or word(event.get("agent_name"))
    name = str(event["type"]).partition(".")[2]
    text = word(event.get("explanation")) or chat.text_of(event.get("error"))
    data = {it: event[it] for it in ("result", "stop_reason", "iteration") if event.get(it)}
    telling.notice(session, str(event["id"]), name, text=text, at=at, data=data)


def _at(event: Value) -> int | None:
    return instant(event.get("processed_at")) or instant(event.get("created_at"))


SOURCE = LogFormat(
    name="anthropic_managed",
    title="Anthropic's managed agents",
    looks_like="events with an `id` and a `type` such as `agent.tool_use`, bare or under `raw`",
    recognises=recognises,
    tell=tell,
    capabilities=Capabilities(thoughts=False),
)
