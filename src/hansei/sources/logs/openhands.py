"""Conversations of OpenHands: events, in a file each, in a list, or in a line of a benchmark.

The newer program names an event's kind and keeps what each request took in the conversation's
state. The older one writes actions and observations, and beside an action the whole response it
came from, again for every call in it; its running totals are passed over.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hansei.events.model import (
    Basis,
    Compaction,
    Driver,
    Interruption,
    Origin,
    Status,
    Tool,
    ToolResult,
)
from hansei.sources.contract import Capabilities
from hansei.sources.families import chat
from hansei.sources.families.chat import Kind, Part, Role
from hansei.sources.families.clock import instant
from hansei.sources.families.fields import among, mapping, word
from hansei.sources.families.telling import Conversation
from hansei.sources.log_files import Form
from hansei.sources.log_format import LogFormat

if TYPE_CHECKING:
    from hansei.sources.families.telling import Telling
    from hansei.sources.log_files import LogFile

EVENTS = "events"
"""The folder of a conversation in which each event has a file."""
STATE = "base_state.json"
_SOURCES = frozenset(("user", "agent", "environment", "hook"))
_QUIET = frozenset(
    (
        "ConversationStateUpdateEvent", "PauseEvent", "LLMCompletionLogEvent", "TokenEvent",
        "CondensationRequest", "CondensationSummaryEvent", "StreamingDeltaEvent",
    )
)  # fmt: skip
"""Kinds that tell nothing which is not told elsewhere."""
_STATES = frozenset(("null", "agent_state_changed", "change_agent_state", "recall", "system"))
_SPOKEN = {"message": "content", "finish": "final_thought", "think": "thought", "reject": "content"}

_TOOLS = {
    "execute_bash": Tool.SHELL,
    "execute_ipython_cell": Tool.SHELL,
    "file_editor": Tool.EDIT,
    "task_tracker": Tool.PLAN,
    "browse": Tool.WEB,
    "browse_interactive": Tool.WEB,
}
"""Tools that only this program calls so."""

Value = dict[str, Any]


def recognises(log: LogFile) -> bool:
    """Whether it is events, a conversation's state, or lines of a benchmark."""
    return bool(log.first) and (
        all(map(_is_event, log.first))
        or (log.form is Form.OBJECT and _is_state(log.value))
        or all(map(_is_instance, log.first))
    )


def _is_event(value: Value) -> bool:
    return _is_new(value) or _is_old(value)


def _is_new(value: Value) -> bool:
    kind = value.get("kind")
    is_kind = isinstance(kind, str) and kind[:1].isupper()
    return is_kind and among(value.get("source"), _SOURCES) and "timestamp" in value


def _is_old(value: Value) -> bool:
    acts = isinstance(value.get("action"), str) or isinstance(value.get("observation"), str)
    return acts and "source" in value and ("args" in value or "content" in value)


def _is_state(value: Value) -> bool:
    return (
        isinstance(value.get("agent"), dict)
        and "id" in value
        and ("workspace" in value or "stats" in value)
    )


def _is_instance(value: Value) -> bool:
    history = value.get("history")
    return "instance_id" in value and isinstance(history, list) and "instruction" in value


def tell(telling: Telling, log: LogFile) -> None:
    """Tell a conversation, or the part of one that the log holds."""
    if log.form is Form.OBJECT and _is_state(log.value):
        _tell_state(telling, log)
        return
    for record in log.records:
        if _is_instance(record.value):
            _tell_instance(telling, record.value)
        elif not _is_event(record.value):
            telling.problem(record.line, "neither an event nor a conversation", record.offset)
    events = [record.value for record in log.records if _is_event(record.value)]
    if events:
        session = _session(log)
        telling.session(session)
        _tell_events(Conversation(telling, session, tools=_TOOLS), events)


def _session(log: LogFile) -> str:
    """The conversation: the folder around the events, else the file."""
    folder = log.path.parent
    return folder.parent.name if folder.name == EVENTS else log.stem


def _tell_instance(telling: Telling, value: Value) -> None:
    """A line of a benchmark: one run, driven by a program."""
    session = str(value["instance_id"])
    facts = telling.session(session, Driver.AUTOMATED)
    facts.driver_recorded, facts.title = True, session
    facts.entrypoint = word(mapping(value.get("metadata")).get("agent_class"))
    talk = Conversation(telling, session, Origin.HARNESS, _TOOLS)
    history = [it for entry in value["history"] for it in _flat(entry) if _is_event(it)]
    if not any(it.get("source") == "user" for it in history):
        talk.prompt(str(value.get("instruction") or ""), Origin.HARNESS)
    _tell_events(talk, history)


