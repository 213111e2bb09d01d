"""OpenCode: all sessions in one database under `~/.local/share/opencode`, once as files.

A message of the model is one request; its tokens stand in the step that it ends with, and again in
the message. A fork copies messages under new ids and changes nothing else in them. Old versions
keep a file for each session, message and part.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import msgspec

from hansei.synth.contract import Traits, Written
from hansei.synth.dice import dice, fingerprint, text
from hansei.synth.notation import hunk, one_of
from hansei.synth.output import ROOT
from hansei.synth.story import (
    Change,
    Compaction,
    Consult,
    Create,
    Delegate,
    Fetch,
    Interruption,
    ListFiles,
    Plan,
    Prompt,
    Read,
    Request,
    Run,
    Search,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from hansei.synth.story import Action, Call, Episode, Era, Session, Step, Told, Usage

Record = dict[str, Any]

VERSIONS: Mapping[Era, tuple[str, ...]] = {
    "old": ("1.1.48", "1.1.65"),
    "middle": ("1.2.6", "1.2.27"),
    "new": ("1.18.30", "1.18.33"),
}
_SCHEMA = """
CREATE TABLE session (
  id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text, directory text NOT NULL,
  title text NOT NULL, version text NOT NULL, permission text, agent text,
  time_created integer NOT NULL, time_updated integer NOT NULL
);
CREATE TABLE message (
  id text PRIMARY KEY, session_id text NOT NULL,
  time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL
);
CREATE TABLE part (
  id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
  time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL
);
CREATE INDEX message_session_idx ON message (session_id);
CREATE INDEX part_message_idx ON part (message_id);
"""
_TICKS, _CLOCK = 0x1000, 2**48
"""An id begins with its time in milliseconds and a counter, in so many bits."""
_DECLINED = "The user rejected permission to use this specific tool call."
_STOPPED = "Tool execution aborted"
_FAILED_EDIT = "oldString not found in content"
_NO_QUESTIONS = [{"permission": "question", "pattern": "*", "action": "deny"}]


@dataclass(frozen=True)
class OpenCode:
    name: str = "opencode"
    traits: Traits = field(
        default=Traits(
            model="claude-sonnet-4-5",
            small_model="claude-haiku-4-5",
            base_tokens=9_400,
            tells_cache_writes=True,
            tells_reasoning=True,
            records_commands=False,
            records_queue=False,
            subagents_inherit=False,
            long_cache=False,
        )
    )

    def session_id(self, session: Session) -> str:
        """Counts down with time, so that the newest session is listed first."""
        number = ~(session.started * _TICKS) % _CLOCK
        return f"ses_{number:012x}{text(dice(session.key, 'opencode'), 14)}"

    def call_id(self, call_key: str) -> str:
        return f"toolu_{fingerprint('opencode', call_key, size=12)}"

    def version(self, session: Session) -> str:
        return one_of(VERSIONS, session)

    def tool(self, action: Action) -> str:
        return _tool(action)[0]

    def result_text(self, call: Call, session: Session) -> str:  # noqa: ARG002
        return _result_text(call)

    def arguments_text(self, call: Call, session: Session) -> str:  # noqa: ARG002
        _, name, arguments = _tool(call.action)
        return f"{name} {_json(arguments)}"

    def write(self, home: Path, root: Path, episode: Episode) -> Written:
        """Add the session and its subagents, as files or to the database."""
        folder = home / ".local" / "share" / "opencode"
        written = Written()
        for told in (episode.main, *episode.children):
            tale = _tale(self, episode, told, str(root))
            save = _save_files if told.session.era == "old" else _save_rows
            path = save(folder, tale)
            written.files[told.session.key] = [path.relative_to(home).as_posix()]
            written.naive[told.session.key] = 2 * tale.billed
        return written


@dataclass
class _Tale:
    """One session as records: its own, its messages, and their parts."""

    writer: OpenCode
    session: Session
    root: str
    own: Record
    messages: list[tuple[Record, list[Record]]] = field(default_factory=list)
    copied_at: int | None = None
    """When messages of another session are being copied into it."""
    asked: str = ""
    """The message that the next answer answers."""
    billed: int = 0
    ids: int = 0

    def new_id(self, prefix: str, at: int) -> str:
        """An id of its time; a copy's is of the time it was copied."""
        self.ids += 1
        number = ((self.copied_at or at) * _TICKS + self.ids) % _CLOCK
        return f"{prefix}_{number:012x}{text(dice(self.own['id'], self.ids), 14)}"

    def say(self, at: int, message: Record, parts: list[Record]) -> str:
        """Add a message; returns its id."""
        name = self.new_id("msg", at)
        own = {"id": name, "sessionID": self.own["id"], **message}
        ids = {"messageID": name, "sessionID": self.own["id"]}
        self.messages.append((own, [{"id": self.new_id("prt", at), **ids, **it} for it in parts]))
        return name


