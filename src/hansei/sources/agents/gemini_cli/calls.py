"""A tool call of a message, how it ended, and the file it changed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from hansei.events.model import Basis, FileEdit, Status, Tool, ToolCall, ToolResult
from hansei.events.tools import canonical_tool
from hansei.sources.families import edits, patches
from hansei.sources.families.clock import instant
from hansei.sources.families.shell import hides_status
from hansei.sources.families.streams import byte_size

if TYPE_CHECKING:
    from typing import Literal

    from hansei.sources.agents.gemini_cli.reading import Reader
    from hansei.sources.agents.gemini_cli.records import Call

_OWN = {
    "write_todos": Tool.PLAN,
    "ask_user": Tool.PLAN,
    "enter_plan_mode": Tool.PLAN,
    "exit_plan_mode": Tool.PLAN,
    "codebase_investigator": Tool.SUBAGENT,
    "cli_help": Tool.SUBAGENT,
    "generalist": Tool.SUBAGENT,
    "delegate_to_agent": Tool.SUBAGENT,
    "invoke_agent": Tool.SUBAGENT,
}
_ABOUT = (
    "command", "file_path", "absolute_path", "pattern", "dir_path", "path", "query", "url",
    "prompt", "objective", "name",
)  # fmt: skip
"""Arguments that say what a call is about, the telling ones first."""
_MCP = re.compile(r"mcp_([^_]+)_.")
_FRAMED = re.compile(
    r"(?:Command: .*?\nDirectory: [^\n]*\n(?:Stdout|Output): |Output: )", re.DOTALL
)
_TAIL = re.compile(
    r"(?:\n(?:Stderr|Error): \((?:none|empty)\))?"
    r"((?:\n(?:Exit Code|Signal|Background PIDs|Process Group PGID): [^\n]*)*)$"
)
_CODE = re.compile(r"\nExit Code: (-?\d{1,9})\b")
_EMPTY = "(empty)"
_WRAPPED = re.compile(r"<untrusted_context>\n(.*)\n</untrusted_context>", re.DOTALL)
"""What newer versions put around the output of commands, servers and pages."""
_MASKED = "<tool_output_masked>"
_DECLINED = re.compile(r"declined|user did not allow|rejected", re.IGNORECASE)
_POLICY = re.compile(
    r'Tool execution (?:blocked: |(?:for ".*?" )?(?:denied by policy|requires user confirmation))',
    re.DOTALL,
)
"""How a call ends that a hook stops, that a rule forbids, or that nobody is there to allow."""
_CUT = re.compile(r"^Output too large\. Showing |\[[\d,]+ characters omitted\]", re.MULTILINE)


class Answer(NamedTuple):
    """What a tool answered: its output, the bytes around it, and its exit code."""

    text: str
    shown: int
    failed: str | None = None
    exit_code: int | None = None


def tell(reader: Reader, call: Call, message: str, by: dict[str, Any]) -> None:
    """A call, and its result once it has one."""
    if not call.name:
        reader.unrecognised("a call without a name", call.timestamp)
        return
    identity = call.id or call.name
    arguments = call.args or {}
    server = _MCP.match(call.name)
    tool = _tool(call, is_mcp=server is not None)
    done = call.status in ("success", "error", "cancelled")
    if not done:  # until it is, the time beside it is that of its start
        by = {**by, "at": instant(call.timestamp) or by["at"]}
    event = ToolCall(
        key=reader.key("call", message, identity),
        call=identity,
        tool=tool,
        name=call.name,
        arguments=arguments,
        text=_about(arguments),
        server=server[1] if server else None,
        **by,
    )
    reader.emit(event)
    if done:
        _result(reader, call, identity, tool, by)


def _tool(call: Call, *, is_mcp: bool) -> Tool:
    name = call.name or ""
    if call.agent_id:
        return Tool.SUBAGENT
    if is_mcp:
        return Tool.MCP
    return _OWN.get(name) or canonical_tool(name)


def _about(arguments: dict[str, Any]) -> str:
    texts = (arguments.get(name) for name in _ABOUT)
    return next((text for text in texts if isinstance(text, str)), "")


def _result(reader: Reader, call: Call, identity: str, tool: Tool, by: dict[str, Any]) -> None:
    message = by["message"]
    answer = _answer(call, tool)
    command = (call.args or {}).get("command")
    masked = isinstance(command, str) and hides_status(command)
    status, basis = _verdict(call, answer, masked=masked and tool is Tool.SHELL)
    where = {**reader.where(call.timestamp or None)}
    where["at"] = where["at"] or by["at"]
    size = byte_size(answer.text)
    cut = _CUT.search(answer.text) is not None or answer.text.startswith(_MASKED)
    event = ToolResult(
        key=reader.key("result", message, identity),
        call=identity,
        text=answer.text,
        status=status,
        basis=basis,
        exit_code=answer.exit_code,
        size=None if cut else size,
        truncated=cut,
        shown=answer.shown if answer.shown != size else None,
        child=call.agent_id,
        **where,
    )
    reader.emit(event)
    if call.status == "success":
        _edit(reader, call, identity, tool, by, where)


def _answer(call: Call, tool: Tool) -> Answer:
    """The texts of all answers to a call; a shell's output without the frame around it."""
    texts: list[str] = []
    failed: list[str] = []
    for part in call.result if isinstance(call.result, list) else [call.result]:
        response = _response(part)
        if isinstance(response.get("error"), str):
            failed.append(response["error"])
        for name in ("output", "error", "content"):
            if isinstance(response.get(name), str):
                texts.append(response[name])
                break
    if not texts and isinstance(call.result_display, str):
        texts.append(call.result_display)
    whole = "\n".join(texts)
    bare = "\n".join(map(_unwrapped, texts))
    text, code = _unframed(bare) if tool is Tool.SHELL else (bare, None)
    return Answer(text, byte_size(whole), "\n".join(failed) or None, code)


