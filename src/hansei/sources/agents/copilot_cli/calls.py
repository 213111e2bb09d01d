"""Calls, told when the model asks and again when they start, and how they ended."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hansei.events.model import Basis, FileEdit, Status, Tool, ToolCall, ToolResult
from hansei.events.tools import canonical_tool
from hansei.sources.families import edits, patches
from hansei.sources.families.shell import hides_status
from hansei.sources.families.streams import byte_size, short

if TYPE_CHECKING:
    from hansei.sources.agents.copilot_cli.reading import Reader
    from hansei.sources.agents.copilot_cli.records import Data, Request

EDITOR = "str_replace_editor"
_OWN = {
    "read_bash": Tool.SHELL,
    "write_bash": Tool.SHELL,
    "stop_bash": Tool.SHELL,
    "list_bash": Tool.SHELL,
    "read_powershell": Tool.SHELL,
    "write_powershell": Tool.SHELL,
    "stop_powershell": Tool.SHELL,
    "list_powershell": Tool.SHELL,
    "report_intent": Tool.PLAN,
    "update_todo": Tool.PLAN,
    "ask_user": Tool.PLAN,
    "exit_plan_mode": Tool.PLAN,
    "read_agent": Tool.SUBAGENT,
    "list_agents": Tool.SUBAGENT,
}
_EDITORS_COMMANDS = {"view": Tool.READ, "create": Tool.WRITE}
_ABOUT = (
    "path", "skill", "pattern", "query", "url", "prompt", "intent", "description", "input",
    "command",
)  # fmt: skip
"""Arguments that say what a call is about, the telling ones first."""
_MCP = re.compile(r"(github-mcp-server)-.|mcp__(.+?)__.")
_ENDED = re.compile(
    r"\s*<(?:exited|[^<>\n]{0,80}? (?:exited|completed)) with exit code (-?\d{1,9})>\s*$"
)
_REFUSED_CODES = frozenset(("rejected", "denied", "permission_denied", "permission-denied"))
_STOPPED_CODES = frozenset(("aborted", "cancelled", "canceled", "interrupted"))
_REFUSED = re.compile(r"The user rejected|Permission denied and could not|Denied by ")
_CUT = re.compile(r"\[Output truncated|<output too long|Output too large to read at once")


def tool_of(name: str, arguments: Any, server: str | None) -> Tool:
    """The kind of a tool; one name stands for an editor with several commands."""
    if server or _MCP.match(name):
        return Tool.MCP
    if name == EDITOR and isinstance(arguments, dict):
        return _EDITORS_COMMANDS.get(str(arguments.get("command")), Tool.EDIT)
    return _OWN.get(name) or canonical_tool(name)


def about(arguments: Any) -> str:
    """What a call is about, on its own."""
    if isinstance(arguments, str):
        return arguments
    if not isinstance(arguments, dict):
        return ""
    names = _ABOUT if "path" in arguments else ("command", *_ABOUT)
    return next((it for name in names if isinstance(it := arguments.get(name), str)), "")


def ask(reader: Reader, request: Request, by: dict[str, Any]) -> None:
    """A call as the model asks for it."""
    if not request.tool_call_id or not request.name:
        reader.unrecognised("a call without an id or a name", _place(by))
        return
    reader.wait_for(request.tool_call_id)
    _call(reader, request.tool_call_id, request.name, request, by)


def start(reader: Reader, data: Data, where: dict[str, Any]) -> None:
    """A call that starts: told already, unless the model's own words for it are gone."""
    if not data.tool_call_id or not data.tool_name:
        reader.unrecognised("a call without an id or a name", where)
        return
    if not reader.wait_for(data.tool_call_id):
        by = {"model": data.model or reader.model, "message": None, **where}
        _call(reader, data.tool_call_id, data.tool_name, data, by)


def _call(reader: Reader, call: str, name: str, told: Request | Data, by: dict[str, Any]) -> None:
    arguments = told.arguments
    named = _MCP.match(name)
    event = ToolCall(
        key=reader.key("call", call),
        call=call,
        tool=tool_of(name, arguments, told.mcp_server_name),
        name=name,
        arguments=arguments if isinstance(arguments, dict) else {"input": arguments},
        text=about(arguments),
        server=told.mcp_server_name or (named and (named[1] or named[2])) or None,
        **by,
    )
    reader.emit(event)


# --- results --------------------------------------------------------------------------------------