def _tale(writer: OpenCode, episode: Episode, told: Told, root: str) -> _Tale:
    session, original = told.session, episode.forked_from
    is_fork = told is episode.main and original is not None
    own: Record = {
        "id": writer.session_id(session),
        "slug": f"quiet-{session.key[:6]}",
        "version": writer.version(session),
        "projectID": fingerprint("project", root, size=20),
        "directory": root,
        "title": f"{session.title} (fork #1)" if is_fork else session.title,
        "time": {"created": session.started, "updated": session.steps[-1].at},
    }
    if session.relation == "subagent":
        own |= {"parentID": writer.session_id(episode.main.session), "agent": "explore"}
    elif session.driver == "automated":
        own["permission"] = _NO_QUESTIONS
    tale = _Tale(writer, session, root, own)
    if is_fork and original is not None:
        tale.copied_at = session.started
        forked = original.main
        _tell(tale, forked.session.steps[: episode.forked_at], forked.usages, original)
        tale.copied_at = None
    _tell(tale, session.steps, told.usages, episode)
    return tale


def _tell(
    tale: _Tale, steps: tuple[Step, ...], usages: tuple[Usage, ...], episode: Episode
) -> None:
    bills = iter(usages)
    for step, following in zip_longest(steps, steps[1:]):
        if isinstance(step, Prompt):
            tale.asked = tale.say(step.at, _user(tale, step.at), [_text(step.text)])
        elif isinstance(step, Compaction):
            _compaction(tale, step)
        elif isinstance(step, Request):
            stop = following.at if isinstance(following, Interruption) else None
            _request(tale, step, next(bills), stop, episode)


def _user(tale: _Tale, at: int) -> Record:
    model = {"providerID": "anthropic", "modelID": tale.writer.traits.model_of(tale.session)}
    return {"role": "user", "time": {"created": at}, "agent": "build", "model": model}


def _answer(tale: _Tale, at: int, ended: int | None) -> Record:
    return {
        "role": "assistant",
        "parentID": tale.asked,
        "modelID": tale.writer.traits.model_of(tale.session),
        "providerID": "anthropic",
        "mode": "build",
        "agent": "build",
        "path": {"cwd": ROOT, "root": ROOT},
        "cost": 0,
        "tokens": _tokens(None, apart=False),
        "time": {"created": at} | ({} if ended is None else {"completed": ended}),
    }


def _compaction(tale: _Tale, step: Compaction) -> None:
    """A question nobody typed, and a summary for an answer; what that took is not told."""
    ask = {"type": "compaction", "auto": step.trigger == "auto"}
    tale.asked = tale.say(step.at, _user(tale, step.at), [ask])
    answer = _answer(tale, step.at, step.at) | {"summary": True, "mode": "compaction"}
    tale.say(step.at, answer, [_text(step.summary)])


