"""Calls and their results: by the rounds that the extension keeps, else by what was shown."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from hansei.events.model import Basis, FileEdit, Status, Tool, ToolCall, ToolResult
from hansei.events.tools import canonical_tool
from hansei.sources.agents.copilot_vscode.values import listing, mapping
from hansei.sources.families import edits, patches
from hansei.sources.families.addresses import folder_of
from hansei.sources.families.shell import hides_status
from hansei.sources.families.streams import byte_size

if TYPE_CHECKING:
    from hansei.sources.agents.copilot_vscode.reading import Reader

_NAMES: dict[str, Tool] = {
    name: tool
    for tool, names in {
        Tool.SHELL: """run_in_terminal runinterminal get_terminal_output getterminaloutput
            await_terminal kill_terminal create_and_run_task run_task runtask runtests run_tests
            runtestsintests terminal_last_command""",
        Tool.READ: "read_file readfile get_errors geterrors view_image read_notebook_cell_output",
        Tool.EDIT: """replace_string_in_file replacestring multi_replace_string_in_file
            multireplacestring insert_edit_into_file insertedit apply_patch applypatch
            edit_notebook_file editfiles""",
        Tool.WRITE: "create_file createfile create_new_jupyter_notebook",
        Tool.SEARCH: """grep_search findtextinfiles file_search findfiles semantic_search
            searchcodebase list_dir listdirectory list_code_usages listcodeusages
            get_changed_files getchangedfiles search_workspace_symbols""",
        Tool.WEB: "fetch_webpage fetchwebpage github_repo githubrepo open_simple_browser",
        Tool.SUBAGENT: "runsubagent search_subagent execution_subagent",
        Tool.PLAN: "manage_todo_list managetodolist ask_questions askquestions",
    }.items()
    for name in names.split()
}
_PREFIXES = ("copilot_", "vscode_")
_MCP = re.compile(r"mcp_([^_]+)_.")
_ABOUT = (
    "command", "filePath", "path", "query", "pattern", "url", "prompt", "description",
)  # fmt: skip
"""Arguments that say what a call is about, the telling ones first."""
_FAILED = re.compile(r"ERROR(?: while calling tool)?:|Error:")
_CODE = re.compile(r"(?:Command exited with code|Exit code:?) (-?\d{1,9})\b")
_STOPPED = re.compile(r"The user cancelled the tool call|Cancell?ed\b")
_DENIED, _SKIPPED = 0, 5
"""Words for a call that a person did not allow, as numbers."""
DEEPEST = 40
"""How far a rendered answer may be nested."""


def tool_of(name: str) -> Tool:
    bare = name
    for prefix in _PREFIXES:
        bare = bare.removeprefix(prefix)
    if _MCP.match(name):
        return Tool.MCP
    return _NAMES.get(bare.lower()) or canonical_tool(bare)


def asked_for(
    reader: Reader, call: dict[str, Any], request: dict[str, Any], by: dict[str, Any]
) -> None:
    """A call of a round, with its result among the request's."""
    identity, name = call.get("id"), call.get("name")
    if not isinstance(identity, str) or not isinstance(name, str) or not identity or not name:
        reader.unrecognised("a call without an id or a name", call, by["message"])
        return
    arguments, own = _arguments(call.get("arguments")), bare(identity)
    part = _part(request, own)
    _emit_call(reader, own, name, arguments, by)
    results = mapping(
        mapping(mapping(request.get("result")).get("metadata")).get("toolCallResults")
    )
    if identity in results:
        text = _rendered(mapping(results[identity]).get("content"))
        _emit_result(reader, own, name, arguments, text, part, by)
    elif part.get("isComplete") is True:
        _emit_result(reader, own, name, arguments, _shown_output(part), part, by)


def unasked(reader: Reader, request: dict[str, Any], rounds: list[Any], by: dict[str, Any]) -> None:
    """Calls that were shown and stand in no round, where both go by the same ids."""
    asked = {
        bare(identity)
        for turn in rounds
        for call in listing(mapping(turn).get("toolCalls"))
        if isinstance(identity := mapping(call).get("id"), str)
    }
    parts = [mapping(part) for part in listing(request.get("response"))]
    told = {bare(it): part for part in parts if isinstance(it := part.get("toolCallId"), str)}
    if asked & told.keys():
        for identity, part in told.items():
            if identity not in asked:
                shown(reader, part, by)


def bare(identity: str) -> str:
    """A call's id as the model's provider gave it, without what the editor adds."""
    return identity.partition("__vscode")[0]


def shown(reader: Reader, part: dict[str, Any], by: dict[str, Any]) -> None:
    """A call by what was shown of it."""
    identity, name = part.get("toolCallId"), part.get("toolId")
    if not isinstance(identity, str) or not isinstance(name, str) or not identity or not name:
        reader.unrecognised("a call without an id or a name", part, by["message"])
        return
    identity = bare(identity)
    details, specific = mapping(part.get("resultDetails")), mapping(part.get("toolSpecificData"))
    arguments = _arguments(details.get("input"))
    line = mapping(specific.get("commandLine"))
    command = line.get("userEdited") or line.get("toolEdited") or line.get("original")
    if isinstance(command, str):
        arguments = {**arguments, "command": command}
    _emit_call(reader, identity, name, arguments, by)
    if part.get("isComplete") is True:
        _emit_result(reader, identity, name, arguments, _shown_output(part), part, by)


def _shown_output(part: dict[str, Any]) -> str:
    """What a tool answered, by what was shown of it."""
    output = mapping(mapping(part.get("toolSpecificData")).get("terminalCommandOutput")).get("text")
    told = mapping(part.get("resultDetails")).get("output")
    return output if isinstance(output, str) else _rendered(told)


