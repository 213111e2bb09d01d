"""What a tool answered: how the call ended, its whole output, the file it changed.

A result is a text for the model, a flag, and beside them the program's own notes (`toolUseResult`),
whose shape depends on the tool. Everything here is a function of those three.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from hansei.events.model import Basis, Status
from hansei.sources.families import edits
from hansei.sources.families.anthropic import Count
from hansei.sources.families.records import value_of
from hansei.sources.families.streams import byte_size

SPILLED_BYTES = 16 * 1024 * 1024
"""The largest output we read back from the file it was moved to."""
SHORTENED_FROM = 20_000
"""No output below this many characters has been shortened."""
PREVIEW = 4_000
"""The place of a moved output is named within the beginning that is still shown."""

_EXIT_CODE = re.compile(r"(?:Error: )?Exit code (-?\d{1,9})\b")
_REFUSED = re.compile(
    r"The user doesn't want to (?:proceed|take this action)"
    r"|Permission to use .{1,200}? (?:has been|was) (?:auto-)?denied"
    r"|Claude requested permissions .{1,2000}? haven't granted"
    r"|(?:PreToolUse|PermissionRequest)(?::\S+)? hook"
    r"|No tools needed for suggestion$|Warmup$",
    re.DOTALL,
)
_STOPPED = re.compile(
    r"(?:Exit code \d+\n)?\[Request interrupted"
    r"|(?:<tool_use_error>)?(?:Sibling tool call errored|Cancelled: parallel)"
)
_SHORTENED = re.compile(r"\[\d+ (?:lines|characters) truncated\]")
_MOVED = "<persisted-output>"
_MOVED_TO = re.compile(r"(?:output|result) saved to:? ([^\n]+)", re.IGNORECASE)


class Patch(msgspec.Struct, rename="camel", gc=False):
    new_start: int | None = None
    lines: list[str] = []


class Task(msgspec.Struct, rename="camel", gc=False):
    exit_code: int | None = None


class ResultNotes(msgspec.Struct, rename="camel", gc=False):
    """What the program notes beside a result. Large texts stay undecoded until they are needed."""

    type: str | None = None
    file_path: str | None = None
    old_string: msgspec.Raw = msgspec.Raw()
    new_string: msgspec.Raw = msgspec.Raw()
    original_file: msgspec.Raw = msgspec.Raw()
    structured_patch: list[Patch] | None = None
    content: msgspec.Raw = msgspec.Raw()
    stdout: msgspec.Raw = msgspec.Raw()
    stderr: msgspec.Raw = msgspec.Raw()
    interrupted: bool | None = None
    status: str | None = None
    agent_id: str | None = None
    background_task_id: str | None = None
    persisted_output_path: str | None = None
    persisted_output_size: Count | None = None
    exit_code: int | None = None
    task: Task | None = None
    search_count: Count | None = None
    notebook_path: str | None = msgspec.field(default=None, name="notebook_path")
    old_source: str | None = msgspec.field(default=None, name="old_source")
    new_source: str | None = msgspec.field(default=None, name="new_source")


NO_NOTES = ResultNotes()


class Verdict(NamedTuple):
    """How a call ended, how we know it, and its exit code."""

    status: Status
    basis: Basis
    exit_code: int | None = None


def verdict(
    text: str, notes: ResultNotes, *, failed: bool, denial: str | None, hidden: Basis | None
) -> Verdict:
    """How a call ended.

    `failed` is the agent's flag, `denial` its word for a call that never ran, and `hidden` says why
    a shell call without the flag need not have succeeded.
    """
    if denial:
        stopped = denial in ("interrupted", "cancelled")
        return Verdict(Status.UNKNOWN, Basis.INTERRUPTED if stopped else Basis.DECLINED)
    if notes.interrupted or _STOPPED.match(text):
        return Verdict(Status.UNKNOWN, Basis.INTERRUPTED)
    if failed:
        return _failure(text)
    code = notes.task.exit_code if notes.task else notes.exit_code
    if code is not None:
        return Verdict(Status.FAILED if code else Status.OK, Basis.EXIT_CODE, code)
    if notes.background_task_id or notes.status in ("async_launched", "running"):
        return Verdict(Status.UNKNOWN, Basis.NONE)
    return Verdict(Status.UNKNOWN, hidden) if hidden else Verdict(Status.OK, Basis.FLAG)


def _failure(text: str) -> Verdict:
    if _REFUSED.match(text):
        return Verdict(Status.UNKNOWN, Basis.DECLINED)
    code = _EXIT_CODE.match(text)
    if code is None:
        return Verdict(Status.FAILED, Basis.FLAG)
    return Verdict(Status.FAILED, Basis.EXIT_CODE, int(code[1]))


class Output(NamedTuple):
    """A result's text, whole also where the model was shown only its beginning."""

    text: str
    size: int | None
    """Bytes of the whole; None where only a part is left."""
    truncated: bool = False
    shown: int | None = None
    """Bytes the model was shown, where those are not the text."""