def _request(
    tale: _Tale, request: Request, usage: Usage, stop: int | None, episode: Episode
) -> None:
    ends = [call.outcome.at if call.outcome else None for call in request.calls]
    told = [at for at in ends if at is not None]
    over = None if None in ends else max([request.at, *told])
    tokens = _tokens(usage, apart=tale.session.era == "new")
    answer = _answer(tale, request.at, over if stop is None else stop) | {"tokens": tokens}
    if stop is not None:
        answer["error"] = {"name": "MessageAbortedError", "data": {"message": "Aborted"}}
    when = {"time": {"start": request.at, "end": request.at}}
    parts: list[Record] = [{"type": "step-start"}]
    if request.thought:
        parts.append({"type": "reasoning", "text": request.thought, **when})
    if request.reply:
        parts.append(_text(request.reply) | when)
    parts += [_call(tale, call, episode) for call in request.calls]
    reason = "tool-calls" if request.calls else "stop"
    parts.append({"type": "step-finish", "reason": reason, "cost": 0, "tokens": tokens})
    tale.billed += usage.context + usage.output
    tale.say(request.at, answer, parts)


def _tokens(usage: Usage | None, *, apart: bool) -> Record:
    """The counts of a request. New versions keep reasoning beside the output, others in it."""
    if usage is None:
        return {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}
    reasoning = usage.reasoning or 0
    return {
        "total": usage.context + usage.output,
        "input": usage.input,
        "output": usage.output - reasoning if apart else usage.output,
        "reasoning": reasoning,
        "cache": {"read": usage.cache_read, "write": usage.cache_write_5m or 0},
    }


def _text(words: str) -> Record:
    return {"type": "text", "text": words}


# --- calls ----------------------------------------------------------------------------------------


def _call(tale: _Tale, call: Call, episode: Episode) -> Record:
    _, name, arguments = _tool(call.action)
    state: Record = {"status": "running", "input": arguments, "time": {"start": call.at}}
    outcome = call.outcome
    if outcome is not None:
        state["time"]["end"] = outcome.at
        if outcome.state == "ok" or (outcome.state == "failed" and isinstance(call.action, Run)):
            notes = _notes(tale, call, episode)
            words = _result_text(call)
            state |= {"status": "completed", "output": words, "title": name, "metadata": notes}
        else:
            stopped = {"metadata": {"interrupted": True}} if outcome.state == "interrupted" else {}
            state |= {"status": "error", "error": _result_text(call), **stopped}
    call_id = tale.writer.call_id(call.key)
    return {"type": "tool", "callID": call_id, "tool": name, "state": state}


def _notes(tale: _Tale, call: Call, episode: Episode) -> Record:
    """What a tool notes beside its output."""
    match call.action:
        case Run():
            assert call.outcome is not None
            return {"exit": call.outcome.exit_code or 0, "output": call.outcome.text}
        case Change():
            return {"diff": _diff(call.action)}
        case Create(path):
            return {"exists": False, "filepath": f"{ROOT}/{path}"}
        case Delegate(child=child):
            return {"sessionId": tale.writer.session_id(episode.child(child).session)}
        case _:
            return {}


def _diff(change: Change) -> str:
    piece, path = hunk(change), f"{ROOT}/{change.path}"
    head = f"@@ -{piece.start},{piece.old_count} +{piece.start},{piece.new_count} @@"
    return "\n".join((f"Index: {path}", f"--- {path}", f"+++ {path}", head, *piece.lines, ""))