def _flat(entry: Any) -> list[Value]:
    """Older histories hold an action and its observation as a pair."""
    listed = entry if isinstance(entry, list) else [entry]
    return [it for it in listed if isinstance(it, dict)]


def _tell_events(talk: Conversation, events: list[Value]) -> None:
    ids: dict[str, str] = {}
    for event in events:
        # Events have ids, and may each lie in a file of their own: words count within their event.
        own = replace(talk, scope=str(event.get("id")), seen=Counter())
        if _is_new(event):
            _tell_new(own, event)
        else:
            _tell_old(own, event, ids)


# --- the newer program ----------------------------------------------------------------------------


def _tell_state(telling: Telling, log: LogFile) -> None:
    """A conversation's state: its folder bears the same name as the one around its events."""
    session = log.path.parent.name if log.path.name == STATE else str(log.value["id"])
    facts = telling.session(session)
    facts.cwd = word(mapping(log.value.get("workspace")).get("working_dir"))
    facts.entrypoint = word(mapping(log.value.get("agent")).get("kind"))
    telling.notice(session, "state", "conversation")
    _tell_metrics(telling, session, mapping(log.value.get("stats")))


def _tell_metrics(telling: Telling, session: str, stats: Value) -> None:
    """What each request took; where only the sum is kept, the sum as a notice."""
    for name, metrics in sorted(mapping(stats.get("usage_to_metrics")).items()):
        held = mapping(metrics)
        model = word(held.get("model_name"))
        each = held.get("token_usages")
        for number, told in enumerate(each if isinstance(each, list) else ()):
            usage = mapping(told)
            response = word(usage.get("response_id"))
            counts = _counts(usage)
            if counts is not None:
                telling.usage(
                    session,
                    response or f"{name} {number}",
                    counts,
                    model=word(usage.get("model")) or model,
                    message=response,
                )
        total = mapping(held.get("accumulated_token_usage"))
        if total and not each:
            data = {name: it for name, it in total.items() if isinstance(it, int | str)}
            telling.notice(session, name, "totals", data=data)


def _counts(told: Value) -> Any:
    """Tokens as this program names them; what a cache held is in the input."""
    sent, output = chat.count(told.get("prompt_tokens")), chat.count(told.get("completion_tokens"))
    if sent is None and output is None:
        return None
    read, written = (
        chat.count(told.get("cache_read_tokens")),
        chat.count(told.get("cache_write_tokens")),
    )
    return chat.disjoint(sent, read, written, output, chat.count(told.get("reasoning_tokens")))


def _tell_new(talk: Conversation, event: Value) -> None:
    kind, at = str(event.get("kind")), instant(event.get("timestamp"))
    known = str(event.get("id"))
    if kind == "MessageEvent":
        _tell_message(talk, event, at)
    elif kind == "SystemPromptEvent":
        talk.prompt(chat.text_of(event.get("system_prompt")), Origin.HARNESS, at=at)
    elif kind == "ActionEvent":
        _tell_action(talk, event, at)
    elif kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"):
        _tell_observation(talk, event, at)
    elif kind == "InterruptEvent":
        key = talk.telling.key("interruption", talk.session, known)
        talk.telling.emit(Interruption(key=key, session=talk.session, at=at))
    elif kind.startswith("Condensation") and kind not in _QUIET:
        key = talk.telling.key("compaction", talk.session, known)
        text = chat.text_of(event.get("summary"))
        talk.telling.emit(Compaction(key=key, session=talk.session, at=at, text=text))
    elif kind == "ConversationErrorEvent":
        text = chat.text_of(event.get("detail") or event.get("error"))
        talk.telling.notice(talk.session, known, "error", text=text, at=at)
    elif kind not in _QUIET:
        talk.telling.unrecognised(talk.session, kind, event, at)


def _tell_message(talk: Conversation, event: Value, at: int | None) -> None:
    spoken = chat.spoken(event.get("llm_message"))
    if spoken is None:
        return
    said = spoken._replace(role=Role.ASSISTANT if event.get("source") == "agent" else spoken.role)
    talk.say(said, at=at, message=word(event.get("llm_response_id")))


def _tell_action(talk: Conversation, event: Value, at: int | None) -> None:
    response = word(event.get("llm_response_id"))
    if reasoning := word(event.get("reasoning_content")):
        talk.thought(reasoning, at=at, message=response)
    if words := chat.text_of(event.get("thought")):
        talk.reply(words, at=at, message=response)
    call, action = mapping(event.get("tool_call")), mapping(event.get("action"))
    inner = mapping(call.get("function")) or call
    given = {name: it for name, it in action.items() if name != "kind" and it is not None}
    name = word(event.get("tool_name")) or word(inner.get("name")) or "unnamed"
    arguments = chat.arguments_of(inner.get("arguments")) or given
    told = word(event.get("tool_call_id")) or str(event.get("id"))
    talk.call(Part(Kind.CALL, id=told, name=name, arguments=arguments), at=at, message=response)


