"""Chat messages as OpenAI's API words them: conversations, single messages, requests with answers.

Nothing in such a log says which session it is, so a conversation is known by its id where it has
one, and else by the file's name and its first words. Requests repeat all that was said before: one
that begins with what an earlier one said belongs to the same session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from hansei.events.keys import digest
from hansei.sources.contract import Capabilities
from hansei.sources.families import chat
from hansei.sources.families.chat import Role, Spoken
from hansei.sources.families.clock import instant
from hansei.sources.families.fields import mapping
from hansei.sources.families.telling import Conversation, made_up
from hansei.sources.log_files import Form
from hansei.sources.log_format import LogFormat

if TYPE_CHECKING:
    from hansei.sources.families.telling import Telling
    from hansei.sources.log_files import LogFile, Record

_LISTS = ("messages", "conversations", "conversation", "input")
_SESSIONS = ("session_id", "conversation_id", "thread_id", "chat_id", "session", "conversation")
_IDS = (*_SESSIONS, "id", "custom_id", "uuid")
_TIMES = ("timestamp", "created_at", "created", "time", "date")
_MODELS = ("model", "model_name")
_OTHERS = frozenset(
    ("trajectory", "trajectory_format", "hansei", "run_type", "resourceSpans", "projectHash")
)
"""Keys of records that belong to other formats or agents, whatever else is in them."""


def recognises(log: LogFile) -> bool:
    """Whether every record is a conversation, a request with its answer, or a message."""
    values = log.first
    if not values or any(_is_foreign(value) for value in values):
        return False
    if all(_is_bare(value) for value in values):
        return any("role" in value for value in values) and log.form is not Form.OBJECT
    return all(bool(_messages(value)) or _is_pair(value) for value in values)


def _is_foreign(value: dict[str, Any]) -> bool:
    """Whether a record holds messages, but as another program writes them."""
    info, first = value.get("info"), mapping(next(iter(_messages(value)), None))
    return (
        bool(_OTHERS.intersection(value))
        or (isinstance(info, dict) and "mini_version" in info)
        or any(str(it.get("object")).startswith("thread") for it in (value, first))
    )


def _is_bare(value: dict[str, Any]) -> bool:
    """Whether this is one message of a conversation that is the file."""
    has_words = "content" in value or "tool_calls" in value or "function_call" in value
    if "role" in value:
        return isinstance(value["role"], str) and has_words and not _FOREIGN.intersection(value)
    kind = value.get("type")
    return kind in ("function_call", "function_call_output", "reasoning") and "call_id" in value


_FOREIGN = frozenset(("uuid", "sessionId", "kind", "raw", "thread_id", "object", "message"))
"""Keys that messages have in the files of other programs."""


def _is_pair(value: dict[str, Any]) -> bool:
    request = value.get("request") or value.get("body") or value.get("kwargs")
    response = value.get("response")
    asked = isinstance(request, dict) and bool(_messages(_body(request)))
    answered = isinstance(response, dict) and bool(_outputs(_body(response)))
    return asked or answered


def _body(value: dict[str, Any]) -> dict[str, Any]:
    inner = value.get("body")
    return inner if isinstance(inner, dict) else value


def _messages(value: dict[str, Any]) -> list[Any]:
    """The messages a record holds, if that is what it holds."""
    for name in _LISTS:
        listed = value.get(name)
        if isinstance(listed, list) and listed and chat.spoken(listed[0]) is not None:
            return listed
    return []


# --- telling --------------------------------------------------------------------------------------


def tell(telling: Telling, log: LogFile) -> None:
    """Tell each conversation of a log."""
    values = [record.value for record in log.records]
    if log.form is not Form.OBJECT and values and all(map(_is_bare, values)):
        _tell_messages(telling, log)
        return
    begun: dict[str, str] = {}
    taken: dict[str, int] = {}
    for record in log.records:
        if _is_pair(record.value):
            _tell_pair(telling, log, record, begun)
        elif _messages(record.value):
            _tell_conversation(telling, log, record, taken)
        else:
            telling.problem(record.line, "neither messages nor a request", record.offset)


def _tell_messages(telling: Telling, log: LogFile) -> None:
    """A file that is one conversation."""
    session = _begun(log, [record.value for record in log.records[:2]])
    telling.session(session)
    conversation = Conversation(telling, session)
    for record in log.records:
        _say(conversation, record.value, record)


def _tell_conversation(
    telling: Telling, log: LogFile, record: Record, taken: dict[str, int]
) -> None:
    value = record.value
    messages = _messages(value)
    session = _named(value, _IDS)
    if session is None:
        first = _begun(log, messages[:2])
        taken[first] = taken.get(first, 0) + 1
        session = first if taken[first] == 1 else f"{first}-{taken[first]}"
    telling.session(session)
    at, model = _time(value), _text(value, _MODELS)
    conversation = Conversation(telling, session)
    for message in messages:
        _say(conversation, message, record, at=at, model=model)
    _used(telling, session, value, at, model, record)


def _tell_pair(telling: Telling, log: LogFile, record: Record, begun: dict[str, str]) -> None:
    """A request and what came back."""
    value = record.value
    asked = value.get("request") or value.get("body") or value.get("kwargs")
    request = _body(asked) if isinstance(asked, dict) else {}
    answered = value.get("response")
    response = _body(answered) if isinstance(answered, dict) else {}
    messages, outputs = _request_messages(request), _outputs(response)
    session = _session(value, request) or _named(value, ("custom_id",))
    session = session or _continued(log, messages or outputs, begun)
    telling.session(session)
    for mark in _marks([*messages, *outputs])[len(messages) - 1 :]:
        begun.setdefault(mark, session)
    at = _time(value) or _time(response)
    model = _text(response, _MODELS) or _text(request, _MODELS)
    response_id = _text(response, ("id",))
    conversation = Conversation(telling, session)
    for message in messages:
        _say(conversation, message, record, at=at)
    for message in outputs:
        _say(conversation, message, record, at=at, model=model, message_id=response_id)
    _used(telling, session, response, at, model, record)
    error = value.get("error") or response.get("error")
    if error:
        telling.notice(session, f"{record.line}", "request_failed", text=chat.text_of(error), at=at)


def _request_messages(request: dict[str, Any]) -> list[Any]:
    rules = request.get("instructions") or request.get("system")
    said = request.get("input")
    messages = [{"role": "user", "content": said}] if isinstance(said, str) else _messages(request)
    return [{"role": "system", "content": rules}, *messages] if rules else list(messages)


def _outputs(response: dict[str, Any]) -> list[Any]:
    """What the model answered: of several choices the first, as the program went on with it."""
    choices = response.get("choices")
    if isinstance(choices, list):
        messages = [it.get("message") for it in choices if isinstance(it, dict)]
        return [it for it in messages[:1] if isinstance(it, dict)]
    output = response.get("output")
    if isinstance(output, list):
        return [item for item in output if chat.spoken(item) is not None]
    return [response] if chat.spoken(response) is not None and "content" in response else []


def _continued(log: LogFile, messages: list[Any], begun: dict[str, str]) -> str:
    """The session that an earlier request of this file began, else a new one."""
    known = (begun[mark] for mark in reversed(_marks(messages)) if mark in begun)
    return next(known, None) or _begun(log, messages)


def _begun(log: LogFile, messages: list[Any]) -> str:
    """The id of a session that has none: the file's name and its first words."""
    return made_up(log.stem, log.stem, _mark(messages))


