"""Copilot in VS Code: a chat per session under the editor's `workspaceStorage`.

A chat is written as a log of changes; old ones are one object each. What was asked, the rounds of
the model and how the calls ended stand apart from one another, as in the editor.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from hansei.synth.contract import Traits, Written
from hansei.synth.dice import dice, fingerprint, text, uuid4
from hansei.synth.notation import save
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

COMPLETE, CANCELLED = 1, 2
DENIED, NOT_NEEDED = 0, 1


@dataclass(frozen=True)
class CopilotVscode:
    name: str = "copilot_vscode"
    traits: Traits = field(
        default=Traits(
            model="gpt-5.3-codex",
            small_model="gpt-5-mini",
            base_tokens=11_000,
            tells_cache_writes=False,
            tells_reasoning=True,
            records_commands=False,
            records_queue=False,
            subagents_inherit=False,
            delegates=False,
            records_driver=False,
            replays_forks=False,
            cache_block=128,
        )
    )

    def session_id(self, session: Session) -> str:
        return _session_id(session)

    def call_id(self, call_key: str) -> str:
        return f"call_{text(dice(call_key), 24)}"

    def version(self, session: Session) -> str:  # noqa: ARG002 - never told
        return ""

    def tool(self, action: Action) -> str:
        return _tool(action)[0]

    def result_text(self, call: Call, session: Session) -> str:  # noqa: ARG002
        return _result_text(call)

    def arguments_text(self, call: Call, session: Session) -> str:  # noqa: ARG002
        _, name, arguments = _tool(call.action)
        return f"{name} {msgspec.json.encode(arguments).decode()}"

    def write(self, home: Path, root: Path, episode: Episode) -> Written:
        """Write the chat, and the folder it belongs to."""
        session = episode.main.session
        storage = home / ".config" / "Code" / "User" / "workspaceStorage"
        window = storage / fingerprint(root.name, "window")
        chats = window / "chatSessions"
        chats.mkdir(parents=True, exist_ok=True)
        place = msgspec.json.encode({"folder": root.as_uri()})
        (window / "workspace.json").write_bytes(place)
        requests = _requests(self, episode.main)
        head = {"version": 3, "sessionId": _session_id(session), "creationDate": session.started}
        whole = session.era == "old"
        path = chats / f"{_session_id(session)}{'.json' if whole else '.jsonl'}"
        named = {"customTitle": session.title}
        lines = [head | named | {"requests": requests}] if whole else _log(head, named, requests)
        save(path, lines, {ROOT: root})
        naive = sum(usage.context + usage.output for usage in episode.main.usages)
        file = path.relative_to(home).as_posix()
        return Written(files={session.key: [file]}, naive={session.key: naive})


WRITER = CopilotVscode()


def _log(head: Line, named: Line, requests: list[Line]) -> list[Line]:
    """The changes by which a chat comes to be as it is."""
    lines: list[Line] = [{"kind": 0, "v": head | {"requests": []}}]
    for number, request in enumerate(requests):
        asked: Line = {"response": [], "result": None, "modelState": {"value": 0}}
        lines.append({"kind": 2, "k": ["requests"], "v": [request | asked]})
        shown = request["response"]
        for place, part in enumerate(shown):
            growing = part if "value" not in part else {"value": part["value"][:8]}
            lines.append({"kind": 2, "k": ["requests", number, "response"], "v": [growing]})
            if growing != part:
                cut = {"kind": 2, "k": ["requests", number, "response"], "v": [part], "i": place}
                lines.append(cut)
        lines += [
            {"kind": 1, "k": ["requests", number, name], "v": request[name]}
            for name in ("result", "modelState")
        ]
        if not number:
            lines += [{"kind": 1, "k": [name], "v": value} for name, value in named.items()]
    return lines


def _requests(writer: CopilotVscode, told: Told) -> list[Line]:
    """What was asked, each with all that followed from it."""
    usages = iter(told.usages)
    rng = dice(told.session.key, "vscode requests")
    requests: list[Line] = []
    for step in told.session.steps:
        if isinstance(step, Prompt):
            requests.append(_asked(f"request_{uuid4(rng)}", step))
        elif isinstance(step, Interruption):
            requests[-1]["modelState"] = {"value": CANCELLED}
        elif isinstance(step, Compaction):
            _rounds(_answered(requests))[-1]["summary"] = step.summary
        elif isinstance(step, Request):
            _answer(writer, requests[-1], step, next(usages), uuid4(rng))
    for request in requests:
        if not _rounds(request):
            request["result"] = None
    return requests


def _asked(identity: str, prompt: Prompt) -> Line:
    return {
        "requestId": identity,
        "timestamp": prompt.at,
        "message": {"text": prompt.text, "parts": []},
        "variableData": {"variables": []},
        "response": [],
        "modelId": "copilot/auto",
        "modelState": {"value": COMPLETE},
        "result": {"metadata": {"toolCallRounds": [], "toolCallResults": {}}},
    }


def _rounds(request: Line) -> list[Line]:
    rounds: list[Line] = request["result"]["metadata"]["toolCallRounds"]
    return rounds


def _answered(requests: list[Line]) -> Line:
    """The last request that has an answer."""
    return next(request for request in reversed(requests) if _rounds(request))


def _answer(
    writer: CopilotVscode, asked: Line, request: Request, usage: Usage, identity: str
) -> None:
    metadata = asked["result"]["metadata"]
    metadata["resolvedModel"] = writer.traits.model
    turn: Line = {"id": identity, "response": request.reply, "timestamp": request.at}
    turn["toolCalls"] = [_call(writer, call) for call in request.calls]
    turn["usage"] = _usage(usage)
    if request.thought:
        turn["thinking"] = {"id": identity, "text": request.thought}
        asked["response"].append({"kind": "thinking", "value": request.thought})
    if request.reply:
        asked["response"].append({"value": request.reply})
    metadata["toolCallRounds"].append(turn)
    for call in request.calls:
        asked["response"].append(_part(writer, call))
        if call.outcome is not None:
            words = {"$mid": 21, "value": _result_text(call)}
            metadata["toolCallResults"][_own_id(writer, call)] = {"$mid": 20, "content": [words]}


def _usage(usage: Usage) -> Line:
    """Usage as the provider tells it: the prompt with what was cached, the answer with thoughts."""
    return {
        "prompt_tokens": usage.context,
        "completion_tokens": usage.output,
        "total_tokens": usage.context + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning or 0},
    }


# --- calls ----------------------------------------------------------------------------------------


def _own_id(writer: CopilotVscode, call: Call) -> str:
    """A call's id with what the editor adds to it."""
    return f"{writer.call_id(call.key)}__vscode-{call.at}"