def _tell_observation(talk: Conversation, event: Value, at: int | None) -> None:
    told = word(event.get("tool_call_id")) or word(event.get("action_id"))
    seen = mapping(event.get("observation"))
    if event.get("kind") == "UserRejectObservation":
        _declined(talk, told, chat.text_of(event.get("rejection_reason")), at)
        return
    if "error" in event:
        part = Part(Kind.RESULT, chat.text_of(event.get("error")), told, failed=True)
    else:
        failed = seen.get("is_error")
        command = word(seen.get("command"))
        if told and command:  # the call may lie in another file
            talk.telling.commands.setdefault((talk.session, told), command)
        text = chat.text_of(seen.get("content") or seen.get("output") or seen.get("text"))
        code = None if failed is True else _exit_code(seen)
        flag = failed if isinstance(failed, bool) and code is None else None
        part = Part(Kind.RESULT, text, told, failed=flag, exit_code=code)
    talk.result(part, at=at)


def _declined(talk: Conversation, told: str | None, text: str, at: int | None) -> None:
    """A person refused the call: it never ran."""
    call = told or "unknown"
    key = talk.telling.key("result", talk.session, call)
    talk.telling.emit(
        ToolResult(
            key=key,
            session=talk.session,
            at=at,
            call=call,
            text=text,
            status=Status.UNKNOWN,
            basis=Basis.DECLINED,
        )
    )


def _exit_code(seen: Value) -> int | None:
    """The exit code; -1 is a command that was still at work."""
    for held in (seen, mapping(seen.get("metadata"))):
        code = held.get("exit_code")
        if isinstance(code, int) and not isinstance(code, bool) and code != -1:
            return code
    return None


# --- the older program ----------------------------------------------------------------------------


def _tell_old(talk: Conversation, event: Value, ids: dict[str, str]) -> None:
    at, known = instant(event.get("timestamp")), str(event.get("id"))
    if isinstance(event.get("observation"), str):
        _tell_old_observation(talk, event, at, ids)
        return
    action, given = str(event.get("action")), mapping(event.get("args"))
    if event.get("source") == "user" and action == "message":
        talk.prompt(chat.text_of(given.get("content") or event.get("message")), talk.origin, at=at)
        return
    _tell_response(talk, event, at)
    if action in _STATES:
        return
    if action in _SPOKEN:
        text = chat.text_of(given.get(_SPOKEN[action]) or given.get("content"))
        (talk.thought if action == "think" else talk.reply)(text, at=at)
        return
    if words := word(given.get("thought")):
        talk.reply(words, at=at)
    meta = mapping(event.get("tool_call_metadata"))
    told = word(meta.get("tool_call_id")) or f"action-{known}"
    ids[known] = told
    name = word(meta.get("function_name")) or action
    arguments = {key: it for key, it in given.items() if key != "thought" and it not in (None, "")}
    tool = {"run": "bash", "run_ipython": "execute_ipython_cell"}.get(name, name)
    talk.call(Part(Kind.CALL, id=told, name=tool, arguments=arguments), at=at)


def _tell_response(talk: Conversation, event: Value, at: int | None) -> None:
    """What the request behind an action took; every call of one response repeats it."""
    response = mapping(mapping(event.get("tool_call_metadata")).get("model_response"))
    counts = chat.usage(response.get("usage"))
    told = word(response.get("id"))
    if counts is not None and told is not None:
        model = word(response.get("model"))
        talk.telling.usage(talk.session, told, counts, at=at, model=model, message=told)


def _tell_old_observation(
    talk: Conversation, event: Value, at: int | None, ids: dict[str, str]
) -> None:
    if str(event.get("observation")) in _STATES:
        return
    extras = mapping(event.get("extras"))
    meta = mapping(event.get("tool_call_metadata"))
    told = word(meta.get("tool_call_id")) or ids.get(str(event.get("cause")))
    text = chat.text_of(event.get("content") or event.get("message"))
    code = _exit_code(extras)
    failed = True if event.get("observation") == "error" else None
    if told is None:
        name = str(event.get("observation"))
        talk.telling.notice(talk.session, str(event.get("id")), name, text=text, at=at)
        return
    part = Part(Kind.RESULT, text, told, failed=failed, exit_code=None if failed else code)
    talk.result(part, at=at)


SOURCE = LogFormat(
    name="openhands",
    title="OpenHands",
    looks_like="events with `kind`, `source` and `timestamp`, or with `action` or `observation`;"
    " a base_state.json; lines with `instance_id` and `history`",
    recognises=recognises,
    tell=tell,
    capabilities=Capabilities(exit_codes=True, reasoning_tokens=True),
)
