"""Cursor: all chats in the editor's own database, each message and each step of an answer a row.

Nothing tells what a request took, nor that one was made. A row has the time at which its step
began and none at which it ended. New versions keep a file before and after an edit; others note
what was replaced. Some chats also have a transcript, which tells the same without times.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from hansei.synth.contract import Traits, Written
from hansei.synth.dice import dice, fingerprint, uuid4
from hansei.synth.notation import iso, save
from hansei.synth.output import ROOT
from hansei.synth.story import (
    Change,
    Consult,
    Create,
    Delegate,
    Fetch,
    ListFiles,
    Plan,
    Prompt,
    Read,
    Request,
    Run,
    Search,
)

if TYPE_CHECKING:
    from pathlib import Path

    from hansei.synth.story import Action, Call, Episode, Session, Told

Row = dict[str, Any]

_SCHEMA = """
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
PRAGMA user_version = 1
"""
_ASKED, _ANSWERED = 1, 2
"""Types of messages."""
_PUT = "INSERT INTO cursorDiskKV VALUES (?, ?)"


@dataclass(frozen=True)
class Cursor:
    name: str = "cursor"
    traits: Traits = field(
        default=Traits(
            model="claude-4.5-sonnet",
            small_model="composer-1",
            base_tokens=8_800,
            tells_cache_writes=False,
            tells_reasoning=False,
            records_commands=False,
            records_queue=False,
            subagents_inherit=False,
            records_driver=False,
            records_interruptions=False,
            records_compactions=False,
            replays_forks=False,
            tells_requests=False,
        )
    )

    def session_id(self, session: Session) -> str:
        return uuid4(dice(session.key, "cursor chat"))

    def call_id(self, call_key: str) -> str:
        return f"toolu_{fingerprint('cursor', call_key, size=12)}"

    def version(self, session: Session) -> str:  # noqa: ARG002
        """Nothing in the database tells it."""
        return ""

    def tool(self, action: Action) -> str:
        return _tool(action)[0]

    def result_text(self, call: Call, session: Session) -> str:  # noqa: ARG002
        return _result_text(call)

    def arguments_text(self, call: Call, session: Session) -> str:  # noqa: ARG002
        _, name, arguments = _tool(call.action)
        return f"{name} {_json(arguments)}"

    def write(self, home: Path, root: Path, episode: Episode) -> Written:
        """Add the chat and its subagents to the database."""
        path = home / ".config" / "Cursor" / "User" / "globalStorage" / "state.vscdb"
        path.parent.mkdir(parents=True, exist_ok=True)
        new, written = not path.exists(), Written()
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("BEGIN")
            for statement in _SCHEMA.split(";") if new else ():
                connection.execute(statement)
            for told in (episode.main, *episode.children):
                rows = _rows(self, episode, told, root)
                connection.executemany(_PUT, [(key, _value(it, root)) for key, it in rows.items()])
                written.files[told.session.key] = [path.relative_to(home).as_posix()]
                written.naive[told.session.key] = 0
            connection.execute("COMMIT")
        if episode.copied:
            copy = _transcript(self, home, root, episode.main)
            written.copies.append(copy.relative_to(home).as_posix())
        return written


def _value(row: Row | str, root: Path) -> str:
    text = row if isinstance(row, str) else _json(row)
    return text.replace(ROOT, str(root))


def _rows(writer: Cursor, episode: Episode, told: Told, root: Path) -> dict[str, Row | str]:
    """What stands in the table about one chat, by key."""
    session, chat = told.session, writer.session_id(told.session)
    kept: dict[str, Row | str] = {}
    bubbles = _bubbles(writer, episode, session, kept)
    numbered = {f"{uuid4(dice(chat, number))}": it for number, it in enumerate(bubbles)}
    headers = [{"bubbleId": name, "type": it["type"]} for name, it in numbered.items()]
    whole: Row = {
        "_v": 17,
        "composerId": chat,
        "name": session.title,
        "createdAt": session.started,
        "lastUpdatedAt": session.steps[-1].at,
        "unifiedMode": "agent",
        "status": "completed",
        "createdOnBranch": session.branch,
        "modelConfig": {"modelName": writer.traits.model_of(session)},
        "workspaceIdentifier": {"id": "w", "uri": {"external": root.as_uri(), "scheme": "file"}},
        "fullConversationHeadersOnly": headers,
    }
    if session.relation == "subagent":
        info = {"parentComposerId": writer.session_id(episode.main.session)}
        info |= {"subagentTypeName": "explore", "toolCallId": writer.call_id(_started_by(session))}
        whole["subagentInfo"] = info
    rows: dict[str, Row | str] = {f"composerData:{chat}": whole}
    for name, bubble in numbered.items():
        rows[f"bubbleId:{chat}:{name}"] = {"_v": 3, "bubbleId": name, **bubble}
    return rows | kept


def _started_by(session: Session) -> str:
    assert session.spawned_by is not None
    return session.spawned_by


def _bubbles(
    writer: Cursor, episode: Episode, session: Session, kept: dict[str, Row | str]
) -> list[Row]:
    """Messages and steps of answers; states of files are added to those that are kept."""
    found: list[Row] = []
    for step in session.steps:
        if isinstance(step, Prompt):
            found.append(_bubble(_ASKED, step.at, step.text))
        elif isinstance(step, Request):
            if step.thought:
                thinking = {"text": step.thought, "signature": "c2ln"}
                found.append(_bubble(_ANSWERED, step.at) | {"thinking": thinking})
            if step.reply:
                found.append(_bubble(_ANSWERED, step.at, step.reply))
            for call in step.calls:
                data = _call(writer, episode, session, call, kept)
                found.append(_bubble(_ANSWERED, call.at) | {"toolFormerData": data})
    return found


def _bubble(kind: int, at: int, text: str = "") -> Row:
    counts = {"inputTokens": 0, "outputTokens": 0}
    return {"type": kind, "createdAt": iso(at), "text": text, "tokenCount": counts}


# --- calls ----------------------------------------------------------------------------------------


def _call(
    writer: Cursor, episode: Episode, session: Session, call: Call, kept: dict[str, Row | str]
) -> Row:
    _, name, arguments = _tool(call.action)
    data: Row = {
        "name": name,
        "toolCallId": writer.call_id(call.key),
        "rawArgs": _json(arguments),
        "status": "loading",
    }
    outcome = call.outcome
    if outcome is None:
        return data
    if outcome.state == "declined":
        told = {"output": "", "rejected": True}
        beside = {"additionalData": {"status": "rejected"}}
        return data | {"status": "completed", "result": _json(told)} | beside
    if outcome.state == "interrupted":
        return data | {"status": "cancelled", "result": _json({"output": _result_text(call)})}
    if outcome.state == "failed" and not isinstance(call.action, Run):
        fault = {"clientVisibleErrorMessage": _result_text(call)}
        return data | {"status": "error", "error": _json(fault)}
    result = _result(writer, episode, call)
    if isinstance(call.action, Change) and session.era == "new":
        result |= _states(call.action, kept)
    return data | {"status": "completed", "result": _json(result)}


def _result(writer: Cursor, episode: Episode, call: Call) -> Row:
    assert call.outcome is not None
    text = _result_text(call)
    match call.action:
        case Run():
            return {"output": text, "exitCodeV2": call.outcome.exit_code or 0}
        case Read():
            return {"contents": text}
        case Delegate(child=child):
            chat = writer.session_id(episode.child(child).session)
            return {"output": text, "subagentComposerId": chat}
        case _:
            return {"output": text}


def _states(change: Change, kept: dict[str, Row | str]) -> Row:
    """The file before and after, each kept once by its content."""
    after = change.before.replace(change.old, change.new, 1)
    names = [f"composer.content.{fingerprint(it)}" for it in (change.before, after)]
    kept.update(zip(names, (change.before, after), strict=True))
    return {"beforeContentId": names[0], "afterContentId": names[1]}


def _tool(action: Action) -> tuple[str, str, Row]:
    """Kind of tool, its name, and its arguments."""
    match action:
        case Run(command):
            return "shell", "run_terminal_command_v2", {"command": command}
        case Read(path, start, lines):
            span = {} if lines is None else {"offset": start, "limit": lines}
            return "read", "read_file_v2", {"path": f"{ROOT}/{path}", **span}
        case Change(path, old, new):
            texts = {"old_string": old, "new_string": new}
            return "edit", "search_replace", {"file_path": f"{ROOT}/{path}", **texts}
        case Create(path, content):
            return "write", "write", {"file_path": f"{ROOT}/{path}", "contents": content}
        case Search(pattern, path):
            return "search", "ripgrep_raw_search", {"pattern": pattern, "path": f"{ROOT}/{path}"}
        case ListFiles(glob):
            return "search", "glob_file_search", {"glob_pattern": glob}
        case Plan(items):
            todos = [{"content": task, "status": state} for task, state in items]
            return "plan", "todo_write", {"merge": False, "todos": todos}
        case Fetch(url):
            return "web", "web_fetch", {"url": url}
        case Consult(server, tool, arguments):
            return "mcp", f"mcp-{server}-{tool}", dict(arguments)
        case Delegate(_, title, prompt):
            errand = {"description": title, "prompt": prompt, "subagent_type": "explore"}
            return "subagent", "task_v2", errand


def _result_text(call: Call) -> str:
    outcome = call.outcome
    assert outcome is not None
    if outcome.state == "declined":
        return "The user chose to skip this command."
    match call.action:
        case Change() if outcome.state == "failed":
            return "The string to replace was not found in the file."
        case Change(path) | Create(path):
            return f"The file {ROOT}/{path} has been updated."
        case _:
            return outcome.text


# --- transcripts ----------------------------------------------------------------------------------


def _transcript(writer: Cursor, home: Path, root: Path, told: Told) -> Path:
    """A chat once more, as lines without times, ids of calls, or results."""
    chat = writer.session_id(told.session)
    project = "".join(letter if letter.isalnum() else "-" for letter in str(root)).strip("-")
    folder = home / ".cursor" / "projects" / project / "agent-transcripts" / chat
    lines = []
    for step in told.session.steps:
        if isinstance(step, Prompt):
            asked = f"<user_query>\n{step.text}\n</user_query>"
            lines.append(_line("user", [{"type": "text", "text": asked}]))
        elif isinstance(step, Request):
            parts: list[Row] = [{"type": "text", "text": step.reply}] if step.reply else []
            for call in step.calls:
                _, name, arguments = _tool(call.action)
                parts.append({"type": "tool_use", "name": name, "input": arguments})
            lines.append(_line("assistant", parts))
    path = folder / f"{chat}.jsonl"
    save(path, lines, {ROOT: root})
    return path


def _line(role: str, content: list[Row]) -> Row:
    return {"role": role, "message": {"content": content}}


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


WRITER = Cursor()
