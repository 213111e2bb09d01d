"""Our own small format: one JSON object per line, for whoever writes a log by hand or by program.

The types below are the format. Its JSON Schema is made from them, and so is every complaint of
`hansei import --check`. The first line carries `"hansei": 1`, which is how a log is recognised.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import msgspec

from hansei.events.keys import digest
from hansei.events.model import (
    Basis,
    Compaction,
    Driver,
    FileEdit,
    Hunk,
    Interruption,
    Origin,
    Relation,
    Status,
    ToolResult,
)
from hansei.sources.contract import Capabilities
from hansei.sources.families import chat, edits, patches
from hansei.sources.families.chat import Part
from hansei.sources.families.clock import instant
from hansei.sources.families.streams import Counts
from hansei.sources.families.telling import Conversation
from hansei.sources.log_files import Form
from hansei.sources.log_format import LogFormat

if TYPE_CHECKING:
    from hansei.sources.families.telling import Telling
    from hansei.sources.log_files import LogFile, Record

VERSION = 1

Id = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Tokens = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Time = Annotated[
    str | int | float,
    msgspec.Meta(description="ISO 8601 with a zone, or seconds or milliseconds since 1970."),
]


class Line(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", forbid_unknown_fields=True):
    """What every line may say."""

    hansei: Literal[1] | None = None
    """The version of the format; in the first line at least."""
    session: Id | None = None
    """The session this belongs to; the last one that was named, if left out."""
    at: Time | None = None
    id: Id | None = None
    """What this is known by: a line with the same id in the same session is the same thing."""


class SessionLine(Line, frozen=True, kw_only=True, tag="session"):
    """A session, and what is known of it as a whole. Everything is optional but its id."""

    id: Id
    agent: str | None = None
    """The program or framework that ran it."""
    version: str | None = None
    driver: Driver | None = None
    parent: Id | None = None
    relation: Relation | None = None
    cwd: str | None = None
    branch: str | None = None
    commit: str | None = None
    title: str | None = None
    role: str | None = None
    """The kind of subagent, where it is one."""


class PromptLine(Line, frozen=True, kw_only=True, tag="prompt"):
    """Text given to the model in the user's place."""

    text: str
    by: Literal["human", "parent_agent", "harness"] = "human"
    images: Tokens = 0


class ReplyLine(Line, frozen=True, kw_only=True, tag="reply"):
    text: str
    model: str | None = None


class ThoughtLine(Line, frozen=True, kw_only=True, tag="thought"):
    text: str
    model: str | None = None


class CallLine(Line, frozen=True, kw_only=True, tag="call"):
    """A call of a tool. Its result names it by `id`."""

    id: Id
    tool: str
    """The tool's own name, such as `bash` or `read_file`."""
    arguments: dict[str, Any] = msgspec.field(default_factory=dict)
    model: str | None = None


class ResultLine(Line, frozen=True, kw_only=True, tag="result"):
    call: Id
    text: str = ""
    status: Literal["ok", "failed", "unknown"] | None = None
    """Left out, the exit code decides; without one it is unknown."""
    exit_code: int | None = None
    child: Id | None = None
    """The session of the subagent that the call started."""


class EditLine(Line, frozen=True, kw_only=True, tag="edit"):
    """A change of a file: as a unified diff, or as the text that went and the text that came."""

    path: Annotated[str, msgspec.Meta(min_length=1)]
    operation: Literal["create", "update", "delete", "rename"] = "update"
    diff: str | None = None
    old: str | None = None
    new: str | None = None
    call: Id | None = None
    applied: bool | None = None
    moved_to: str | None = None


class UsageLine(Line, frozen=True, kw_only=True, tag="usage"):
    """What one request to a model took. The inputs are disjoint; output includes reasoning."""

    model: str | None = None
    input: Tokens | None = None
    """Input that no cache held."""
    cache_read: Tokens | None = None
    cache_write: Tokens | None = None
    output: Tokens | None = None
    reasoning: Tokens | None = None


class InterruptionLine(Line, frozen=True, kw_only=True, tag="interruption"):
    """A person stopped the agent."""

    text: str = ""


