"""What `claude -p --output-format stream-json` prints: messages of the API in an envelope.

The same session usually lies in the program's own transcripts too. The ids are the same there but
the agent is another, so such a log is for machines whose transcripts are gone. Pieces that stream
in are told again by the whole message, except what it took in the end: a message is printed when
its answer begins, and its count of output says nothing. That stands in the piece that ends it, and
where pieces are not printed only in the run's sum: then the sum stands at the run's last request.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from hansei.events.model import Driver, Origin, Relation
from hansei.sources.contract import Capabilities
from hansei.sources.families import anthropic, chat
from hansei.sources.families.chat import Kind, Part, Role
from hansei.sources.families.clock import instant
from hansei.sources.families.fields import among, mapping, word
from hansei.sources.families.records import salvage
from hansei.sources.families.streams import Counts
from hansei.sources.families.telling import Conversation
from hansei.sources.log_files import Form
from hansei.sources.log_format import LogFormat

if TYPE_CHECKING:
    from hansei.sources.families.telling import Telling
    from hansei.sources.log_files import LogFile, Record

_KINDS = frozenset(("system", "assistant", "user", "result", "stream_event", "rate_limit_event"))
_QUIET = frozenset(("rate_limit_event", "keep_alive", "control_response"))
"""Lines that tell nothing which is not told elsewhere."""
_SYSTEM_QUIET = frozenset(("thinking_tokens", "status", "hook_started", "hook_response"))

Value = dict[str, Any]


def recognises(log: LogFile) -> bool:
    """Whether it begins with what the program prints, and every line names its session."""
    return (
        log.form in (Form.LINES, Form.LIST)
        and bool(log.first)
        and among(log.first[0].get("type"), _KINDS)
        and all("session_id" in it and isinstance(it.get("type"), str) for it in log.first)
    )


@dataclass
class Run:
    """What is not known yet of the requests of a session's run."""

    answering: str = ""
    """The message that streams in."""
    open: list[str] = field(default_factory=list)
    """Messages whose output nobody has told."""
    output: int = 0
    """What the others put out."""


def tell(telling: Telling, log: LogFile) -> None:
    """Tell every line. A line of a subagent names the call that started it."""
    runs: dict[str, Run] = defaultdict(Run)
    for record in log.records:
        value, kind = record.value, str(record.value.get("type"))
        top = value.get("session_id")
        if not isinstance(top, str) or not top:
            if kind not in _QUIET:
                telling.problem(record.line, "no session_id", record.offset)
            continue
        session = _session(telling, top, value.get("parent_tool_use_id"))
        if kind == "system":
            _tell_system(telling, session, value)
        elif kind in ("assistant", "user"):
            _tell_message(telling, session, value, record, runs[session])
        elif kind == "stream_event":
            _tell_piece(telling, session, mapping(value.get("event")), runs[session])
        elif kind == "result":
            _tell_end(telling, session, value)
            _tell_rest(telling, session, mapping(value.get("usage")), runs.pop(session, Run()))
        elif kind not in _QUIET:
            telling.unrecognised(session, f"line {kind}", value)


def _session(telling: Telling, top: str, call: Any) -> str:
    facts = telling.session(top, Driver.AUTOMATED)
    facts.driver_recorded = True
    if not isinstance(call, str) or not call:
        return top
    below = telling.session(f"{top}/{call}", Driver.SUBAGENT)
    below.driver_recorded, below.parent, below.relation = True, top, Relation.SUBAGENT
    below.spawned_by = call
    return below.id


def _tell_system(telling: Telling, session: str, value: Value) -> None:
    if value.get("subtype") == "init":
        facts = telling.session(session)
        facts.cwd = word(value.get("cwd"))
        facts.version = word(value.get("claude_code_version"))
        facts.entrypoint = "stream-json"
        telling.notice(session, word(value.get("uuid")) or "init", "started")
    elif not among(value.get("subtype"), _SYSTEM_QUIET):
        name = str(value.get("subtype"))
        data = {"subtype": name}
        known = word(value.get("uuid")) or name
        telling.notice(session, known, "system", at=_at(value), data=data)


def _tell_message(telling: Telling, session: str, value: Value, record: Record, run: Run) -> None:
    message, at = value.get("message"), _at(value)
    spoken = chat.spoken(message)
    if spoken is None or not isinstance(message, dict):
        telling.problem(record.line, "a message without a role", record.offset)
        return
    known = word(value.get("uuid")) or f"line {record.line}"
    is_subagent = telling.session(session).driver is Driver.SUBAGENT
    origin = Origin.PARENT_AGENT if is_subagent else Origin.HARNESS
    talk = Conversation(telling, session, origin, scope=known)
    model, told = word(message.get("model")), word(message.get("id"))
    synthetic = model == "<synthetic>"
    talk.say(
        spoken._replace(parts=[_flagged(part) for part in spoken.parts]),
        at=at,
        model=None if synthetic else model,
        message=told,
    )
    usage = message.get("usage")
    if spoken.role is Role.ASSISTANT and isinstance(usage, dict) and told and not synthetic:
        counts = anthropic.counts(salvage(usage, anthropic.Usage))
        telling.usage(session, told, counts._replace(output=None), at=at, model=model, message=told)
        if told not in run.open:
            run.open.append(told)


def _tell_piece(telling: Telling, session: str, event: Value, run: Run) -> None:
    """Of the pieces only what the whole answer took."""
    if event.get("type") == "message_start":
        run.answering = word(mapping(event.get("message")).get("id")) or ""
    usage = mapping(event.get("usage"))
    if event.get("type") == "message_delta" and run.answering and usage:
        counts = anthropic.counts(salvage(usage, anthropic.Usage))
        # The inputs stand in the message, there with how long a cache keeps them.
        ended = Counts(output=counts.output, reasoning=counts.reasoning)
        telling.usage(session, run.answering, ended, message=run.answering)
        run.output += counts.output or 0
        run.open = [message for message in run.open if message != run.answering]


def _tell_rest(telling: Telling, session: str, usage: Value, run: Run) -> None:
    """What the run put out beyond what its requests tell stands at the last of those."""
    total = chat.count(usage.get("output_tokens"))
    if run.open and total is not None and total >= run.output:
        last = run.open[-1]
        telling.usage(session, last, Counts(output=total - run.output), message=last)


def _flagged(part: Part) -> Part:
    """A result without a flag went well: the API leaves out what is false."""
    if part.kind is Kind.RESULT and part.failed is None:
        return part._replace(failed=False)
    return part


def _tell_end(telling: Telling, session: str, value: Value) -> None:
    names = ("subtype", "is_error", "num_turns", "duration_ms", "total_cost_usd", "stop_reason")
    data = {name: value[name] for name in names if value.get(name) is not None}
    text = word(value.get("result")) if value.get("is_error") else None
    known = word(value.get("uuid")) or msgspec.json.encode(data).decode()
    telling.notice(session, known, "run_ended", text=text or "", data=data)


def _at(value: Value) -> int | None:
    return instant(value.get("timestamp"))


SOURCE = LogFormat(
    name="claude_stream",
    title="Claude Code's printed stream",
    looks_like="lines with a `type` of system, assistant, user or result and a `session_id`, as"
    " `claude -p --output-format stream-json` prints them",
    recognises=recognises,
    tell=tell,
    capabilities=Capabilities(reasoning_tokens=True),
)