def _tool(action: Action) -> tuple[str, str, Record]:
    """Kind of tool, its name, and its arguments."""
    match action:
        case Run(command):
            return "shell", "bash", {"command": command, "description": "Run it"}
        case Read(path, start, lines):
            span = {} if lines is None else {"offset": start, "limit": lines}
            return "read", "read", {"filePath": f"{ROOT}/{path}", **span}
        case Change(path, old, new):
            texts = {"oldString": old, "newString": new}
            return "edit", "edit", {"filePath": f"{ROOT}/{path}", **texts}
        case Create(path, content):
            return "write", "write", {"filePath": f"{ROOT}/{path}", "content": content}
        case Search(pattern, path):
            return "search", "grep", {"pattern": pattern, "path": f"{ROOT}/{path}"}
        case ListFiles(glob):
            return "search", "glob", {"pattern": glob}
        case Plan(items):
            todos = [{"content": it, "status": state, "priority": "medium"} for it, state in items]
            return "plan", "todowrite", {"todos": todos}
        case Fetch(url):
            return "web", "webfetch", {"url": url, "format": "markdown"}
        case Consult(server, tool, arguments):
            return "other", f"{server}_{tool}", dict(arguments)
        case Delegate(_, title, prompt):
            errand = {"description": title, "prompt": prompt, "subagent_type": "explore"}
            return "subagent", "task", errand


def _result_text(call: Call) -> str:
    outcome = call.outcome
    assert outcome is not None
    if outcome.state == "declined":
        return _DECLINED
    if outcome.state == "interrupted":
        return _STOPPED
    match call.action:
        case Change() if outcome.state == "failed":
            return _FAILED_EDIT
        case Change():
            return "Edit applied successfully."
        case Create():
            return "Wrote file successfully."
        case _:
            return outcome.text


# --- on disk --------------------------------------------------------------------------------------


def _save_rows(folder: Path, tale: _Tale) -> Path:
    path = folder / "opencode.db"
    folder.mkdir(parents=True, exist_ok=True)
    new = not path.exists()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN")
        for statement in _SCHEMA.split(";") if new else ():
            connection.execute(statement)
        _insert_all(tale, _inserting(connection))
        connection.execute("COMMIT")
    return path


def _inserting(connection: sqlite3.Connection) -> Callable[[str, Record], None]:
    def insert(table: str, values: Record) -> None:
        marks = ", ".join("?" * len(values))
        statement = f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})"
        connection.execute(statement, tuple(values.values()))

    return insert


def _insert_all(tale: _Tale, insert: Callable[[str, Record], None]) -> None:
    """Ids are columns; the rest of a message or part is a column of JSON."""
    own = tale.own
    row = {name: own[name] for name in ("id", "slug", "directory", "title", "version")}
    row |= {"project_id": own["projectID"], "parent_id": own.get("parentID")}
    row |= {"agent": own.get("agent")}
    row |= {"permission": _json(own["permission"]) if "permission" in own else None}
    insert("session", row | _stamps(own["time"]["created"], own["time"]["updated"]))
    for message, parts in tale.messages:
        made = message["time"]["created"]
        stamps = _stamps(made, message["time"].get("completed", made))
        ids = {"id": message["id"], "session_id": own["id"]}
        insert("message", ids | stamps | {"data": _data(tale, message)})
        for part in parts:
            place = {"id": part["id"], "message_id": message["id"], "session_id": own["id"]}
            insert("part", place | stamps | {"data": _data(tale, part)})


def _stamps(created: int, updated: int) -> Record:
    return {"time_created": created, "time_updated": updated}


def _data(tale: _Tale, record: Record) -> str:
    ids = ("id", "sessionID", "messageID")
    rest = {name: value for name, value in record.items() if name not in ids}
    return _json(rest).replace(ROOT, tale.root)


def _save_files(folder: Path, tale: _Tale) -> Path:
    storage, own = folder / "storage", tale.own
    path: Path = storage / "session" / own["projectID"] / f"{own['id']}.json"
    _put(tale, path, own)
    for message, parts in tale.messages:
        _put(tale, storage / "message" / own["id"] / f"{message['id']}.json", message)
        for part in parts:
            _put(tale, storage / "part" / message["id"] / f"{part['id']}.json", part)
    return path


def _put(tale: _Tale, path: Path, record: Record) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_json(record).replace(ROOT, tale.root), encoding="utf-8")
    seconds = tale.own["time"]["updated"] / 1000
    os.utime(path, (seconds, seconds))


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


WRITER = OpenCode()