def output(text: str, notes: ResultNotes, folder: Callable[[], Path]) -> Output:
    """The output of a call; `folder` says where its session moves large outputs to."""
    recorded = notes.persisted_output_path
    if not recorded and not text.startswith(_MOVED):
        if len(text) >= SHORTENED_FROM and _SHORTENED.search(text):
            return Output(text, None, truncated=True)
        return Output(text, byte_size(text))
    whole = _printed(notes)
    if len(whole) <= len(text):
        named = _MOVED_TO.search(text[:PREVIEW])
        whole = spilled(folder(), recorded or (named[1] if named else "")) or ""
    if whole:
        return Output(whole, byte_size(whole), shown=byte_size(text))
    return Output(text, notes.persisted_output_size, truncated=True)


def _printed(notes: ResultNotes) -> str:
    parts = (value_of(notes.stdout), value_of(notes.stderr))
    return "\n".join(part for part in parts if isinstance(part, str) and part)


def spilled(folder: Path, recorded: str) -> str | None:
    """An output that was moved to a file, if it lies in the one folder for such files.

    Only the name of the recorded path is used: the rest is often that of another machine.
    """
    name = re.split(r"[\\/]", recorded.strip())[-1]
    try:
        path = (folder / name).resolve(strict=True)
        inside = path.is_relative_to(folder.resolve()) and path.is_file()
        if inside and path.stat().st_size <= SPILLED_BYTES:
            return path.read_text("utf-8", "replace")
    except (OSError, ValueError, RuntimeError):  # gone, a name no file can have, a link to itself
        pass
    return None


class Edited(NamedTuple):
    """A change to a file that a call made."""

    path: str
    operation: Literal["create", "update"]
    change: edits.Change


def edited(notes: ResultNotes) -> Edited | None:
    """The edit a call made, as far as its notes tell of one."""
    path = notes.file_path or notes.notebook_path
    if not path:
        return None
    change = _change(notes)
    if change is None:
        return None
    return Edited(path, "create" if _is_new(notes) else "update", change)


def _is_new(notes: ResultNotes) -> bool:
    """Whether the file was not there before.

    The notes of an edit have no type. Without the file's earlier text it may be new, or the text
    was left out: an edit that replaces something shows that it was there.
    """
    if notes.type is not None or bytes(notes.original_file) != b"null":
        return notes.type == "create"
    return bool(value_of(notes.old_string) == "")


def _change(notes: ResultNotes) -> edits.Change | None:
    if notes.structured_patch:
        return edits.from_diff((part.new_start, part.lines) for part in notes.structured_patch)
    if notes.type == "create":
        content = value_of(notes.content)
        return edits.replacement("", content, 1) if isinstance(content, str) else None
    if notes.new_source is not None:
        return edits.replacement(notes.old_source or "", notes.new_source)
    old, new = value_of(notes.old_string), value_of(notes.new_string)
    if isinstance(old, str) and isinstance(new, str):
        return edits.replacement(old, new)
    return edits.Change([], 0, 0) if notes.type == "update" else None
