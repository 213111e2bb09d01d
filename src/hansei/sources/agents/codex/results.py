"""What a tool answered: how the call ended, and what it printed.

An answer is one text for the model. How a command ended stands in its first lines, in one of
several shapes that came one after the other; refusals and the program's own complaints are known by
their words. Later versions also tell the end of a call apart from its answer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from hansei.events.model import Basis, Status
from hansei.sources.families.records import FAILURES
from hansei.sources.families.streams import byte_size

if TYPE_CHECKING:
    from hansei.sources.agents.codex.records import Output
    from hansei.sources.agents.codex.thread import Note

HEAD_CHARACTERS = 600
"""The lines before an output are shorter than this."""

_HEADS = ("Chunk ID: ", "Exit code: ", "Wall time: ")
_OUTPUT = "Output:\n"
_CODE = re.compile(r"(?:^|\n)(?:Exit code: |Process exited with code )(-?\d{1,9})\n")
_RUNNING = "\nProcess running with session ID "
_STOPPED = re.compile(r"(?:Wall time: [^\n]*\n)?aborted(?: by user)?(?: after [\d.]+s)?\s*$")
_REFUSED = re.compile(
    r"(?:exec command |patch |command |MCP tool call |`[^\n]{1,2000}` )?rejected(?::| by )"
    r"|user (?:rejected|cancelled|denied) |Rejected\(|This action was rejected"
    r"|(?:Command|Tool call) blocked by PreToolUse hook: "
    r"|exec_command failed(?::| for `).{1,4000}?Rejected\(",
    re.DOTALL,
)
_FAILED = re.compile(
    r"failed in sandbox|execution error: |sandbox error: |exec_command failed|write_stdin failed"
    r"|unsupported (?:custom tool )?call|apply_patch verification failed"
    r"|error: (?:Failed to |[Ii]nvalid )|failed to parse function arguments"
    r"|unable to (?:locate|process|read) |tool call error|command timed out"
    r"|Full-history forked agents|invalid agent id|agent with id \S+ not found"
)
_FAILED_CODE = re.compile(r"failed in sandbox \S+ with exit code (-?\d{1,9})")
_FINE = re.compile(
    r"Plan updated|Success\. Updated|attached local image"
    r'|\{"(?:agent_id|task_name|status|previous_status|submission_id|answers|permissions)"'
)
_CUT = re.compile(r"…\d+ (?:tokens|chars|lines) truncated…")
_LINES_LEFT_OUT = "\n[... omitted "
_FITTED = "\n[... output truncated to fit "
_LONG = 4_000
"""Characters an output has at least of which whole lines were left out."""


class _Metadata(msgspec.Struct):
    exit_code: int | None = None


class _Wrapped(msgspec.Struct):
    output: str
    metadata: _Metadata | None = None


class Answer(NamedTuple):
    """An output without the lines around it, and what those lines said."""

    text: str
    around: int = 0
    """Bytes of the lines around it, which the model was shown too."""
    exit_code: int | None = None
    running: bool = False
    success: bool | None = None
    images: int = 0


class Verdict(NamedTuple):
    """How a call ended, how we know it, and its exit code."""

    status: Status
    basis: Basis
    exit_code: int | None = None


_decode_wrapped = msgspec.json.Decoder(_Wrapped).decode


def answer(output: Output) -> Answer:
    """An answer taken apart."""
    if isinstance(output, str):
        return _unwrap(output)
    if isinstance(output, dict):
        content, success = output.get("content"), output.get("success")
        told = _unwrap(content if isinstance(content, str) else "")
        return told._replace(success=success if isinstance(success, bool) else None)
    parts = output or []
    text = "\n".join(part.text for part in parts if part.text)
    images = sum(part.type == "input_image" for part in parts)
    return _unwrap(text)._replace(images=images)


def _unwrap(text: str) -> Answer:
    if text.startswith('{"output":'):
        try:
            wrapped = _decode_wrapped(text)
        except FAILURES:
            return Answer(text)
        code = wrapped.metadata.exit_code if wrapped.metadata else None
        return Answer(wrapped.output, byte_size(text) - byte_size(wrapped.output), code)
    end = text.find(_OUTPUT, 0, HEAD_CHARACTERS) if text.startswith(_HEADS) else -1
    if end < 0:
        return Answer(text)
    head, rest = text[:end], text[end + len(_OUTPUT) :]
    # A patch inside a command has a head of its own.
    inner = _unwrap(rest) if rest.startswith("Exit code: ") else Answer(rest)
    told = _CODE.search(head)
    code = int(told[1]) if told else inner.exit_code
    around = byte_size(head) + len(_OUTPUT) + inner.around
    return Answer(inner.text, around, code, _RUNNING in head)


def verdict(told: Answer, note: Note | None, *, masked: bool) -> Verdict:
    """How a call ended, by its answer and by what was told of its end before."""
    text, status = told.text, note.status if note else None
    if status == "declined":
        return Verdict(Status.UNKNOWN, Basis.DECLINED)
    if told.exit_code is not None:
        return _by_code(told.exit_code, masked=masked)
    if _STOPPED.match(text):
        return Verdict(Status.UNKNOWN, Basis.INTERRUPTED)
    if _REFUSED.match(text):
        return Verdict(Status.UNKNOWN, Basis.DECLINED)
    failed = _FAILED_CODE.match(text)
    code = int(failed[1]) if failed else note.exit_code if note else None
    if code is not None:
        return _by_code(code, masked=masked)
    if told.running:
        return Verdict(Status.UNKNOWN, Basis.NONE)
    return _by_words(told, status)


def _by_words(told: Answer, status: str | None) -> Verdict:
    if told.success is not None:
        return Verdict(Status.OK if told.success else Status.FAILED, Basis.FLAG)
    if status == "failed" or _FAILED.match(told.text):
        return Verdict(Status.FAILED, Basis.FLAG)
    if status == "completed" or told.images or _FINE.match(told.text):
        return Verdict(Status.OK, Basis.FLAG)
    return Verdict(Status.UNKNOWN, Basis.NONE)


def _by_code(code: int, *, masked: bool) -> Verdict:
    if code:
        return Verdict(Status.FAILED, Basis.EXIT_CODE, code)
    if masked:
        return Verdict(Status.UNKNOWN, Basis.MASKED, code)
    return Verdict(Status.OK, Basis.EXIT_CODE, code)


def is_cut(text: str) -> bool:
    """Whether the middle of an output was left out."""
    if len(text) >= _LONG and (_LINES_LEFT_OUT in text or _FITTED in text):
        return True
    return "truncated…" in text and _CUT.search(text) is not None