class CompactionLine(Line, frozen=True, kw_only=True, tag="compaction"):
    """The context was replaced by a summary."""

    text: str = ""
    tokens_before: Tokens | None = None


class NoticeLine(Line, frozen=True, kw_only=True, tag="notice"):
    """Anything else worth keeping."""

    name: str
    text: str = ""
    data: dict[str, Any] = msgspec.field(default_factory=dict)


AnyLine: TypeAlias = (
    SessionLine
    | PromptLine
    | ReplyLine
    | ThoughtLine
    | CallLine
    | ResultLine
    | EditLine
    | UsageLine
    | InterruptionLine
    | CompactionLine
    | NoticeLine
)

KINDS: tuple[type[Line], ...] = AnyLine.__args__


def schema() -> dict[str, Any]:
    """The JSON Schema of one line."""
    made = msgspec.json.schema(AnyLine)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A line of a log for `hansei import`",
        **made,
    }


# --- reading --------------------------------------------------------------------------------------


def recognises(log: LogFile) -> bool:
    """Whether the first object says so."""
    return log.form in (Form.LINES, Form.OBJECT) and "hansei" in log.records[0].value


def tell(telling: Telling, log: LogFile) -> None:
    """Tell each line; one that is not as the format has it is a problem, with its field."""
    talks: dict[str, Conversation] = {}
    current: str | None = None
    for record in log.records:
        try:
            line = msgspec.convert(record.value, AnyLine)
        except msgspec.ValidationError as problem:
            telling.problem(record.line, complaint(problem), record.offset)
            continue
        if line.at is not None and instant(line.at) is None:
            telling.problem(record.line, "field at: not a time", record.offset)
        if isinstance(line, SessionLine):
            current = line.id
            _begin(telling, line)
            continue
        current = line.session or current
        if current is None:
            reason = "no session is named here or in a line before"
            telling.problem(record.line, f"field session: {reason}", record.offset)
            continue
        telling.session(current)
        talk = talks.setdefault(current, Conversation(telling, current))
        if line.id and isinstance(line, PromptLine | ReplyLine | ThoughtLine):
            talk = Conversation(telling, current, scope=line.id)  # known by its id, not its words
        _tell_line(talk, line, record)


