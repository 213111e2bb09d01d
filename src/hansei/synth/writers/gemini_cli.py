"""Gemini CLI: a log per session under `~/.gemini/tmp/<project>/chats`, a subagent's one deeper.

A message is written again whenever more of it is known, a compaction tells the whole conversation
again, and now and then a prompt is taken back. Old sessions are one object each.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from hansei.synth.contract import Traits, Written
from hansei.synth.dice import dice, fingerprint, text, uuid4
from hansei.synth.notation import hunk, iso, moment, save
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
    from pathlib import Path

    from hansei.synth.story import Action, Call, Episode, Session, Told, Usage

Line = dict[str, Any]

REWOUND_SHARE = 0.2
"""Part of the sessions at whose end the last prompt is taken back."""
STATUS = {"ok": "success", "failed": "error", "declined": "cancelled", "interrupted": "cancelled"}


@dataclass(frozen=True)
class GeminiCli:
    name: str = "gemini_cli"
    traits: Traits = field(
        default=Traits(
            model="gemini-3-pro-preview",
            small_model="gemini-3-flash-preview",
            base_tokens=8_200,
            tells_cache_writes=False,
            tells_reasoning=True,
            records_commands=False,
            records_queue=False,
            subagents_inherit=False,
            records_driver=False,
            replays_forks=False,
        )
    )

    def session_id(self, session: Session) -> str:
        return _session_id(session.key)

    def call_id(self, call_key: str) -> str:
        return f"tool-{text(dice(call_key), 20)}"

    def version(self, session: Session) -> str:  # noqa: ARG002 - never told
        return ""

    def tool(self, action: Action) -> str:
        return _tool(action)[0]

    def result_text(self, call: Call, session: Session) -> str:
        return _result_text(call, session)

    def arguments_text(self, call: Call, session: Session) -> str:  # noqa: ARG002
        _, name, arguments = _tool(call.action)
        return f"{name} {msgspec.json.encode(arguments).decode()}"

    def write(self, home: Path, root: Path, episode: Episode) -> Written:
        """Write one file for the session and one for each of its subagents."""
        written = Written()
        project = home / ".gemini" / "tmp" / f"berthline-{fingerprint(root.name, size=3)}"
        project.mkdir(parents=True, exist_ok=True)
        (project / ".project_root").write_text(str(root), encoding="utf-8")
        main = episode.main.session
        for told in (episode.main, *episode.children):
            session = told.session
            log = _Log(self, session)
            _tell(log, told)
            path = project / "chats" / _file_name(session, main)
            if session.era == "old" and told is episode.main:
                naive = _save_whole(path.with_suffix(".json"), log, root)
                path = path.with_suffix(".json")
            else:
                naive = _save(path, log.lines, root)
            written.files[session.key] = [path.relative_to(home).as_posix()]
            if episode.copied and told is episode.main:
                copy = path.with_name(f"session-{path.name}")
                copy.write_bytes(path.read_bytes())
                written.copies.append(copy.relative_to(home).as_posix())
                naive *= 2
            written.naive[session.key] = naive
        return written


WRITER = GeminiCli()


class _Log:
    """Lines of one session."""

    def __init__(self, writer: GeminiCli, session: Session) -> None:
        self.writer = writer
        self.session = session
        self.rng = dice(session.key, "gemini lines")
        self.messages: dict[str, Line] = {}
        kind = "subagent" if session.relation == "subagent" else "main"
        self.head: Line = {
            "sessionId": _session_id(session.key),
            "projectHash": fingerprint(session.key, "project"),
            "startTime": iso(session.started),
            "lastUpdated": iso(session.started),
            "kind": kind,
        }
        self.lines: list[Line] = [self.head]

    def message(self, at: int, kind: str, content: Any, **more: Any) -> Line:
        """A new message, told for the first time."""
        line = {"id": uuid4(self.rng), "timestamp": iso(at), "type": kind, "content": content}
        return self.again(line | more)

    def again(self, line: Line) -> Line:
        self.messages[line["id"]] = line
        self.lines.append(line)
        self.lines.append({"$set": {"lastUpdated": line["timestamp"]}})
        return line


def _tell(log: _Log, told: Told) -> None:
    usages = iter(told.usages)
    prompted = ""
    for step in told.session.steps:
        if isinstance(step, Prompt):
            prompted = log.message(step.at, "user", [{"text": step.text}])["id"]
        elif isinstance(step, Compaction):
            _compact(log, step)
        elif isinstance(step, Interruption):
            log.message(step.at, "info", "Request cancelled.")
        elif isinstance(step, Request):
            _request(log, step, next(usages))
    log.lines.append({"$set": {"summary": log.session.title}})
    if prompted and log.rng.random() < REWOUND_SHARE:
        log.lines.append({"$rewindTo": prompted})


def _compact(log: _Log, step: Compaction) -> None:
    """A summary takes the place of the conversation, and its last messages are told again."""
    kept = list(log.messages.values())[-3:]
    words = f"<state_snapshot>\n{step.summary}\n</state_snapshot>"
    snapshot: Line = {"id": uuid4(log.rng), "timestamp": iso(step.at), "type": "user"}
    snapshot["content"] = [{"text": words}]
    log.messages = {line["id"]: line for line in (snapshot, *kept)}
    log.lines.append({"$set": {"messages": list(log.messages.values())}})


def _request(log: _Log, request: Request, usage: Usage) -> None:
    thoughts = []
    if request.thought:
        thoughts = [
            {"subject": "Next", "description": request.thought, "timestamp": iso(request.at)}
        ]
    model = log.writer.traits.model_of(log.session)
    line = log.message(request.at, "gemini", request.reply, thoughts=thoughts, model=model)
    line = log.again(line | {"tokens": _tokens(usage)})
    if request.calls:
        asked = [_call(log, call, answered=False) for call in request.calls]
        line = log.again(line | {"toolCalls": asked})
        log.again(line | {"toolCalls": [_call(log, it, answered=True) for it in request.calls]})


def _tokens(usage: Usage) -> dict[str, int]:
    """Usage as this agent tells it: input with what was cached, output without thoughts."""
    thought = usage.reasoning or 0
    return {
        "input": usage.context,
        "output": usage.output - thought,
        "cached": usage.cache_read,
        "thoughts": thought,
        "tool": 0,
        "total": usage.context + usage.output,
    }


# --- calls ----------------------------------------------------------------------------------------


def _call(log: _Log, call: Call, *, answered: bool) -> Line:
    _, name, arguments = _tool(call.action)
    identity = log.writer.call_id(call.key)
    line: Line = {"id": identity, "name": name, "args": arguments, "status": "executing"}
    line["timestamp"] = iso(call.at)
    outcome = call.outcome
    if outcome is None or not answered:
        return line
    words = _result_text(call, log.session)
    shell = isinstance(call.action, Run)
    line["status"] = STATUS["ok" if shell and outcome.state == "failed" else outcome.state]
    line["timestamp"] = iso(outcome.at)
    field = "output" if line["status"] == "success" else "error"
    line["result"] = [{"functionResponse": {"id": identity, "response": {field: words}}}]
    if isinstance(call.action, Delegate):
        line["agentId"] = _session_id(call.action.child)
    elif isinstance(call.action, Change | Create) and line["status"] == "success":
        line["resultDisplay"] = _display(call.action)
    return line


def _display(action: Change | Create) -> Line:
    if isinstance(action, Create):
        body = [f"+{line}" for line in action.content.rstrip("\n").split("\n")]
        head = f"@@ -0,0 +1,{len(body)} @@"
    else:
        piece = hunk(action)
        body = piece.lines
        head = f"@@ -{piece.start},{piece.old_count} +{piece.start},{piece.new_count} @@"
    diff = "\n".join((f"--- {action.path}", f"+++ {action.path}", head, *body, ""))
    return {"fileDiff": diff, "fileName": action.path, "isNewFile": isinstance(action, Create)}


def _tool(action: Action) -> tuple[str, str, Line]:
    """Kind of tool, its name, and its arguments."""
    match action:
        case Run(command):
            return "shell", "run_shell_command", {"command": command}
        case Read(path, start, lines):
            span = {} if lines is None else {"offset": start - 1, "limit": lines}
            return "read", "read_file", {"file_path": path, **span}
        case Change(path, old, new):
            edit = {"file_path": path, "old_string": old, "new_string": new}
            return "edit", "replace", edit
        case Create(path, content):
            return "write", "write_file", {"file_path": path, "content": content}
        case Search(pattern, path):
            return "search", "search_file_content", {"pattern": pattern, "dir_path": path}
        case ListFiles(glob):
            return "search", "glob", {"pattern": glob}
        case Plan(items):
            todos = [{"description": task, "status": state} for task, state in items]
            return "plan", "write_todos", {"todos": todos}
        case Fetch(url, question):
            return "web", "web_fetch", {"prompt": f"{question} {url}"}
        case Consult(server, tool, arguments):
            return "mcp", f"mcp_{server.replace('_', '-')}_{tool}", dict(arguments)
        case Delegate(_, _, prompt):
            return "subagent", "codebase_investigator", {"objective": prompt}


def _result_text(call: Call, session: Session) -> str:
    outcome = call.outcome
    assert outcome is not None
    if outcome.state == "declined":
        return "[Operation Cancelled] Reason: User did not allow tool call"
    if outcome.state == "interrupted":
        return f"[Operation Cancelled] Reason: User cancelled the operation.\n{outcome.text}"
    match call.action:
        case Run(command):
            return _framed(command, outcome.text, outcome.exit_code or 0, session)
        case Change(path) if outcome.state == "failed":
            return f"Failed to edit, 0 occurrences found for old_string in {ROOT}/{path}."
        case Change(path) | Create(path):
            return f"Successfully modified file: {ROOT}/{path}."
        case Plan():
            return "Successfully updated the todo list."
        case _:
            return outcome.text


def _framed(command: str, output: str, code: int, session: Session) -> str:
    """A command's output as the model gets it; newer versions leave out what is not worth it."""
    if session.era == "new":
        return f"Output: {output or '(empty)'}" + (f"\nExit Code: {code}" if code else "")
    return (
        f"Command: {command}\nDirectory: (root)\nOutput: {output or '(empty)'}\nError: (none)\n"
        f"Exit Code: {code}\nSignal: (none)\nBackground PIDs: (none)\nProcess Group PGID: 4242"
    )


# --- disk -----------------------------------------------------------------------------------------


def _session_id(key: str) -> str:
    return uuid4(dice(key, "gemini session"))


def _file_name(session: Session, main: Session) -> str:
    identity = _session_id(session.key)
    if session.relation == "subagent":
        return f"{_session_id(main.key)}/{identity}.jsonl"
    return moment(session.started).strftime(f"session-%Y-%m-%dT%H-%M-{identity[:8]}.jsonl")


def _save(path: Path, lines: list[Line], root: Path) -> int:
    """Write the lines; returns the tokens that all usages in them add up to."""
    save(path, lines, {ROOT: root})
    retold = [it for line in lines for it in line.get("$set", {}).get("messages", ())]
    return sum((line.get("tokens") or {}).get("total", 0) for line in (*lines, *retold))


def _save_whole(path: Path, log: _Log, root: Path) -> int:
    """The older layout: one object, in which every message stands once."""
    messages: dict[str, Line] = {}
    for line in log.lines:
        for message in (line, *line.get("$set", {}).get("messages", ())):
            if "id" in message:
                messages[message["id"]] = message
    save(path, [{**log.head, "messages": list(messages.values())}], {ROOT: root})
    return sum((line.get("tokens") or {}).get("total", 0) for line in messages.values())
