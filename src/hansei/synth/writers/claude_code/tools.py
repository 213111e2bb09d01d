"""The tools of Claude Code: what is asked of them, what the model gets back, and what is noted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hansei.synth.dice import dice, text
from hansei.synth.notation import hunk
from hansei.synth.output import PROJECT, ROOT
from hansei.synth.story import (
    Change,
    Consult,
    Create,
    Delegate,
    Fetch,
    ListFiles,
    Plan,
    Read,
    Run,
    Search,
    requests,
)

if TYPE_CHECKING:
    from hansei.synth.story import Action, Call, Episode, Era, Session, Usage

Line = dict[str, Any]

REJECTED = "The user doesn't want to proceed with this tool use. The tool use was rejected."
STOPPED_TOOL = "[Request interrupted by user for tool use]"
PREVIEW = 2_000
"""Characters shown of an output that was moved to a file."""
NOT_FOUND = "<tool_use_error>String to replace not found in file.</tool_use_error>"


class Tool(NamedTuple):
    kind: str
    name: str
    arguments: Line


def tool(action: Action, era: Era) -> Tool:
    """The tool that does an action."""
    match action:
        case Run(command):
            words = {"command": command, "description": f"Run {command.split()[0]}"}
            return Tool("shell", "Bash", words)
        case Read(path, start, lines):
            part = {} if lines is None else {"offset": start, "limit": lines}
            return Tool("read", "Read", {"file_path": f"{ROOT}/{path}", **part})
        case Change(path, old, new):
            texts = {"old_string": old, "new_string": new}
            return Tool("edit", "Edit", {"file_path": f"{ROOT}/{path}", **texts})
        case Create(path, content):
            return Tool("write", "Write", {"file_path": f"{ROOT}/{path}", "content": content})
        case Search(pattern, path):
            where = {"path": f"{ROOT}/{path}", "output_mode": "content"}
            return Tool("search", "Grep", {"pattern": pattern, **where})
        case ListFiles(glob):
            return Tool("search", "Glob", {"pattern": glob})
        case Plan(items):
            todos = [
                {"content": task, "status": state, "activeForm": task} for task, state in items
            ]
            return Tool("plan", "TodoWrite", {"todos": todos})
        case Fetch(url, question):
            return Tool("web", "WebFetch", {"url": url, "prompt": question})
        case Consult(server, tool, arguments):
            return Tool("mcp", f"mcp__{server}__{tool}", dict(arguments))
        case Delegate(role, title, prompt):
            errand = {"description": title, "prompt": prompt, "subagent_type": role}
            return Tool("subagent", "Agent" if era == "new" else "Task", errand)


def result_text(call: Call, era: Era, session_id: str) -> str:
    """What the model is shown of a call's result."""
    outcome, action = call.outcome, call.action
    assert outcome is not None
    if outcome.state == "declined":
        return REJECTED
    if outcome.state == "interrupted":
        return f"Exit code 137\n{STOPPED_TOOL}\n{outcome.text}"
    if outcome.spilled:
        return _beginning(call, session_id)
    if isinstance(action, Change):
        updated = f"The file {ROOT}/{action.path} has been updated successfully."
        if era == "old":  # these versions show the model what it wrote
            updated += f"\n{_numbered(action.new, hunk(action).start)}"
        return NOT_FOUND if outcome.state == "failed" else updated
    if isinstance(action, Create):
        return f"File created successfully at: {ROOT}/{action.path}"
    if isinstance(action, Plan):
        return "Todos have been modified successfully."
    if isinstance(action, Read):
        return _numbered(outcome.text, action.start)
    if is_error(call):
        return f"Exit code {outcome.exit_code}\n{outcome.text}"
    return outcome.text


def call_id(key: str) -> str:
    return f"toolu_01{text(dice(key), 22)}"


def spill_path(call: Call, session_id: str) -> str:
    """Where the output of a call is that was too long for the transcript."""
    return f"{PROJECT}/{session_id}/tool-results/{call_id(call.key)}.txt"


