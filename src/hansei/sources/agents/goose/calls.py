"""Calls and their results.

A tool's name has its extension before it (`developer__shell`), but for those built in of late. A
result may hold its text twice, once for the model and once for the person: only the model's counts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from hansei.events.model import Basis, FileEdit, Hunk, Status, Tool, ToolCall, ToolResult
from hansei.events.tools import canonical_tool
from hansei.sources.families import edits as hunks
from hansei.sources.families import patches
from hansei.sources.families.edits import from_root
from hansei.sources.families.shell import hides_status
from hansei.sources.families.streams import byte_size

if TYPE_CHECKING:
    from hansei.sources.agents.goose.messages import Said, Told
    from hansei.sources.agents.goose.records import Block, Outcome, Stamp
    from hansei.sources.families.patches import Operation

_OWN = {"developer", "platform", "todo", "subagent", "dynamic_task", "summon", "analyze", "skills"}
"""Extensions that come with the program; every other one is an MCP server."""
_TOOLS = {
    "tree": Tool.SEARCH,
    "analyze": Tool.SEARCH,
    "list_files": Tool.SEARCH,
    "todo_write": Tool.PLAN,
    "todo_read": Tool.PLAN,
    "delegate": Tool.SUBAGENT,
    "create_task": Tool.SUBAGENT,
    "execute_task": Tool.SUBAGENT,
    "subagent": Tool.SUBAGENT,
    "image_processor": Tool.READ,
}
_EDITOR = "text_editor"
_EDITOR_TOOLS = {"view": Tool.READ, "write": Tool.WRITE}
"""The editor's commands that are no edits."""
_ABOUT = ("command", "path", "query", "url", "instructions", "source", "content")
"""Arguments that say what a call is about, the telling ones first."""
_CODE = re.compile(r"Command exited with code (-?\d+)\s*$")
_ENDING = 120
_CUT = re.compile(r"Output exceeded \d+ \w+ limit")
_DECLINED = (
    "The user has declined to run this tool",
    "Let the user know the tool call was skipped in goose chat mode",
)
_STOPPED = "Interrupted by the user"


class Asked(NamedTuple):
    """A call, as its result needs it."""

    created: Stamp
    name: str
    arguments: dict[str, Any]


class Verdict(NamedTuple):
    """How a call ended, and how we know it."""

    status: Status
    basis: Basis
    exit_code: int | None = None


def asked_in(created: Stamp, part: Block) -> Asked:
    """The call in a part of a message; one that the model worded wrongly has no name."""
    value = part.tool_call.value if part.tool_call else None
    held = value if isinstance(value, dict) else {}
    name, arguments = held.get("name"), held.get("arguments")
    return Asked(
        created,
        name if isinstance(name, str) and name else "unknown",
        arguments if isinstance(arguments, dict) else {},
    )


def request(told: Told, said: Said, part: Block) -> None:
    """A call with its edits. One that was worded wrongly failed before it began."""
    call = part.id
    if not call:
        told.unrecognised(said, "a call without an id", str(part.type).encode())
        return
    asked = asked_in(said.created, part)
    edits = _edits(said, call, asked, None, "")
    server, _ = _parts(asked.name)
    event = ToolCall(
        key=said.key("call", call),
        call=call,
        tool=tool_of(asked),
        name=asked.name,
        arguments=asked.arguments,
        text="\n".join(edit.path for edit in edits) if edits else _subject(asked.arguments),
        server=server,
        model=said.owner.model,
        **said.where,
    )
    told.emit(event)
    for edit in edits:
        told.emit(edit)
    outcome = part.tool_call
    if outcome is not None and outcome.status == "error":
        error = outcome.error or ""
        _result(told, said, call, error, Verdict(Status.FAILED, Basis.FLAG), 0)


def response(told: Told, said: Said, part: Block) -> None:
    call, outcome = part.id, part.tool_result
    if not call or outcome is None:
        told.unrecognised(said, "a result without its call", str(part.type).encode())
        return
    asked = said.ask(call)
    value = outcome.value
    held = value if isinstance(value, dict) else {"content": value}
    text, images = _shown(held.get("content"))
    text = text if outcome.status != "error" else outcome.error or text
    verdict = judge(asked, outcome, held, text)
    _result(told, said, call, text, verdict, images)
    if asked is not None:
        applied = None if verdict.status is Status.UNKNOWN else verdict.status is Status.OK
        for edit in _edits(said, call, asked, applied, text):
            told.emit(edit)


def _result(told: Told, said: Said, call: str, text: str, verdict: Verdict, images: int) -> None:
    cut = _CUT.search(text) is not None
    result = ToolResult(
        key=said.key("result", call),
        call=call,
        text=text,
        status=verdict.status,
        basis=verdict.basis,
        exit_code=verdict.exit_code,
        size=None if cut else byte_size(text),
        truncated=cut,
        images=images,
        **said.where,
    )
    told.emit(result)


# --- what a call is -------------------------------------------------------------------------------


