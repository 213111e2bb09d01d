"""Copilot CLI: one file of events per session, under `~/.copilot/session-state/<id>`.

An answer tells only its own output. What the requests of a run were given is told at its end, as
sums by model and by agent; subagents stand in their parent's file. Old sessions have no folder.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import msgspec

from hansei.synth.contract import Traits, Written
from hansei.synth.dice import dice, text, uuid4
from hansei.synth.notation import hunk, iso, one_of, save
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

    from hansei.synth.story import Action, Call, Episode, Era, Session, Told, Usage

Line = dict[str, Any]

VERSIONS: dict[Era, tuple[str, ...]] = {
    "old": ("0.0.370", "0.0.394"),
    "middle": ("0.0.422", "1.0.15"),
    "new": ("1.0.67", "1.0.102"),
}
DELIVERY = {"human": "idle", "queued_human": "queued"}


@dataclass(frozen=True)
class CopilotCli:
    name: str = "copilot_cli"
    traits: Traits = field(
        default=Traits(
            model="claude-sonnet-4.5",
            small_model="gpt-5-mini",
            base_tokens=9_600,
            tells_cache_writes=True,
            tells_reasoning=True,
            records_commands=False,
            records_queue=True,
            subagents_inherit=False,
            long_cache=False,
            records_driver=False,
            replays_forks=False,
        )
    )

    def session_id(self, session: Session) -> str:
        return _session_id(session)

    def call_id(self, call_key: str) -> str:
        return f"toolu_01{text(dice(call_key), 22)}"

    def version(self, session: Session) -> str:
        """Of the file, which subagents share with the session that started them."""
        shared = session.parent if session.relation == "subagent" else None
        return one_of(VERSIONS, replace(session, key=shared) if shared else session)

    def tool(self, action: Action) -> str:
        return _tool(action)[0]

    def result_text(self, call: Call, session: Session) -> str:  # noqa: ARG002
        return _result_text(call)

    def arguments_text(self, call: Call, session: Session) -> str:  # noqa: ARG002
        _, name, arguments = _tool(call.action)
        return f"{name} {msgspec.json.encode(arguments).decode()}"

    def write(self, home: Path, root: Path, episode: Episode) -> Written:
        """Write one file for the session, with its subagents in it."""
        written = Written()
        main = episode.main.session
        log = _Log(self, episode)
        _begin(log, main)
        _tell(log, episode.main, "")
        _shut_down(log, episode)
        state = home / ".copilot" / "session-state"
        identity = _session_id(main)
        name = f"{identity}.jsonl" if main.era == "old" else f"{identity}/events.jsonl"
        save(state / name, log.lines, {ROOT: root})
        for told in (episode.main, *episode.children):
            key = told.session.key
            written.files[key] = [(state / name).relative_to(home).as_posix()]
            written.naive[key] = sum(it.context + 2 * it.output for it in told.usages)
        written.inline.update(told.session.key for told in episode.children)
        return written


WRITER = CopilotCli()


class _Log:
    """Lines of one session."""

    def __init__(self, writer: CopilotCli, episode: Episode) -> None:
        self.writer = writer
        self.episode = episode
        self.rng = dice(episode.main.session.key, "copilot lines")
        self.lines: list[Line] = []

    def add(self, at: int, kind: str, data: Line, agent: str = "") -> None:
        line: Line = {"type": kind, "data": data, "id": uuid4(self.rng), "timestamp": iso(at)}
        line["parentId"] = self.lines[-1]["id"] if self.lines else None
        self.lines.append(line | {"agentId": agent} if agent else line)


def _begin(log: _Log, session: Session) -> None:
    context = {"cwd": ROOT, "gitRoot": ROOT, "branch": session.branch}
    start = {
        "sessionId": _session_id(session),
        "version": 1,
        "producer": "copilot-agent",
        "copilotVersion": log.writer.version(session),
        "startTime": iso(session.started),
        "selectedModel": log.writer.traits.model,
        "context": context | {"headCommit": session.commit},
    }
    log.add(session.started, "session.start", start)
    words = f"You are a coding agent at work in a terminal.\n{session.instructions}"
    log.add(session.started, "system.message", {"role": "system", "content": words})


def _tell(log: _Log, told: Told, agent: str) -> None:
    usages = iter(told.usages)
    for step in told.session.steps:
        if isinstance(step, Prompt):
            data: Line = {"content": step.text, "attachments": []}
            if not agent:
                data["delivery"] = DELIVERY[step.origin]
            log.add(step.at, "user.message", data, agent)
        elif isinstance(step, Compaction):
            data = {"success": True, "summaryContent": step.summary, "trigger": step.trigger}
            log.add(step.at, "session.compaction_complete", data, agent)
        elif isinstance(step, Interruption):
            log.add(step.at, "abort", {"reason": "user_initiated"}, agent)
        elif isinstance(step, Request):
            _request(log, step, next(usages), told.session, agent)


def _request(log: _Log, request: Request, usage: Usage, session: Session, agent: str) -> None:
    asked = []
    for call in request.calls:
        _, name, arguments = _tool(call.action)
        asked.append(_named(log, call, name) | {"name": name, "arguments": arguments})
    data: Line = {
        "messageId": uuid4(log.rng),
        "content": request.reply,
        "toolRequests": asked,
        "outputTokens": usage.output,
        "model": log.writer.traits.model_of(session),
    }
    if request.thought:
        data["reasoningText"] = request.thought
        log.add(request.at, "assistant.reasoning", {"content": request.thought}, agent)
    log.add(request.at, "assistant.message", data, agent)
    for call in request.calls:
        _call(log, call, agent)
    for call in sorted(request.calls, key=lambda call: call.outcome.at if call.outcome else 0):
        _result(log, call, agent)


def _shut_down(log: _Log, episode: Episode) -> None:
    """The sums of the run: of the whole session by model, and of each agent of it."""
    agents = {"main": episode.main, **{_agent(it.session): it for it in episode.children}}
    shares = {name: {"modelMetrics": _metrics(log.writer, [told])} for name, told in agents.items()}
    data = {"shutdownType": "routine", "modelMetrics": _metrics(log.writer, list(agents.values()))}
    last = max(line["timestamp"] for line in log.lines)
    log.add(0, "session.shutdown", data | {"agentMetrics": shares})
    log.lines[-1]["timestamp"] = last


def _metrics(writer: CopilotCli, all_told: list[Told]) -> Line:
    metrics: Line = {}
    for told in all_told:
        model = writer.traits.model_of(told.session)
        before = metrics.get(model, {}).get("usage", {})
        metrics[model] = {
            "usage": {
                name: before.get(name, 0) + sum(values)
                for name, values in {
                    "inputTokens": [it.context for it in told.usages],
                    "outputTokens": [it.output for it in told.usages],
                    "cacheReadTokens": [it.cache_read for it in told.usages],
                    "cacheWriteTokens": [it.cache_write_5m or 0 for it in told.usages],
                    "reasoningTokens": [it.reasoning or 0 for it in told.usages],
                }.items()
            }
        }
    return metrics


# --- calls ----------------------------------------------------------------------------------------


def _named(log: _Log, call: Call, name: str) -> Line:
    line: Line = {"toolCallId": log.writer.call_id(call.key), "toolName": name}
    if isinstance(call.action, Consult):
        line["mcpServerName"] = call.action.server
    return line


def _call(log: _Log, call: Call, agent: str) -> None:
    _, name, arguments = _tool(call.action)
    start = _named(log, call, name) | {"arguments": arguments}
    log.add(call.at, "tool.execution_start", start, agent)
    if isinstance(call.action, Delegate):
        child = log.episode.child(call.action.child)
        name = _agent(child.session)
        started = {"toolCallId": start["toolCallId"], "agentName": call.action.role}
        log.add(call.at, "subagent.started", started, name)
        _tell(log, child, name)


def _result(log: _Log, call: Call, agent: str) -> None:
    outcome = call.outcome
    if outcome is None:
        return
    shell = isinstance(call.action, Run)
    fine = outcome.state == "ok" or (outcome.state == "failed" and shell)
    data: Line = {"toolCallId": log.writer.call_id(call.key), "success": fine}
    words = _result_text(call)
    if fine:
        data["result"] = {"content": words}
        if isinstance(call.action, Change):
            data["result"]["detailedContent"] = _diff(call.action)
    else:
        codes = {"declined": "rejected", "interrupted": "aborted"}
        data["error"] = {"message": words, "code": codes.get(outcome.state, "failure")}
    log.add(outcome.at, "tool.execution_complete", data, agent)


def _diff(change: Change) -> str:
    piece = hunk(change)
    head = f"@@ -{piece.start},{piece.old_count} +{piece.start},{piece.new_count} @@"
    return "\n".join(("", f"--- a/{change.path}", f"+++ b/{change.path}", head, *piece.lines, ""))


def _tool(action: Action) -> tuple[str, str, Line]:
    """Kind of tool, its name, and its arguments."""
    match action:
        case Run(command):
            return "shell", "bash", {"command": command, "description": "Run it"}
        case Read(path, start, lines):
            span = {} if lines is None else {"view_range": [start, start + lines - 1]}
            return "read", "view", {"path": f"{ROOT}/{path}", **span}
        case Change(path, old, new):
            return "edit", "edit", {"path": f"{ROOT}/{path}", "old_str": old, "new_str": new}
        case Create(path, content):
            return "write", "create", {"path": f"{ROOT}/{path}", "file_text": content}
        case Search(pattern, path):
            return "search", "grep", {"pattern": pattern, "path": path}
        case ListFiles(glob):
            return "search", "glob", {"pattern": glob}
        case Plan(items):
            todos = "\n".join(f"- [{'x' if it[1] == 'completed' else ' '}] {it[0]}" for it in items)
            return "plan", "update_todo", {"todos": todos}
        case Fetch(url):
            return "web", "web_fetch", {"url": url}
        case Consult(server, tool, arguments):
            return "mcp", f"{server}-{tool}", dict(arguments)
        case Delegate(role, title, prompt):
            errand = {"agent_type": role, "description": title, "prompt": prompt}
            return "subagent", "task", errand


def _result_text(call: Call) -> str:
    outcome = call.outcome
    assert outcome is not None
    if outcome.state == "declined":
        return "The user rejected this tool call."
    if outcome.state == "interrupted":
        return f"The call was stopped.\n{outcome.text}"
    match call.action:
        case Run():
            return f"{outcome.text}\n<exited with exit code {outcome.exit_code or 0}>"
        case Change() if outcome.state == "failed":
            return "No match found"
        case Change(path) | Create(path):
            return f"Wrote {ROOT}/{path}."
        case Plan():
            return "TODO list updated"
        case _:
            return outcome.text


def _session_id(session: Session) -> str:
    """A session's own id; a subagent's is the one it has within its parent's file."""
    if session.relation == "subagent":
        return f"agent-{_agent(session)}"
    return uuid4(dice(session.key, "copilot session"))


def _agent(session: Session) -> str:
    return f"explore-{session.key[:16]}"
