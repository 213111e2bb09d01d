"""How calls ended.

A shell that fails says so in its last line, `Command exited with code 2`, and in nothing else; some
agents note the code beside the text. A tool that throws is marked as an error. OpenClaw does not
mark it: there the result has notes with `status: "error"`, or with an `error` in words.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from hansei.events.model import Basis, Status, Tool, ToolResult
from hansei.sources.families.records import value_of
from hansei.sources.families.shell import hides_status
from hansei.sources.families.streams import byte_size
from hansei.sources.families.tree import answers, changes
from hansei.sources.families.tree.records import images, words

if TYPE_CHECKING:
    from hansei.sources.families.tree.reader import Asked, Reader
    from hansei.sources.families.tree.records import Message

_CODE = re.compile(r"(?:Command|Process) exited with code (-?\d+)\.?[\"}\s]*$")
_ENDING = 200
"""Characters at the end of an output in which a program's last line is looked for."""
_STOPPED = ("Command aborted", "Operation aborted")
_BLOCKED = "Tool execution was blocked"
_SKIPPED = "Skipped due to queued user message"
_REPAIRED = "missing tool result in session history"
"""In a result that was made up later, so that the call has one."""


class Verdict(NamedTuple):
    """How a call ended, and how we know it."""

    status: Status
    basis: Basis
    exit_code: int | None = None


def take(reader: Reader, message: Message, stamp: str) -> None:
    """A result, and what it says of the edits of its call."""
    call = message.tool_call_id
    if not call:
        reader.unrecognised("a result without its call")
        return
    asked = reader.call(call)
    text, held = words(message.content), value_of(message.details)
    notes = held if isinstance(held, dict) else {}
    verdict = judge(reader, message, asked, text, notes)
    size, truncated = _size(text, notes)
    result = ToolResult(
        key=reader.key("result", stamp, call),
        call=call,
        text=text,
        status=verdict.status,
        basis=verdict.basis,
        exit_code=verdict.exit_code,
        size=size,
        truncated=truncated,
        images=images(message.content),
        **reader.where,
    )
    reader.emit(result)
    if asked is not None:
        applied = None if verdict.status is Status.UNKNOWN else verdict.status is Status.OK
        for edit in changes.edits(reader, asked, applied, notes.get("diff")):
            reader.emit(edit)


def judge(
    reader: Reader, message: Message, asked: Asked | None, text: str, notes: dict[str, Any]
) -> Verdict:
    """How a call ended."""
    name = message.tool_name or (asked.block.name if asked else None) or ""
    ending, failed = text[-_ENDING:], message.is_error or _complains(notes)
    if _REPAIRED in text[:_ENDING]:
        return Verdict(Status.UNKNOWN, Basis.NONE)
    if failed and text.startswith(_BLOCKED):
        return Verdict(Status.UNKNOWN, Basis.DECLINED)
    if failed and (_SKIPPED in text[:_ENDING] or ending.rstrip().endswith(_STOPPED)):
        return Verdict(Status.UNKNOWN, Basis.INTERRUPTED)
    code = _exit_code(ending, notes)
    if answers.tool_of(reader, name) is Tool.SHELL:
        arguments = (asked.block.arguments if asked else None) or {}
        return _of_shell(code, arguments.get("command"), failed=failed, running=_runs(notes))
    return Verdict(Status.FAILED if failed else Status.OK, Basis.FLAG)


def _complains(notes: dict[str, Any]) -> bool:
    """Whether a result says in its notes that the call came to nothing."""
    told = notes.get("error")
    return notes.get("status") in ("error", "failed") or (isinstance(told, str) and bool(told))


def _runs(notes: dict[str, Any]) -> bool:
    return notes.get("status") == "running"


def _exit_code(ending: str, notes: dict[str, Any]) -> int | None:
    code = notes.get("exitCode")
    if isinstance(code, int) and not isinstance(code, bool):
        return code
    told = notes.get("error")
    for text in (told if isinstance(told, str) else "", ending):
        found = _CODE.search(text)
        if found:
            return int(found[1])
    return None


def _of_shell(code: int | None, command: object, *, failed: bool, running: bool) -> Verdict:
    if code:
        return Verdict(Status.FAILED, Basis.EXIT_CODE, code)
    if failed:
        return Verdict(Status.FAILED, Basis.FLAG, code)
    if running:
        return Verdict(Status.UNKNOWN, Basis.NONE)
    if isinstance(command, str) and hides_status(command):
        return Verdict(Status.UNKNOWN, Basis.MASKED, code)
    return Verdict(Status.OK, Basis.FLAG if code is None else Basis.EXIT_CODE, code)


def _size(text: str, notes: dict[str, Any]) -> tuple[int | None, bool]:
    """Bytes of the whole output, None where a part is missing and nobody counted; and whether."""
    told = notes.get("truncation")
    if isinstance(told, dict) and told.get("truncated"):
        whole = told.get("totalBytes")
        return (whole if isinstance(whole, int) else None), True
    if notes.get("truncated") is True:
        return None, True
    return byte_size(text), False