def _call(writer: CopilotVscode, call: Call) -> Line:
    _, name, arguments = _tool(call.action)
    words = msgspec.json.encode(arguments).decode()
    return {"id": _own_id(writer, call), "name": name, "arguments": words}


def _part(writer: CopilotVscode, call: Call) -> Line:
    """What is shown of a call, and how it ended."""
    outcome = call.outcome
    _, name, _ = _tool(call.action)
    declined = outcome is not None and outcome.state == "declined"
    part: Line = {
        "kind": "toolInvocationSerialized",
        "toolId": name,
        "toolCallId": writer.call_id(call.key),
        "isConfirmed": {"type": DENIED if declined else NOT_NEEDED},
        "isComplete": outcome is not None,
    }
    if isinstance(call.action, Run):
        specific: Line = {"kind": "terminal", "commandLine": {"original": call.action.command}}
        if outcome is not None and outcome.state in ("ok", "failed"):
            specific["terminalCommandState"] = {"exitCode": outcome.exit_code or 0}
        part["toolSpecificData"] = specific
    return part


def _tool(action: Action) -> tuple[str, str, Line]:
    """Kind of tool, its name, and its arguments."""
    match action:
        case Run(command):
            return "shell", "run_in_terminal", {"command": command, "isBackground": False}
        case Read(path, start, lines):
            end = start + (lines or 400) - 1
            span = {"startLine": start, "endLine": end}
            return "read", "read_file", {"filePath": f"{ROOT}/{path}", **span}
        case Change(path, old, new):
            edit = {"filePath": f"{ROOT}/{path}", "oldString": old, "newString": new}
            return "edit", "replace_string_in_file", edit
        case Create(path, content):
            return "write", "create_file", {"filePath": f"{ROOT}/{path}", "content": content}
        case Search(pattern, path):
            return "search", "grep_search", {"query": pattern, "includePattern": path}
        case ListFiles(glob):
            return "search", "file_search", {"query": glob}
        case Plan(items):
            todos = [{"title": task, "status": state} for task, state in items]
            return "plan", "manage_todo_list", {"todoList": todos}
        case Fetch(url, question):
            return "web", "fetch_webpage", {"urls": [url], "query": question}
        case Consult(server, tool, arguments):
            return "mcp", f"mcp_{server.replace('_', '-')}_{tool}", dict(arguments)
        case Delegate(_, _, prompt):
            return "subagent", "runSubagent", {"prompt": prompt}


def _result_text(call: Call) -> str:
    outcome = call.outcome
    assert outcome is not None
    if outcome.state == "declined":
        return "The user chose to skip the tool call."
    if outcome.state == "interrupted":
        return f"The user cancelled the tool call.\n{outcome.text}"
    match call.action:
        case Change() if outcome.state == "failed":
            return "ERROR while calling tool: Could not find matching text to replace."
        case Change(path) | Create(path):
            return f"The following files were successfully edited:\n{ROOT}/{path}"
        case Plan():
            return "Successfully wrote todo list"
        case _:
            return outcome.text


def _session_id(session: Session) -> str:
    return uuid4(dice(session.key, "vscode chat"))
