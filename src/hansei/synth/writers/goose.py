"""Goose: all sessions in one database under `~/.local/share/goose/sessions`.

Times are whole seconds. Each request has a row in a ledger, whose input includes what was cached.
A fork is a copy: the same messages again, in a session that does not say where they came from. A
compaction adds a summary nobody is shown and repeats the last prompt.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from hansei.synth.contract import Traits, Written
from hansei.synth.dice import fingerprint
from hansei.synth.notation import moment
from hansei.synth.output import ROOT
from hansei.synth.story import (
    Change,
    Compaction,
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

    from hansei.synth.story import Action, Call, Episode, Session, Step, Told, Usage

Block = dict[str, Any]

_SCHEMA = """
CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied_at TIMESTAMP);
CREATE TABLE sessions (
  id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '', description TEXT NOT NULL DEFAULT '',
  user_set_name BOOLEAN DEFAULT FALSE, session_type TEXT NOT NULL DEFAULT 'user',
  working_dir TEXT NOT NULL, created_at TIMESTAMP, updated_at TIMESTAMP,
  accumulated_total_tokens INTEGER, accumulated_input_tokens INTEGER,
  accumulated_output_tokens INTEGER, schedule_id TEXT, provider_name TEXT,
  model_config_json TEXT, parent_session_id TEXT
);
CREATE TABLE messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT NOT NULL,
  role TEXT NOT NULL, content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL,
  metadata_json TEXT
);
CREATE TABLE usage_ledger (
  id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL,
  created_timestamp INTEGER NOT NULL, model TEXT, input_tokens INTEGER, output_tokens INTEGER,
  total_tokens INTEGER, cache_read_tokens INTEGER, cache_write_tokens INTEGER
);
CREATE INDEX idx_messages_session ON messages(session_id);
"""
_SHOWN = {"userVisible": True, "agentVisible": True}
_HIDDEN = {"userVisible": False, "agentVisible": True}
_COMPACTED = "Your context was compacted. The previous message contains a summary."
_BY_HAND = "Your context was compacted at the user's request."
_DECLINED = "The user has declined to run this tool. DO NOT attempt to call this tool again."
_STOPPED = "Interrupted by the user to make a correction"


@dataclass(frozen=True)
class Goose:
    name: str = "goose"
    traits: Traits = field(
        default=Traits(
            model="claude-sonnet-4-5",
            small_model="claude-haiku-4-5",
            base_tokens=6_100,
            tells_cache_writes=True,
            tells_reasoning=False,
            records_commands=False,
            records_queue=False,
            subagents_inherit=False,
            long_cache=False,
            records_interruptions=False,
            schedules=True,
        )
    )

    def session_id(self, session: Session) -> str:
        """The day and a number; more digits than a session kept as a file has for its time."""
        number = 10_000_000 + int(session.key[:7], 16)
        return f"{moment(session.started).strftime('%Y%m%d')}_{number}"

    def call_id(self, call_key: str) -> str:
        return f"toolu_{fingerprint('goose', call_key, size=12)}"

    def version(self, session: Session) -> str:  # noqa: ARG002
        """Nothing in the database tells it."""
        return ""

    def tool(self, action: Action) -> str:
        match action:
            case Change():
                return "edit"
            case Create():
                return "write"
            case Plan():
                return "plan"
            case Consult():
                return "mcp"
            case Delegate():
                return "subagent"
            case _:
                return "shell"

    def result_text(self, call: Call, session: Session) -> str:  # noqa: ARG002
        return _result_text(call)

    def arguments_text(self, call: Call, session: Session) -> str:  # noqa: ARG002
        name, arguments = _tool(call)
        return f"{name} {_json(arguments)}"

    def write(self, home: Path, root: Path, episode: Episode) -> Written:
        """Add the session and its subagents to the database."""
        path = home / ".local" / "share" / "goose" / "sessions" / "sessions.db"
        path.parent.mkdir(parents=True, exist_ok=True)
        new = not path.exists()
        written = Written()
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("BEGIN")
            if new:
                _make(connection)
            for told in (episode.main, *episode.children):
                rows = _Rows(self, connection, told, str(root))
                rows.session(episode)
                original = episode.forked_from if told is episode.main else None
                if original is not None:
                    rows.tell(original.main.session.steps[: episode.forked_at], ())
                rows.tell(told.session.steps, told.usages)
                key = told.session.key
                written.files[key] = [path.relative_to(home).as_posix()]
                written.naive[key] = sum(it.context + it.output for it in told.usages)
            connection.execute("COMMIT")
        return written


def _make(connection: sqlite3.Connection) -> None:
    for statement in _SCHEMA.split(";"):
        connection.execute(statement)
    connection.execute("INSERT INTO schema_version VALUES (14, '2025-01-01 00:00:00')")


class _Rows:
    """The rows of one session."""

    def __init__(
        self, writer: Goose, connection: sqlite3.Connection, told: Told, root: str
    ) -> None:
        self.writer, self.connection, self.told, self.root = writer, connection, told, root
        self.id = writer.session_id(told.session)
        self.model = writer.traits.model_of(told.session)
        self.asked = ""

    def session(self, episode: Episode) -> None:
        session = self.told.session
        kinds = {"automated": "scheduled", "subagent": "sub_agent"}
        totals = [sum(it.context for it in self.told.usages)]
        totals.append(sum(it.output for it in self.told.usages))
        parent = self.writer.session_id(episode.main.session)
        self._insert(
            "sessions",
            id=self.id,
            name=session.title,
            session_type=kinds.get(session.driver, "user"),
            working_dir=self.root,
            created_at=_sql(session.started),
            updated_at=_sql(session.steps[-1].at),
            accumulated_total_tokens=sum(totals),
            accumulated_input_tokens=totals[0],
            accumulated_output_tokens=totals[1],
            schedule_id=session.title if session.driver == "automated" else None,
            provider_name="anthropic",
            model_config_json=_json({"model_name": self.model}),
            parent_session_id=parent if session.relation == "subagent" else None,
        )

    def tell(self, steps: tuple[Step, ...], usages: tuple[Usage, ...]) -> None:
        """Write steps; those of another session have no bill here."""
        bills = iter(usages)
        for step in steps:
            if isinstance(step, Prompt):
                self.asked = step.text
                self._message(step.at, "user", [_text(step.text)])
            elif isinstance(step, Compaction):
                self._compaction(step)
            elif isinstance(step, Request):
                self._request(step, next(bills, None))

    def _compaction(self, step: Compaction) -> None:
        by_hand = step.trigger == "manual"
        self._message(step.at, "user", [_text(step.summary)], _HIDDEN)
        told = _text(_BY_HAND if by_hand else _COMPACTED)
        self._message(step.at, "assistant", [told], _HIDDEN)
        if not by_hand:
            self._message(step.at, "user", [_text(self.asked)])

    def _request(self, request: Request, usage: Usage | None) -> None:
        content: list[Block] = []
        if request.thought:
            content.append({"type": "thinking", "thinking": request.thought, "signature": "c2ln"})
        if request.reply:
            content.append(_text(request.reply))
        for call in request.calls:
            name, arguments = _tool(call)
            value = {"status": "success", "value": {"name": name, "arguments": arguments}}
            asked = {"id": self.writer.call_id(call.key), "toolCall": value}
            content.append({"type": "toolRequest", **asked})
        last = max([request.at, *(call.at for call in request.calls)])
        self._message(last, "assistant", content)
        if usage is not None:
            self._bill(last, usage)
        for call in request.calls:
            if call.outcome is not None:
                content = [_response(call, self.writer.call_id(call.key))]
                self._message(call.outcome.at, "user", content)

    def _bill(self, at: int, usage: Usage) -> None:
        self._insert(
            "usage_ledger",
            session_id=self.id,
            created_timestamp=at // 1000,
            model=self.model,
            input_tokens=usage.context,
            output_tokens=usage.output,
            total_tokens=usage.context + usage.output,
            cache_read_tokens=usage.cache_read,
            cache_write_tokens=usage.cache_write_5m,
        )

    def _message(
        self, at: int, role: str, content: list[Block], shown: dict[str, bool] = _SHOWN
    ) -> None:
        self._insert(
            "messages",
            message_id=f"msg_{fingerprint(self.id, at, role, size=8)}",
            session_id=self.id,
            role=role,
            content_json=_json(content).replace(ROOT, self.root),
            created_timestamp=at // 1000,
            metadata_json=_json(shown),
        )

    def _insert(self, table: str, **values: Any) -> None:
        names, marks = ", ".join(values), ", ".join("?" * len(values))
        statement = f"INSERT INTO {table} ({names}) VALUES ({marks})"
        self.connection.execute(statement, tuple(values.values()))


# --- calls ----------------------------------------------------------------------------------------


def _tool(call: Call) -> tuple[str, dict[str, Any]]:
    """The tool that does what a call does, and its arguments."""
    match call.action:
        case Change(path, old, new):
            return "edit", {"path": path, "before": old, "after": new}
        case Create(path, content):
            return "write", {"path": path, "content": content}
        case Plan(items):
            done = {"completed": "x"}
            plan = "\n".join(f"- [{done.get(state, ' ')}] {task}" for task, state in items)
            return "todo__todo_write", {"content": plan}
        case Consult(server, tool, arguments):
            return f"{server}__{tool}", dict(arguments)
        case Delegate(_, _, prompt):
            return "delegate", {"instructions": prompt}
        case _:
            return "shell", {"command": _command(call.action)}


def _command(action: Action) -> str:
    """What this agent types where others have a tool."""
    match action:
        case Run(command):
            return command
        case Read(path, start, lines) if lines is not None:
            return f"sed -n '{start},{start + lines - 1}p' {path}"
        case Read(path):
            return f"cat {path}"
        case Search(pattern, path):
            return f'rg -n "{pattern}" {path}'
        case ListFiles(glob):
            return f"rg --files -g '{glob}'"
        case Fetch(url):
            return f"curl -sL {url}"
        case _:
            raise AssertionError(action)


def _result_text(call: Call) -> str:
    outcome, action = call.outcome, call.action
    assert outcome is not None
    if outcome.state == "declined":
        return _DECLINED
    if outcome.state == "interrupted":
        return _STOPPED
    match action:
        case Change(path) if outcome.state == "failed":
            return f"No match found in {path}."
        case Change(path):
            return f"Edited {path}"
        case Create(path, content):
            return f"Created {path} ({content.count(chr(10))} lines)"
    code = _code(call)
    return f"{outcome.text}\n\nCommand exited with code {code}" if code else outcome.text


def _code(call: Call) -> int | None:
    outcome = call.outcome
    if outcome is None or _tool(call)[0] != "shell" or outcome.state not in ("ok", "failed"):
        return None
    nothing = isinstance(call.action, Search) and not outcome.text
    return outcome.exit_code or (1 if nothing else 0)


def _response(call: Call, call_id: str) -> Block:
    outcome, code, text = call.outcome, _code(call), _result_text(call)
    assert outcome is not None
    if outcome.state == "interrupted":
        return {
            "type": "toolResponse",
            "id": call_id,
            "toolResult": {"status": "error", "error": text},
        }
    value: Block = {"content": [_text(text)], "isError": outcome.state != "ok" or bool(code)}
    if code is not None:
        value["structuredContent"] = {"stdout": "", "exit_code": code, "timed_out": False}
    return {
        "type": "toolResponse",
        "id": call_id,
        "toolResult": {"status": "success", "value": value},
    }


def _text(words: str) -> Block:
    return {"type": "text", "text": words}


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _sql(at: int) -> str:
    return moment(at).strftime("%Y-%m-%d %H:%M:%S")


WRITER = Goose()
