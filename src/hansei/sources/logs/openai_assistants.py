"""Threads of OpenAI's Assistants: messages, runs and the steps of runs, as the API returns them.

A run's tokens are the sum of its steps', so a run counts only where none of its steps says what it
took. The tools of a step carry what came of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hansei.sources.contract import Capabilities
from hansei.sources.families import chat
from hansei.sources.families.chat import Kind, Part, Role, Spoken
from hansei.sources.families.clock import instant
from hansei.sources.families.fields import among, mapping, word
from hansei.sources.families.telling import Conversation
from hansei.sources.log_format import LogFormat

if TYPE_CHECKING:
    from hansei.sources.families.telling import Telling
    from hansei.sources.log_files import LogFile

THREAD, MESSAGE, RUN, STEP = "thread", "thread.message", "thread.run", "thread.run.step"
_KINDS = frozenset((THREAD, MESSAGE, RUN, STEP))
_NESTED = ("messages", "runs", "steps", "data")
_FAILED = frozenset(("failed", "expired", "incomplete", "cancelled"))

Value = dict[str, Any]


def recognises(log: LogFile) -> bool:
    """Whether every record is one of the API's objects, or a list of them."""
    return bool(log.first) and all(bool(_objects(it)) for it in log.first)


def _objects(value: Any) -> list[Value]:
    """The API's objects in a record, at whatever depth an export put them."""
    if isinstance(value, list):
        return [found for it in value for found in _objects(it)]
    if not isinstance(value, dict):
        return []
    own = [value] if among(value.get("object"), _KINDS) else []
    return own + [found for name in _NESTED for found in _objects(value.get(name))]


def tell(telling: Telling, log: LogFile) -> None:
    """Tell every message and step, in the order in which they were made."""
    known: dict[str, Value] = {}
    for record in log.records:
        found = _objects(record.value)
        if not found:
            telling.problem(record.line, "none of the API's objects", record.offset)
        for it in found:
            known[str(it.get("id"))] = it
    ordered = sorted(known.values(), key=lambda it: (_at(it) or 0, _rank(it), str(it.get("id"))))
    runs = {name: it for name, it in known.items() if it.get("object") == RUN}
    measured = {
        str(it.get("run_id")) for it in ordered if it.get("object") == STEP and it.get("usage")
    }
    talks: dict[str, Conversation] = {}
    for it in ordered:
        session = word(it.get("thread_id")) or (
            str(it.get("id")) if it["object"] == THREAD else None
        )
        if session is None:
            continue
        telling.session(session)
        if it["object"] == MESSAGE:
            _tell_message(talks.setdefault(session, Conversation(telling, session)), it)
        elif it["object"] == STEP:
            _tell_step(telling, session, it, runs.get(str(it.get("run_id")), {}))
        elif it["object"] == RUN:
            _tell_run(telling, session, it, counted=str(it.get("id")) not in measured)


def _rank(value: Value) -> int:
    """Of what was made in the same second, a question comes before its run and its answer last."""
    if value.get("object") == MESSAGE:
        return 1 if value.get("role") == "user" else 4
    return {THREAD: 0, RUN: 2, STEP: 3}.get(str(value.get("object")), 5)


def _at(value: Value) -> int | None:
    return instant(value.get("created_at"))


def _tell_message(talk: Conversation, message: Value) -> None:
    spoken = chat.spoken(message)
    if spoken is None:
        name = f"message {message.get('role')}"
        talk.telling.unrecognised(talk.session, name, message, _at(message))
    else:
        talk.say(spoken, at=_at(message))


def _tell_step(telling: Telling, session: str, step: Value, run: Value) -> None:
    at, model = _at(step), word(run.get("model"))
    details = mapping(step.get("step_details"))
    calls = details.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            _tell_call(telling, session, call, step, model)
    counts = chat.usage(step.get("usage"))
    if counts is not None:
        telling.usage(session, str(step.get("id")), counts, at=at, model=model)


def _tell_call(telling: Telling, session: str, call: Value, step: Value, model: str | None) -> None:
    kind = str(call.get("type") or "")
    inner = mapping(call.get(kind))
    name = word(inner.get("name")) or kind or "unnamed"
    given = inner.get("arguments", inner.get("input"))
    told = str(call.get("id") or f"{step.get('id')}-{name}")
    talk = Conversation(telling, session)
    part = Part(Kind.CALL, id=told, name=name, arguments=chat.arguments_of(given))
    talk.call(part, at=_at(step), model=model)
    came = next((inner[it] for it in ("output", "outputs", "results") if inner.get(it)), None)
    ended = instant(step.get("completed_at")) or instant(step.get("failed_at"))
    if came is None and not among(step.get("status"), _FAILED):
        return
    failed = True if step.get("status") == "failed" else None
    text = chat.text_of(came) or chat.text_of(mapping(step.get("last_error")).get("message"))
    talk.result(Part(Kind.RESULT, _logs(came) or text, told, failed=failed), at=ended)


def _logs(came: Any) -> str:
    """What a program that was run has printed."""
    listed = came if isinstance(came, list) else []
    logs = [it.get("logs") for it in listed if isinstance(it, dict) and it.get("type") == "logs"]
    return "\n".join(it for it in logs if isinstance(it, str))


def _tell_run(telling: Telling, session: str, run: Value, *, counted: bool) -> None:
    facts, model = telling.session(session), word(run.get("model"))
    facts.entrypoint = facts.entrypoint or word(run.get("assistant_id"))
    known = str(run.get("id"))
    if rules := word(run.get("instructions")):
        Conversation(telling, session).say(
            Spoken(Role.SYSTEM, [Part(Kind.TEXT, rules)]), at=_at(run)
        )
    counts = chat.usage(run.get("usage")) if counted else None
    if counts is not None:
        telling.usage(session, known, counts, at=_at(run), model=model)
    if among(run.get("status"), _FAILED):
        words = chat.text_of(mapping(run.get("last_error")).get("message"))
        data = {"status": run.get("status")}
        telling.notice(session, known, "run_ended", text=words, at=_at(run), data=data)


SOURCE = LogFormat(
    name="openai_assistants",
    title="OpenAI Assistants",
    looks_like="objects whose `object` is `thread.message`, `thread.run` or `thread.run.step`",
    recognises=recognises,
    tell=tell,
    capabilities=Capabilities(cache_tokens=False, thoughts=False, file_edits=False),
)