def _emit_call(
    reader: Reader, identity: str, name: str, arguments: dict[str, Any], by: dict[str, Any]
) -> None:
    server = _MCP.match(name)
    texts = (arguments.get(key) for key in _ABOUT)
    event = ToolCall(
        key=reader.key("call", by["message"], identity),
        call=identity,
        tool=tool_of(name),
        name=name,
        arguments=arguments,
        text=next((text for text in texts if isinstance(text, str)), ""),
        server=server[1] if server else None,
        **by,
    )
    reader.emit(event)


def _arguments(told: Any) -> dict[str, Any]:
    """Arguments as the model wrote them: JSON in a text."""
    if isinstance(told, str):
        try:
            told = json.loads(told)
        except (ValueError, RecursionError):
            return {"input": told}
    return told if isinstance(told, dict) else {}


def _part(request: dict[str, Any], identity: str) -> dict[str, Any]:
    """What was shown of a call."""
    for part in listing(request.get("response")):
        told = mapping(part).get("toolCallId")
        if isinstance(told, str) and bare(told) == identity:
            return mapping(part)
    return {}


# --- results --------------------------------------------------------------------------------------


def _emit_result(
    reader: Reader,
    identity: str,
    name: str,
    arguments: dict[str, Any],
    text: str,
    part: dict[str, Any],
    by: dict[str, Any],
) -> None:
    where = {key: by[key] for key in ("session", "at", "cwd")}
    tool = tool_of(name)
    code = _exit_code(part, text) if tool is Tool.SHELL else None
    status, basis = _verdict(part, text, code, tool, arguments)
    size = byte_size(text)
    key = reader.key("result", by["message"], identity)
    event = ToolResult(
        key=key,
        call=identity,
        text=text,
        status=status,
        basis=basis,
        exit_code=code,
        size=size,
        **where,
    )
    reader.emit(event)
    if status is Status.OK and tool in (Tool.EDIT, Tool.WRITE):
        _edits(reader, identity, arguments, by["message"], where)


def _exit_code(part: dict[str, Any], text: str) -> int | None:
    state = mapping(mapping(part.get("toolSpecificData")).get("terminalCommandState"))
    told = state.get("exitCode")
    if isinstance(told, int) and not isinstance(told, bool) and abs(told) < 2**31:
        return told
    found = _CODE.search(text)
    return int(found[1]) if found else None


def _verdict(
    part: dict[str, Any], text: str, code: int | None, tool: Tool, arguments: dict[str, Any]
) -> tuple[Status, Basis]:
    """How a call ended. There is no flag for it but in what was shown."""
    confirmed = part.get("isConfirmed")
    word = mapping(confirmed).get("type")
    if confirmed is False or (word in (_DENIED, _SKIPPED) and not isinstance(word, bool)):
        return Status.UNKNOWN, Basis.DECLINED
    if _STOPPED.match(text):
        return Status.UNKNOWN, Basis.INTERRUPTED
    if code:
        return Status.FAILED, Basis.EXIT_CODE
    if mapping(part.get("resultDetails")).get("isError") is True or _FAILED.match(text):
        return Status.FAILED, Basis.FLAG
    if tool is Tool.SHELL:
        command = arguments.get("command")
        if code is None:
            return Status.UNKNOWN, Basis.NONE
        if isinstance(command, str) and hides_status(command):
            return Status.UNKNOWN, Basis.MASKED
        return Status.OK, Basis.EXIT_CODE
    return (
        (Status.OK, Basis.FLAG) if part.get("isComplete") is True else (Status.UNKNOWN, Basis.NONE)
    )


def _rendered(value: Any, depth: int = DEEPEST) -> str:
    """The words of an answer: texts, parts that hold one, or a tree of rendered lines."""
    if isinstance(value, str):
        return value
    if depth and isinstance(value, list):
        return "".join(_rendered(item, depth - 1) for item in value)
    if depth and isinstance(value, dict):
        for name in ("value", "text", "node", "children", "content"):
            if name in value and (text := _rendered(value[name], depth - 1)):
                return text
    return ""


def _edits(
    reader: Reader, identity: str, arguments: dict[str, Any], name: str, where: dict[str, Any]
) -> None:
    for number, patch in enumerate(_changes(arguments)):
        change = patch.change or edits.Change([], 0, 0)
        event = FileEdit(
            key=reader.key("edit", name, identity, str(number)),
            call=identity,
            path=edits.from_root(folder_of(patch.path) or patch.path, reader.cwd),
            operation=patch.operation,
            hunks=change.hunks,
            added=change.added if patch.change else None,
            removed=change.removed if patch.change else None,
            applied=True,
            moved_to=patch.moved_to,
            **where,
        )
        reader.emit(event)


def _changes(arguments: dict[str, Any]) -> list[patches.FilePatch]:
    """The files a call changed, by what the model asked for."""
    replacements = arguments.get("replacements")
    if isinstance(replacements, list):
        return [it for one in replacements for it in _changes(mapping(one))]
    patch, path = arguments.get("input"), arguments.get("filePath")
    if not isinstance(path, str):
        return patches.parse(patch) if isinstance(patch, str) else []
    content, old, new = (arguments.get(key) for key in ("content", "oldString", "newString"))
    if isinstance(content, str):
        return [patches.FilePatch(path, "create", patches.created(content))]
    if isinstance(old, str) and isinstance(new, str):
        return [patches.FilePatch(path, "update", edits.replacement(old, new))]
    return [patches.FilePatch(path, "update", None)]
