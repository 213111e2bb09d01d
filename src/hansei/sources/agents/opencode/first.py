"""The database of the first program of this name, in a project's own `.opencode`.

It was another program, and nobody develops it further: a row for each message, its parts as a list
in it. So the whole is read whenever it changed, and events are known by the ids of their messages.
Its sessions tell sums of tokens that some versions add up and others overwrite: no request has any.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from hansei.events.keys import digest
from hansei.events.model import Driver, Origin, Relation, Tool, ToolCall
from hansei.sources.agents.opencode import AGENT
from hansei.sources.contract import Cursor, Problem, Reading
from hansei.sources.families import sqlite
from hansei.sources.families.chat import Kind, Part, text_of
from hansei.sources.families.clock import instant
from hansei.sources.families.fields import mapping, mappings, word
from hansei.sources.families.records import rescue
from hansei.sources.families.streams import Counts
from hansei.sources.families.telling import Conversation, Telling

if TYPE_CHECKING:
    from pathlib import Path

WANTED = {
    "sessions": ("id", "parent_session_id", "title"),
    "messages": ("id", "session_id", "role", "parts", "model", "created_at", "updated_at"),
}
"""Tables and columns that this program had. A third table holds versions of files."""
_STATE = "SELECT count(*), max(rowid), max(updated_at), sum(length(parts)) FROM messages"
_MESSAGES = "SELECT rowid, id, session_id, role, parts, model, created_at FROM messages"
_SESSIONS = "SELECT rowid, id, parent_session_id, title FROM sessions"
_EXIT = re.compile(r"^Exit code (\d{1,3})$", re.MULTILINE)
_FOLDER = ".opencode"
_ENDS = "finish"


class _Row(NamedTuple):
    """A message as it is stored."""

    place: int
    id: str
    session: str
    role: str
    parts: list[dict[str, Any]]
    model: str | None
    at: int | None
    size: int


class _Owner(NamedTuple):
    """What a session's own row says."""

    parent: str | None = None
    title: str | None = None


def is_there(connection: sqlite.Connection) -> bool:
    """Whether a database is one of this program."""
    return bool(sqlite.tables(connection)) and not sqlite.unknown_schema(connection, WANTED)


def read(connection: sqlite.Connection, path: Path, since: Cursor) -> Reading:
    """Everything in the database, if it is not as it was."""
    check = digest(str(connection.execute(_STATE).fetchone()).encode())
    if since.check == check:
        return Reading(since)
    damage: set[str] = set()
    telling = Telling(AGENT)
    rows = [_row(telling, it) for it in sqlite.rows(connection, _MESSAGES, (), damage)]
    owners = _owners(connection, damage)
    last = {row.session: row.place for row in rows}
    for row in rows:
        if last[row.session] != row.place or _is_over(row):
            talk = _talk(telling, row, owners.get(row.session, _Owner()), path)
            _tell(talk, row)
    problems = [*telling.problems, *(Problem(0, 0, reason) for reason in sorted(damage))]
    return Reading(
        cursor=Cursor(path.stat().st_size, 0, "" if damage else check),
        events=list(telling.events.values()),
        sessions=telling.sessions,
        problems=problems,
        records=len(rows),
        taken=sum(row.size for row in rows),
    )


def _row(telling: Telling, stored: sqlite.Row) -> _Row:
    place, name, session, role, parts, model, made = stored
    content = parts if isinstance(parts, bytes) else sqlite.text(parts).encode()
    value, reason = rescue(b'{"parts":%b}' % (content or b"[]"))
    found = (value or {}).get("parts")
    if reason is not None or not isinstance(found, list):
        telling.problem(place, reason or "not a list", place)
    return _Row(
        place,
        sqlite.text(name),
        sqlite.text(session),
        sqlite.text(role),
        mappings(found),
        sqlite.text(model) or None,
        instant(sqlite.number(made)),
        len(content),
    )


def _owners(connection: sqlite.Connection, damage: set[str]) -> dict[str, _Owner]:
    """What the sessions' own rows say."""
    found = sqlite.rows(connection, _SESSIONS, (), damage)
    return {
        sqlite.text(name): _Owner(sqlite.text(parent) or None, sqlite.text(title) or None)
        for _, name, parent, title in found
    }


def _is_over(row: _Row) -> bool:
    """Whether nothing more comes: an answer is rewritten with every word until it ends."""
    return row.role != "assistant" or any(part.get("type") == _ENDS for part in row.parts)


def _talk(telling: Telling, row: _Row, owner: _Owner, path: Path) -> Conversation:
    facts = telling.session(row.session)
    facts.title = owner.title
    if path.parent.name == _FOLDER:
        facts.cwd = str(path.parent.parent)
    if owner.parent:
        facts.driver, facts.driver_recorded = Driver.SUBAGENT, True
        facts.parent, facts.relation = owner.parent, Relation.SUBAGENT
        facts.spawned_by = row.session  # a call begins a session of its own id
    origin = Origin.PARENT_AGENT if owner.parent else Origin.HUMAN
    return Conversation(telling, row.session, origin, folder=facts.cwd, scope=row.id)


def _tell(talk: Conversation, row: _Row) -> None:
    if row.role == "assistant":
        talk.telling.usage(row.session, row.id, Counts(), at=row.at, model=row.model)
    for part in row.parts:
        _tell_part(talk, row, str(part.get("type")), mapping(part.get("data")))


def _tell_part(talk: Conversation, row: _Row, kind: str, data: dict[str, Any]) -> None:
    text = text_of(data.get("text"))
    if kind == "text" and row.role == "assistant":
        talk.reply(text, at=row.at, model=row.model)
    elif kind == "text":
        talk.prompt(text, talk.origin, at=row.at)
    elif kind == "reasoning":
        talk.thought(text_of(data.get("thinking")), at=row.at, model=row.model)
    elif kind == "tool_call":
        given = rescue(text_of(data.get("input")).encode("utf-8", "surrogatepass")).value
        call, name = word(data.get("id")), word(data.get("name"))
        asked = Part(Kind.CALL, id=call, name=name, arguments=given)
        talk.call(asked, at=row.at, model=row.model)
    elif kind == "tool_result":
        talk.result(_result(talk, data), at=row.at)
    elif kind not in (_ENDS, "image_url", "binary"):
        talk.telling.unrecognised(row.session, f"part/{kind}", data, row.at)


def _result(talk: Conversation, data: dict[str, Any]) -> Part:
    """What came of a call; only shells have exit codes, and write them down if they are not 0."""
    text, call = text_of(data.get("content")), word(data.get("tool_call_id"))
    failed = data.get("is_error") is True
    ran = not failed and call is not None and _is_shell(talk, call)
    code = int(next(iter(reversed(_EXIT.findall(text))), 0)) if ran else None
    return Part(Kind.RESULT, text, call, failed=failed, exit_code=code)


def _is_shell(talk: Conversation, call: str) -> bool:
    known = talk.telling.events.get(talk.telling.key("call", talk.session, call))
    return isinstance(known, ToolCall) and known.tool is Tool.SHELL