def _beginning(call: Call, session_id: str) -> str:
    assert call.outcome is not None
    whole = call.outcome.text
    return (
        f"<persisted-output>\nOutput too large ({len(whole.encode()) / 1024:.1f}KB)."
        f" Full output saved to: {spill_path(call, session_id)}\n\n"
        f"Preview (first 2KB):\n{whole[:PREVIEW]}\n...\n</persisted-output>"
    )


def _numbered(words: str, start: int) -> str:
    lines = words.rstrip("\n").split("\n")
    return "\n".join(f"{number:6}→{line}" for number, line in enumerate(lines, start))


def details(call: Call, words: str, episode: Episode | None, session_id: str) -> Any:
    """What the agent notes about a result besides the text for the model."""
    outcome = call.outcome
    assert outcome is not None
    if is_error(call):
        return f"Error: {words}"
    match call.action:
        case Run():
            plain: Line = {"stdout": outcome.text, "stderr": "", "interrupted": False}
            if outcome.spilled:
                plain["stdout"] = outcome.text[:PREVIEW]
                plain["persistedOutputPath"] = spill_path(call, session_id)
                plain["persistedOutputSize"] = len(outcome.text.encode())
            if _nothing_found(call):
                plain["returnCodeInterpretation"] = "No matches found"
            return {**plain, "isImage": False}
        case Read(path, start):
            count = outcome.text.count("\n") + 1
            span = {"numLines": count, "startLine": start, "totalLines": count}
            file = {"filePath": f"{ROOT}/{path}", "content": outcome.text, **span}
            return {"type": "text", "file": file}
        case Change() as change:
            return _change_details(change)
        case Create(path, content):
            place: Line = {"type": "create", "filePath": f"{ROOT}/{path}", "content": content}
            return {**place, "structuredPatch": [], "originalFile": None}
        case Delegate() as errand if episode is not None:
            return _delegate_details(call, errand, episode)
        case _:
            return {"content": words}


def _change_details(change: Change) -> Line:
    piece = hunk(change)
    old = {"oldStart": piece.start, "oldLines": piece.old_count}
    new = {"newStart": piece.start, "newLines": piece.new_count}
    return {
        "filePath": f"{ROOT}/{change.path}",
        "oldString": change.old,
        "newString": change.new,
        "originalFile": change.before,
        "structuredPatch": [{**old, **new, "lines": piece.lines}],
        "userModified": False,
        "replaceAll": False,
    }


def _delegate_details(call: Call, errand: Delegate, episode: Episode) -> Line:
    told = episode.child(errand.child)
    assert call.outcome is not None
    last = told.usages[-1]
    name = {} if told.session.era == "old" else {"agentId": agent_id(told.session)}
    return {
        "status": "completed",
        "prompt": errand.prompt,
        **name,
        "content": [{"type": "text", "text": call.outcome.text}],
        "totalDurationMs": call.outcome.at - call.at,
        "totalTokens": last.context + last.output,
        "totalToolUseCount": sum(len(request.calls) for request in requests(told.session)),
        "usage": usage_line(last, last.output),
    }


def is_error(call: Call) -> bool:
    """Whether the agent flags the result; an empty search is not flagged though its code is 1."""
    assert call.outcome is not None
    return call.outcome.state != "ok" and not _nothing_found(call)


def _nothing_found(call: Call) -> bool:
    outcome = call.outcome
    return (
        isinstance(call.action, Run)
        and call.action.command.startswith("rg ")
        and outcome is not None
        and outcome.exit_code == 1
    )


def usage_line(usage: Usage, output: int) -> Line:
    short, long = usage.cache_write_5m or 0, usage.cache_write_1h or 0
    return {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": short + long,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation": {"ephemeral_5m_input_tokens": short, "ephemeral_1h_input_tokens": long},
        "output_tokens": output,
        "service_tier": "standard",
    }


def agent_id(session: Session) -> str:
    return session.key[:8] if session.era == "middle" else f"a{session.key[:16]}"
