"""What came of a call in the database: how it ended, and what it printed.

No single field tells whether a call succeeded. A refused command and one that failed both say
`completed`; the refusal stands in the result, the failure in the exit code or beside it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from hansei.events.model import Basis, Status, Tool
from hansei.sources.agents.cursor.records import object_of
from hansei.sources.families.shell import hides_status

if TYPE_CHECKING:
    from hansei.sources.agents.cursor.records import ToolData

_ENDED = frozenset(("completed", "error", "cancelled", "canceled", "rejected", "skipped"))
_REFUSED = frozenset(("rejected", "skipped"))
_STOPPED = frozenset(("cancelled", "canceled"))
_REFUSAL = re.compile(r"reject|chose to skip|denied|declined", re.IGNORECASE)
_TEXTS = ("output", "contents", "content", "text", "message")
"""Where a result holds what it says, the usual place first."""


class Ending(NamedTuple):
    """How a call ended, how we know it, its exit code, and what it said."""

    status: Status
    basis: Basis
    exit_code: int | None
    text: str


def ending(data: ToolData, tool: Tool, command: str) -> Ending | None:
    """How a call ended; None while it runs."""
    result, beside = object_of(data.result), data.additional_data or {}
    if data.status not in _ENDED and not data.result and not data.error:
        return None
    complaint = _complaint(data.error) or _complaint(result.get("error"))
    text = _said(data.result, result) or complaint
    if _is_refused(data, result, beside, complaint):
        return Ending(Status.UNKNOWN, Basis.DECLINED, None, text)
    if data.status in _STOPPED or result.get("notInterrupted") is False:
        return Ending(Status.UNKNOWN, Basis.INTERRUPTED, None, text)
    code = _exit_code(result)
    if code is not None:
        status, basis = _by_code(code, masked=tool is Tool.SHELL and hides_status(command))
    else:
        status, basis = _by_words(data, tool, beside, complaint, command)
    return Ending(status, basis, code, text)


def _is_refused(
    data: ToolData, result: dict[str, Any], beside: dict[str, Any], complaint: str
) -> bool:
    return (
        result.get("rejected") is True
        or data.status in _REFUSED
        or beside.get("status") in _REFUSED
        or data.user_decision in _REFUSED
        or (data.status in _STOPPED and _REFUSAL.search(complaint) is not None)
    )


def _by_code(code: int, *, masked: bool) -> tuple[Status, Basis]:
    if code:
        return Status.FAILED, Basis.EXIT_CODE
    return (Status.UNKNOWN, Basis.MASKED) if masked else (Status.OK, Basis.EXIT_CODE)


def _by_words(
    data: ToolData, tool: Tool, beside: dict[str, Any], complaint: str, command: str
) -> tuple[Status, Basis]:
    """That a command is `completed` says only that it was run."""
    if data.status == "error" or beside.get("status") == "error" or complaint:
        return Status.FAILED, Basis.FLAG
    if tool is Tool.SHELL:
        if beside.get("status") != "success":
            return Status.UNKNOWN, Basis.NONE
        if hides_status(command):
            return Status.UNKNOWN, Basis.MASKED
        return Status.OK, Basis.FLAG
    if data.status == "completed":
        return Status.OK, Basis.FLAG
    return Status.UNKNOWN, Basis.NONE


def _exit_code(result: dict[str, Any]) -> int | None:
    """The later field first; the earlier one is there only where it is not zero."""
    for name in ("exitCodeV2", "exitCode"):
        code = result.get(name)
        if isinstance(code, int) and not isinstance(code, bool) and abs(code) < 2**32:
            return code
    return None


def _complaint(error: object) -> str:
    told = object_of(error)
    for name in ("clientVisibleErrorMessage", "modelVisibleErrorMessage", "message"):
        if isinstance(told.get(name), str):
            return str(told[name])
    return error if isinstance(error, str) and not told else ""


def _said(raw: object, result: dict[str, Any]) -> str:
    for name in _TEXTS:
        if isinstance(result.get(name), str):
            return str(result[name])
    if isinstance(raw, str):
        return raw
    return msgspec.json.encode(raw).decode() if raw else ""