def _response(part: Any) -> dict[str, Any]:
    if not isinstance(part, dict):
        return {"output": part} if isinstance(part, str) else {}
    answered = part.get("functionResponse")
    if isinstance(answered, dict):
        response = answered.get("response")
        return response if isinstance(response, dict) else {}
    return {"output": part["text"]} if isinstance(part.get("text"), str) else {}


def _unwrapped(text: str) -> str:
    """A text without the tag that says whose words they are not."""
    found = _WRAPPED.match(text)
    if found is None:
        return text
    return (
        found[1].replace("&lt;/untrusted_context&gt;", "</untrusted_context>") + text[found.end() :]
    )


def _unframed(text: str) -> tuple[str, int | None]:
    """A command's output alone, and the exit code that the frame tells."""
    start = _FRAMED.match(text)
    if start is None:
        return text, None
    end = _TAIL.search(text, start.end() - 1)
    told = _CODE.search(end[1]) if end else None
    output = text[start.end() : end.start() if end else None]
    return "" if output == _EMPTY else output, int(told[1]) if told else None


def _verdict(call: Call, answer: Answer, *, masked: bool) -> tuple[Status, Basis]:
    """How a call ended. A command that failed is `success` too: its exit code tells."""
    said = answer.failed or answer.text
    if call.status == "cancelled":
        refused = _DECLINED.search(said) is not None
        return Status.UNKNOWN, Basis.DECLINED if refused else Basis.INTERRUPTED
    if call.status == "error" and _POLICY.match(said):
        return Status.UNKNOWN, Basis.DECLINED
    if answer.exit_code:
        return Status.FAILED, Basis.EXIT_CODE
    if call.status == "error":
        return Status.FAILED, Basis.FLAG
    if masked:
        return Status.UNKNOWN, Basis.MASKED
    return Status.OK, Basis.FLAG if answer.exit_code is None else Basis.EXIT_CODE


def _edit(
    reader: Reader,
    call: Call,
    identity: str,
    tool: Tool,
    by: dict[str, Any],
    where: dict[str, Any],
) -> None:
    arguments = call.args or {}
    path = arguments.get("file_path")
    if tool not in (Tool.EDIT, Tool.WRITE) or not isinstance(path, str):
        return
    display = call.result_display if isinstance(call.result_display, dict) else {}
    operation, change = _change(tool, arguments, display)
    event = FileEdit(
        key=reader.key("edit", by["message"], identity),
        call=identity,
        path=edits.from_root(path, reader.cwd),
        operation=operation,
        hunks=change.hunks,
        added=change.added,
        removed=change.removed,
        applied=True,
        **where,
    )
    reader.emit(event)


def _change(
    tool: Tool, arguments: dict[str, Any], display: dict[str, Any]
) -> tuple[Literal["create", "update"], edits.Change]:
    """The change a call made: by the diff beside it, else by what the model asked for."""
    diff, content = display.get("fileDiff"), arguments.get("content")
    old, new = arguments.get("old_string"), arguments.get("new_string")
    fresh = display.get("isNewFile") is True or (tool is Tool.EDIT and old == "")
    operation: Literal["create", "update"] = "create" if fresh else "update"
    if isinstance(diff, str) and "@@" in diff:
        return operation, patches.from_unified(diff)
    if isinstance(content, str):
        return operation, patches.created(content)
    if isinstance(old, str) and isinstance(new, str):
        return operation, edits.replacement(old, new)
    return operation, edits.Change([], 0, 0)
