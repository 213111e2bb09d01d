"""Runs of LangChain as LangSmith keeps them: a tree of chains, model calls and tools.

A run's tokens are those of everything below it, so only runs of a model that hold no other are
counted. A model is given the whole conversation each time; what was told already adds nothing.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hansei.events.model import Prompt
from hansei.sources.contract import Capabilities
from hansei.sources.families import chat
from hansei.sources.families.chat import Kind, Part, Role
from hansei.sources.families.clock import instant
from hansei.sources.families.fields import mapping, word
from hansei.sources.families.telling import Conversation
from hansei.sources.log_format import LogFormat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.sources.families.telling import Telling
    from hansei.sources.log_files import LogFile

_THREADS = ("session_id", "thread_id", "conversation_id")
_KINDS = frozenset(("chain", "llm", "tool", "retriever", "embedding", "prompt", "parser"))
_LISTS = ("runs", "data", "results")


@dataclass(frozen=True)
class Run:
    id: str
    parent: str | None
    trace: str
    kind: str
    name: str
    start: int | None
    end: int | None
    order: str
    value: dict[str, Any]

    def part(self, name: str) -> dict[str, Any]:
        """A field that is an object; empty if it is not there."""
        return mapping(self.value.get(name))

    @property
    def metadata(self) -> dict[str, Any]:
        extra = self.part("extra")
        return {**mapping(extra.get("metadata")), **mapping(self.value.get("metadata"))}


def recognises(log: LogFile) -> bool:
    """Whether every record is a run, or a list of runs."""
    return bool(log.first) and all(_is_run(it) or bool(_listed(it)) for it in log.first)


def _is_run(value: dict[str, Any]) -> bool:
    return isinstance(value.get("run_type"), str) and "id" in value


def _listed(value: dict[str, Any]) -> list[dict[str, Any]]:
    for name in _LISTS:
        runs = value.get(name)
        if isinstance(runs, list) and runs and all(isinstance(it, dict) for it in runs):
            return [it for it in runs if _is_run(it)]
    return []


def tell(telling: Telling, log: LogFile) -> None:
    """Tell every run, in the order in which they began."""
    runs: dict[str, Run] = {}
    for record in log.records:
        found = [record.value] if _is_run(record.value) else _listed(record.value)
        if not found:
            telling.problem(record.line, "not a run: no run_type or no id", record.offset)
        for value in found:
            for run in _runs(value, None, None):
                runs[run.id] = run
    holders = _holders(runs)
    ordered = sorted(runs.values(), key=lambda it: (it.start or 0, it.order, it.id))
    threads = _threads(ordered)
    for run in ordered:
        session = threads[run.trace]
        _learn(telling, session, run)
        if run.kind == "llm" and run.id not in holders:
            _tell_request(telling, session, run)
        elif run.kind == "tool":
            _tell_tool(telling, session, run)
        elif run.kind not in _KINDS:
            telling.unrecognised(session, f"run {run.kind}", run.name, run.start)
    _tell_tasks(telling, ordered, threads)


def _runs(value: dict[str, Any], parent: str | None, trace: str | None) -> Iterator[Run]:
    """A run and those nested in it."""
    known = str(value.get("id"))
    above = value.get("parent_run_id") or parent
    top = str(value.get("trace_id") or trace or above or known)
    yield Run(
        known,
        str(above) if above else None,
        top,
        str(value.get("run_type")),
        str(value.get("name") or ""),
        instant(value.get("start_time")),
        instant(value.get("end_time")),
        str(value.get("dotted_order") or ""),
        value,
    )
    below = value.get("child_runs")
    for child in below if isinstance(below, list) else ():
        if isinstance(child, dict) and _is_run(child):
            yield from _runs(child, known, top)


def _holders(runs: dict[str, Run]) -> set[str]:
    """Runs of a model that hold another run of a model."""
    holders: set[str] = set()
    for run in runs.values():
        above = run.parent if run.kind == "llm" else None
        passed: set[str] = set()
        while above in runs and above not in passed:
            passed.add(above)
            if runs[above].kind == "llm":
                holders.add(above)
            above = runs[above].parent
    return holders


def _threads(ordered: list[Run]) -> dict[str, str]:
    """The session of each trace: the conversation that any of its runs names, else the trace."""
    threads: dict[str, str] = {}
    for run in ordered:
        named = (run.metadata.get(name) for name in _THREADS)
        told = next((it for it in named if isinstance(it, str) and it), None)
        if told:
            threads.setdefault(run.trace, told)
    return {run.trace: threads.get(run.trace, run.trace) for run in ordered}


def _learn(telling: Telling, session: str, run: Run) -> None:
    facts = telling.session(session)
    runtime, metadata = mapping(run.part("extra").get("runtime")), run.metadata
    if run.parent is None and run.name:
        facts.entrypoint = facts.entrypoint or run.name
    facts.version = facts.version or word(metadata.get("LANGSMITH_AGENT_VERSION"))
    facts.version = facts.version or word(runtime.get("library_version"))
    facts.cwd = facts.cwd or word(metadata.get("cwd"))
    facts.branch = facts.branch or word(metadata.get("git_branch"))
    facts.commit = facts.commit or word(metadata.get("git_commit"))


# --- runs -----------------------------------------------------------------------------------------


def _tell_request(telling: Telling, session: str, run: Run) -> None:
    model = _model(run)
    talk = Conversation(telling, session)
    for message in _sent(run.part("inputs")):
        if (spoken := chat.spoken(message)) is not None:
            answered = model if spoken.role is Role.ASSISTANT else None
            talk.say(spoken, at=run.start, model=answered)
    answers = _answers(run.part("outputs"))
    told = next((word(_fields(it).get("id")) for it in answers), None)
    for message in answers:
        if (spoken := chat.spoken(message)) is not None:
            talk.say(spoken, at=run.end or run.start, model=model, message=told)
    counts = _usage(run, answers)
    if counts is not None:
        known = f"{run.trace} {run.id}"
        telling.usage(
            session, known, counts, at=run.start, model=model, message=told, everywhere=True
        )
    if error := word(run.value.get("error")):
        telling.notice(session, run.id, "request_failed", text=error, at=run.end)


def _sent(inputs: dict[str, Any]) -> list[Any]:
    messages = inputs.get("messages")
    if isinstance(messages, list):
        nested = bool(messages) and isinstance(messages[0], list)
        return messages[0] if nested else messages
    prompts = inputs.get("prompts") or inputs.get("prompt")
    listed = prompts if isinstance(prompts, list) else [prompts]
    return [{"role": "user", "content": it} for it in listed if isinstance(it, str)]


def _answers(outputs: dict[str, Any]) -> list[dict[str, Any]]:
    generations = outputs.get("generations")
    if isinstance(generations, list):
        flat = [
            it for group in generations for it in (group if isinstance(group, list) else [group])
        ]
        return [_generated(it) for it in flat[:1] if isinstance(it, dict)]
    choices = outputs.get("choices")
    if isinstance(choices, list) and choices:
        message = mapping(mapping(choices[0]).get("message"))
        return [message] if message else []
    messages = outputs.get("messages") or outputs.get("output") or outputs.get("message")
    listed = messages if isinstance(messages, list) else [messages or outputs]
    return [it for it in listed[-1:] if isinstance(it, dict) and chat.spoken(it) is not None]


def _generated(told: dict[str, Any]) -> dict[str, Any]:
    message = told.get("message")
    if isinstance(message, dict):
        return message
    return {"role": "assistant", "content": told.get("text")}


def _fields(message: dict[str, Any]) -> dict[str, Any]:
    return mapping(message.get("kwargs")) or message


def _usage(run: Run, answers: list[dict[str, Any]]) -> Any:
    outputs = run.part("outputs")
    fields = _fields(answers[0]) if answers else {}
    places = (
        fields.get("usage_metadata"),
        outputs.get("usage_metadata"),
        mapping(outputs.get("llm_output")).get("token_usage"),
        outputs.get("usage"),
        mapping(fields.get("response_metadata")).get("token_usage"),
        run.value,
    )
    found = (counts for it in places if (counts := chat.usage(it)) is not None)
    return next(found, None)


def _model(run: Run) -> str | None:
    params = mapping(run.part("extra").get("invocation_params"))
    places = (run.metadata.get("ls_model_name"), params.get("model"), params.get("model_name"))
    return next((name for it in places if (name := word(it))), None)


def _tell_tool(telling: Telling, session: str, run: Run) -> None:
    arguments, output = _given(run.part("inputs")), run.part("outputs")
    came = output.get("output", output or None)
    message = _fields(came) if isinstance(came, dict) else {}
    inputs = run.part("inputs")
    told = word(message.get("tool_call_id")) or word(mapping(inputs.get("tool_call")).get("id"))
    call = told or telling.claim(session, run.name, arguments) or run.id
    talk = Conversation(telling, session)
    talk.call(Part(Kind.CALL, id=call, name=run.name, arguments=arguments), at=run.start)
    telling.claimed(session, run.name, call)
    error = word(run.value.get("error"))
    if came is None and error is None:
        return  # still at work when it was exported
    failed = True if error else {"error": True, "success": False}.get(str(message.get("status")))
    text = chat.text_of(message.get("content") if "content" in message else came) or error or ""
    talk.result(Part(Kind.RESULT, text, call, failed=failed), at=run.end)


def _given(inputs: dict[str, Any]) -> dict[str, Any]:
    """What a tool was given: LangChain writes it as Python spells it."""
    call = mapping(inputs.get("tool_call"))
    if call:
        return chat.arguments_of(call.get("args"))
    told = inputs.get("input")
    if set(inputs) != {"input"} or not isinstance(told, str):
        return inputs
    given = chat.arguments_of(told)
    if set(given) != {"input"}:
        return given
    try:
        value = ast.literal_eval(told) if told[:1] == "{" else None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return given
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return value
    return given


def _tell_tasks(telling: Telling, ordered: list[Run], threads: dict[str, str]) -> None:
    """What was asked of a chain at the top, where no model call tells it."""
    asked = {it.session for it in telling.events.values() if isinstance(it, Prompt)}
    for run in ordered:
        session, given = threads[run.trace], run.part("inputs")
        words = word(given.get("input")) or word(given.get("question"))
        if run.parent is None and run.kind == "chain" and session not in asked and words:
            asked.add(session)
            talk = Conversation(telling, session)
            talk.prompt(words, talk.origin, at=run.start)


SOURCE = LogFormat(
    name="langsmith",
    title="LangSmith runs",
    looks_like="runs with `id` and `run_type`, one per line, in a list, or nested in `child_runs`",
    recognises=recognises,
    tell=tell,
    capabilities=Capabilities(reasoning_tokens=True, branch=True, commit=True),
)