def answer(reader: Reader, data: Data, where: dict[str, Any]) -> None:
    """How a call ended, and the file it changed."""
    call = data.tool_call_id
    if not call:
        reader.unrecognised("a result without a call", where)
        return
    started = reader.data_at(reader.state.calls.pop(short(call), None))
    name, arguments = _asked(started, call)
    tool = tool_of(name, arguments, started.mcp_server_name)
    whole = _text(data)
    ended = _ENDED.search(whole) if tool is Tool.SHELL else None
    text = whole[: ended.start()] if ended else whole
    code = int(ended[1]) if ended else None
    status, basis = _verdict(data, whole, code, tool, arguments)
    cut = _CUT.search(text) is not None
    size = byte_size(text)
    child = reader.state.children.pop(short(call), None)
    event = ToolResult(
        key=reader.key("result", call),
        call=call,
        text=text,
        status=status,
        basis=basis,
        exit_code=code,
        size=None if cut else size,
        truncated=cut,
        shown=byte_size(whole) if ended else None,
        child=f"{reader.session}/{child}" if child else None,
        **where,
    )
    reader.emit(event)
    if data.success is True and tool in (Tool.EDIT, Tool.WRITE):
        _edits(reader, call, name, arguments, data, where)


def _asked(started: Data, call: str) -> tuple[str, Any]:
    """The name and the arguments of a call, from whichever line told it last."""
    if started.tool_name:
        return started.tool_name, started.arguments
    for request in started.tool_requests or []:
        if request.tool_call_id == call:
            return request.name or "", request.arguments
    return "", None


def _text(data: Data) -> str:
    """What the model was given back."""
    error, result = data.error, data.result
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        return str(error["message"])
    if isinstance(result, dict) and isinstance(result.get("content"), str):
        return str(result["content"])
    return next((it for it in (error, result) if isinstance(it, str)), "")


def _verdict(
    data: Data, text: str, code: int | None, tool: Tool, arguments: Any
) -> tuple[Status, Basis]:
    """How a call ended. The flag says that the tool worked; a command has its exit code."""
    failure = str(data.error.get("code")) if isinstance(data.error, dict) else None
    if failure in _REFUSED_CODES or (data.success is False and _REFUSED.match(text)):
        return Status.UNKNOWN, Basis.DECLINED
    if failure in _STOPPED_CODES:
        return Status.UNKNOWN, Basis.INTERRUPTED
    if data.success is None:
        return Status.UNKNOWN, Basis.NONE
    if code:
        return Status.FAILED, Basis.EXIT_CODE
    if data.success is False:
        return Status.FAILED, Basis.FLAG
    if tool is not Tool.SHELL:
        return Status.OK, Basis.FLAG
    if code is None:  # it runs on, or nobody waited for its end
        return Status.UNKNOWN, Basis.NONE
    command = arguments.get("command") if isinstance(arguments, dict) else None
    if isinstance(command, str) and hides_status(command):
        return Status.UNKNOWN, Basis.MASKED
    return Status.OK, Basis.EXIT_CODE


def _edits(
    reader: Reader, call: str, name: str, arguments: Any, data: Data, where: dict[str, Any]
) -> None:
    for number, patch in enumerate(_changes(name, arguments, data)):
        change = patch.change or edits.Change([], 0, 0)
        event = FileEdit(
            key=reader.key("edit", call, str(number)),
            call=call,
            path=edits.from_root(patch.path, reader.cwd),
            operation=patch.operation,
            hunks=change.hunks,
            added=change.added if patch.change else None,
            removed=change.removed if patch.change else None,
            applied=True,
            moved_to=patch.moved_to,
            **where,
        )
        reader.emit(event)


def _changes(name: str, arguments: Any, data: Data) -> list[patches.FilePatch]:
    """The files a call changed: by the diff beside its result, else by what was asked."""
    if isinstance(arguments, str):
        return patches.parse(arguments)
    if not isinstance(arguments, dict):
        return []
    path, diff = arguments.get("path"), _diff(data)
    if not isinstance(path, str):
        texts = (arguments.get(key) for key in ("input", "patch"))
        return next((patches.parse(text) for text in texts if isinstance(text, str)), [])
    content, old, new = (arguments.get(key) for key in ("file_text", "old_str", "new_str"))
    if isinstance(content, str) and (name == "create" or arguments.get("command") == "create"):
        return [patches.FilePatch(path, "create", patches.created(content))]
    if diff:
        return [patches.FilePatch(path, "update", patches.from_unified(diff))]
    if isinstance(new, str):
        change = edits.replacement(old if isinstance(old, str) else "", new)
        return [patches.FilePatch(path, "update", change)]
    return [patches.FilePatch(path, "update", None)]


def _diff(data: Data) -> str:
    told = data.result.get("detailedContent") if isinstance(data.result, dict) else None
    return told if isinstance(told, str) and "\n@@ -" in told else ""


def _place(by: dict[str, Any]) -> dict[str, Any]:
    return {name: by[name] for name in ("session", "at", "cwd", "branch")}