def _parts(name: str) -> tuple[str | None, str]:
    """The MCP server in a tool's name, if it is one's, and the tool's own name."""
    extension, separator, own = name.partition("__")
    if not separator:
        return None, name
    return (None, own) if extension in _OWN else (extension, own)


def tool_of(asked: Asked) -> Tool:
    server, own = _parts(asked.name)
    if server is not None:
        return Tool.MCP
    if own == _EDITOR:
        return _EDITOR_TOOLS.get(str(asked.arguments.get("command")), Tool.EDIT)
    return _TOOLS.get(own) or canonical_tool(own)


def _subject(arguments: dict[str, Any]) -> str:
    told = (arguments.get(name) for name in _ABOUT)
    return next((value for value in told if isinstance(value, str) and value), "")


# --- how it ended ---------------------------------------------------------------------------------


def _shown(content: Any) -> tuple[str, int]:
    """What the model was shown of a result: its text, and how many images."""
    texts, images = [], 0
    for item in content if isinstance(content, list) else []:
        if not isinstance(item, dict) or not _for_model(item):
            continue
        text = item.get("text")
        if isinstance(text, str):
            texts.append(text)
        images += item.get("type") == "image"
    return "\n".join(texts), images


def _for_model(item: dict[str, Any]) -> bool:
    notes = item.get("annotations")
    audience = notes.get("audience") if isinstance(notes, dict) else None
    return not isinstance(audience, list) or "assistant" in audience


def judge(asked: Asked | None, outcome: Outcome, held: dict[str, Any], text: str) -> Verdict:
    """How a call ended."""
    if text.startswith(_DECLINED):
        return Verdict(Status.UNKNOWN, Basis.DECLINED)
    failed = outcome.status == "error" or held.get("isError") is True
    if failed and _STOPPED in text[:_ENDING]:
        return Verdict(Status.UNKNOWN, Basis.INTERRUPTED)
    code = _exit_code(held, text)
    if code:
        return Verdict(Status.FAILED, Basis.EXIT_CODE, code)
    if failed:
        return Verdict(Status.FAILED, Basis.FLAG, code)
    if asked is not None and tool_of(asked) is Tool.SHELL:
        command = asked.arguments.get("command")
        if isinstance(command, str) and hides_status(command):
            return Verdict(Status.UNKNOWN, Basis.MASKED, code)
        if code is None and "isError" not in held:  # early versions told no failure at all
            return Verdict(Status.UNKNOWN, Basis.NONE)
    return Verdict(Status.OK, Basis.FLAG if code is None else Basis.EXIT_CODE, code)


def _exit_code(held: dict[str, Any], text: str) -> int | None:
    notes = held.get("structuredContent")
    code = notes.get("exit_code") if isinstance(notes, dict) else None
    if isinstance(code, int) and not isinstance(code, bool):
        return code
    found = _CODE.search(text[-_ENDING:])
    return int(found[1]) if found else None


# --- what it changed ------------------------------------------------------------------------------


class _Planned(NamedTuple):
    operation: Operation
    change: hunks.Change
    removed: bool = True
    """Whether the change knows what it removes."""


def _edits(
    said: Said, call: str, asked: Asked, applied: bool | None, result: str
) -> list[FileEdit]:
    path, planned = asked.arguments.get("path"), _planned(asked, result)
    if planned is None or not isinstance(path, str) or not path:
        return []
    made_by = said._replace(created=asked.created)
    edit = FileEdit(
        key=made_by.key("edit", call),
        call=call,
        path=from_root(path, said.owner.cwd),
        operation=planned.operation,
        hunks=planned.change.hunks,
        added=planned.change.added,
        removed=planned.change.removed if planned.removed else None,
        applied=applied,
        **said.where,
    )
    return [edit]


def _planned(asked: Asked, result: str) -> _Planned | None:
    _, own = _parts(asked.name)
    given = asked.arguments
    if own == "write":
        return _whole(_text(given, "content"), result)
    if own == "edit":
        change = hunks.replacement(_text(given, "before"), _text(given, "after"))
        return _Planned("update", change)
    return _by_editor(given, result) if own == _EDITOR else None


def _by_editor(given: dict[str, Any], result: str) -> _Planned | None:
    command, diff = given.get("command"), given.get("diff")
    if command == "write":
        return _whole(_text(given, "file_text"), result)
    if command == "str_replace" and isinstance(diff, str) and diff:
        return _Planned("update", patches.from_unified(diff))
    if command == "str_replace":
        change = hunks.replacement(_text(given, "old_str"), _text(given, "new_str"))
        return _Planned("update", change)
    if command == "insert":
        return _Planned("update", hunks.replacement("", _text(given, "new_str")))
    return None


def _whole(content: str, result: str) -> _Planned:
    """A whole file. That it is new is said in the result, and only of late."""
    added = hunks.line_count(content)
    change = hunks.Change([Hunk(1, "", content)] if content else [], added, 0)
    created = result.startswith("Created ")
    return _Planned("create" if created else "update", change, removed=created)


def _text(given: dict[str, Any], name: str) -> str:
    value = given.get(name)
    return value if isinstance(value, str) else ""