def _say(
    conversation: Conversation,
    message: Any,
    record: Record,
    *,
    at: int | None = None,
    model: str | None = None,
    message_id: str | None = None,
) -> None:
    spoken = chat.spoken(message)
    if spoken is None:
        conversation.telling.unrecognised(conversation.session, _kind(message), message, at)
        return
    answered = model if spoken.role is Role.ASSISTANT else None
    conversation.say(spoken, at=at, model=answered, message=message_id)
    if isinstance(message, dict) and spoken.role is Role.ASSISTANT and "usage" in message:
        _used(conversation.telling, conversation.session, message, at, model, record)


def _kind(message: Any) -> str:
    named = message.get("role") or message.get("type") if isinstance(message, dict) else None
    return f"message {named}" if isinstance(named, str) else "message without a role"


def _used(
    telling: Telling,
    session: str,
    value: dict[str, Any],
    at: int | None,
    model: str | None,
    record: Record,
) -> None:
    counts = chat.usage(value.get("usage"))
    if counts is not None:
        told = _text(value, ("id",))
        known = told or _mark([value, record.line])
        telling.usage(session, known, counts, at=at, model=model, message=told)


# --- fields ---------------------------------------------------------------------------------------


def _marks(values: list[Any]) -> list[str]:
    """What messages are known by up to each of them: who said what, not what is noted beside."""
    marks: list[str] = []
    before = ""
    for value in values:
        before = digest(msgspec.json.encode([before, _core(chat.spoken(value)) or value]))
        marks.append(before)
    return marks


def _mark(values: list[Any]) -> str:
    return _marks(values)[-1] if values else ""


def _core(said: Spoken | None) -> list[Any] | None:
    if said is None:
        return None
    parts = [part for part in said.parts if part.kind is not chat.Kind.THOUGHT]
    return [said.role, [[part.kind, part.text, part.name, part.arguments] for part in parts]]


def _session(value: dict[str, Any], request: dict[str, Any]) -> str | None:
    places = [value, value.get("metadata"), request.get("metadata")]
    found = (_named(it, _SESSIONS) for it in places if isinstance(it, dict))
    return next((name for name in found if name), None)


def _named(value: dict[str, Any], names: tuple[str, ...]) -> str | None:
    metadata = value.get("metadata")
    beside = metadata if isinstance(metadata, dict) else {}
    for name in names:
        found = value.get(name) if name in value else beside.get(name)
        if isinstance(found, str | int) and not isinstance(found, bool) and str(found):
            return str(found)
    return None


def _text(value: dict[str, Any], names: tuple[str, ...]) -> str | None:
    found = (value.get(name) for name in names)
    return next((it for it in found if isinstance(it, str) and it), None)


def _time(value: dict[str, Any]) -> int | None:
    return next((at for name in _TIMES if (at := instant(value.get(name)))), None)


SOURCE = LogFormat(
    name="openai_chat",
    title="Chat messages",
    looks_like="objects with `messages`, with `request` and `response`, or with `role` and"
    " `content`, as OpenAI's API words them",
    recognises=recognises,
    tell=tell,
    capabilities=Capabilities(reasoning_tokens=True),
)