_INVALID = re.compile(r"Invalid (?:enum )?value .*?(?= - at |$)", re.DOTALL)
_UNKNOWN = re.compile(r"Object contains unknown field `(.*?)`", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(\w+)`")
_PLACE = re.compile(r" - at `\$\.?(.*?)`$", re.DOTALL)
_FIELD = re.compile(r"[\w.\[\]-]{1,60}")


def complaint(problem: msgspec.ValidationError) -> str:
    """What is wrong with which field, without quoting what the field holds."""
    words = str(problem)
    place = _PLACE.search(words)
    where = place[1] if place else ""
    said = _PLACE.sub("", words)
    if missing := _MISSING.match(said):
        return f"field {missing[1]}: it is missing"
    if unknown := _UNKNOWN.match(said):
        named = unknown[1] if _FIELD.fullmatch(unknown[1]) else "with a name that is no name"
        return f"field {named}: lines of this type have no such field"
    if _INVALID.match(said):
        said = f"not one of {_choices(where)}" if _choices(where) else "not a value it can have"
    return f"field {where or 'type'}: {said[:1].lower()}{said[1:]}"


def _choices(field: str) -> str:
    if field in ("", "type"):
        return ", ".join(str(kind.__struct_config__.tag) for kind in KINDS)
    known = {
        "by": "human, parent_agent, harness",
        "status": "ok, failed, unknown",
        "operation": "create, update, delete, rename",
        "driver": ", ".join(Driver),
        "relation": ", ".join(Relation),
        "hansei": str(VERSION),
    }
    return known.get(field, "")


def _begin(telling: Telling, line: SessionLine) -> None:
    facts = telling.session(line.id)
    if line.driver is not None:
        facts.driver, facts.driver_recorded = line.driver, True
    facts.parent, facts.relation = line.parent, line.relation
    facts.entrypoint, facts.version = line.agent, line.version
    facts.cwd, facts.branch, facts.commit = line.cwd, line.branch, line.commit
    facts.title, facts.role = line.title, line.role
    telling.notice(line.id, line.id, "session", at=instant(line.at))


def _tell_line(talk: Conversation, line: Line, record: Record) -> None:
    at = instant(line.at)
    match line:
        case PromptLine():
            talk.prompt(line.text, Origin(line.by), at=at, images=line.images)
        case ReplyLine():
            talk.reply(line.text, at=at, model=line.model)
        case ThoughtLine():
            talk.thought(line.text, at=at, model=line.model)
        case CallLine():
            part = Part(chat.Kind.CALL, id=line.id, name=line.tool, arguments=line.arguments)
            talk.call(part, at=at, model=line.model)
        case ResultLine():
            _tell_result(talk, line, at)
        case UsageLine():
            counts = Counts(
                line.input, line.cache_read, line.cache_write, None, line.output, line.reasoning
            )
            known = line.id or _nth(talk, line, record)
            talk.telling.usage(
                talk.session, known, counts, at=at, model=line.model, message=line.id
            )
        case _:
            _tell_rest(talk, line, at, line.id or _nth(talk, line, record))


def _tell_rest(talk: Conversation, line: Line, at: int | None, known: str) -> None:
    key = talk.telling.key("line", talk.session, known)
    match line:
        case EditLine():
            _tell_edit(talk, line, at, key)
        case InterruptionLine():
            talk.telling.emit(Interruption(key=key, session=talk.session, at=at, text=line.text))
        case CompactionLine():
            before = line.tokens_before
            talk.telling.emit(
                Compaction(
                    key=key, session=talk.session, at=at, text=line.text, tokens_before=before
                )
            )
        case NoticeLine():
            talk.telling.notice(
                talk.session, known, line.name, text=line.text, at=at, data=line.data
            )


def _nth(talk: Conversation, line: Line, record: Record) -> str:
    """What a line without an id is known by: its words, and how often they came before."""
    mark = digest(msgspec.json.encode(record.value, order="sorted"))
    talk.seen[f"line {mark}"] += 1
    return f"{type(line).__name__} {mark} {talk.seen[f'line {mark}']}"


def _tell_result(talk: Conversation, line: ResultLine, at: int | None) -> None:
    failed = {"ok": False, "failed": True}.get(line.status or "")
    is_unknown = line.status == "unknown"
    code = None if failed is not None or is_unknown else line.exit_code
    part = Part(chat.Kind.RESULT, line.text, line.call, failed=failed, exit_code=code)
    talk.result(part, at=at)
    key = talk.telling.key("result", talk.session, line.call)
    told = talk.telling.events.get(key)
    if isinstance(told, ToolResult) and (line.child or line.exit_code is not None):
        basis = Basis.NONE if told.status is Status.UNKNOWN and is_unknown else told.basis
        talk.telling.events[key] = msgspec.structs.replace(
            told, child=line.child, exit_code=line.exit_code, basis=basis
        )


def _tell_edit(talk: Conversation, line: EditLine, at: int | None, key: int) -> None:
    change = _change(line)
    hunks: list[Hunk] = change.hunks if change else []
    talk.telling.emit(
        FileEdit(
            key=key,
            session=talk.session,
            at=at,
            call=line.call or "",
            path=edits.from_root(line.path, talk.telling.session(talk.session).cwd),
            operation=line.operation,
            hunks=hunks,
            added=change.added if change else None,
            removed=change.removed if change else None,
            applied=line.applied,
            moved_to=line.moved_to,
        )
    )


def _change(line: EditLine) -> edits.Change | None:
    if line.diff is not None:
        return patches.from_unified(line.diff)
    if line.old is None and line.new is None:
        return None
    return edits.replacement(line.old or "", line.new or "")


SOURCE = LogFormat(
    name="hansei",
    title="hansei's own format",
    looks_like='lines of JSON with a `type`, and `"hansei": 1` in the first',
    recognises=recognises,
    tell=tell,
    capabilities=Capabilities(reasoning_tokens=True, exit_codes=True, branch=True, commit=True),
)
