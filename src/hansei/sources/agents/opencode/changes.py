"""Changes to files: what a call was asked to change, and what it then says it has changed.

Both tell of the same edits. The second has the numbers of lines, so it is used where it is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hansei.events.model import FileEdit, Hunk
from hansei.sources.agents.opencode.records import FileDiff, Metadata
from hansei.sources.families import edits as hunks
from hansei.sources.families import patches
from hansei.sources.families.edits import from_root

if TYPE_CHECKING:
    from collections.abc import Callable

    from hansei.sources.agents.opencode.reader import Said
    from hansei.sources.agents.opencode.records import State
    from hansei.sources.families.patches import Operation

_APPLIED = {"completed": True, "error": False}
_OPERATIONS: dict[str, Operation] = {"add": "create", "delete": "delete", "move": "rename"}


class Planned(NamedTuple):
    """One file that a call changes."""

    path: str
    operation: Operation
    change: hunks.Change | None = None
    removed: bool = True
    """Whether the change knows what it removes."""
    moved_to: str | None = None


def edits(said: Said, call: str, name: str, given: dict[str, Any], state: State) -> list[FileEdit]:
    """The files a call changes; whether it did is known once it has ended."""
    plan = _TOOLS.get(name)
    if plan is None:
        return []
    notes = state.metadata or Metadata()
    cwd = said.where["cwd"]
    return [
        FileEdit(
            key=said.key(f"edit{number}", call),
            call=call,
            path=from_root(planned.path, cwd),
            operation=planned.operation,
            hunks=planned.change.hunks if planned.change else [],
            added=planned.change.added if planned.change else None,
            removed=planned.change.removed if planned.change and planned.removed else None,
            applied=_APPLIED.get(state.status or ""),
            moved_to=from_root(planned.moved_to, cwd) if planned.moved_to else None,
            **said.where,
        )
        for number, planned in enumerate(plan(given, notes))
        if planned.path
    ]


def _edit(given: dict[str, Any], notes: Metadata) -> list[Planned]:
    old, new = _text(given, "oldString"), _text(given, "newString")
    told = notes.diff or (notes.filediff.patch if notes.filediff else None)
    change = patches.from_unified(told) if told else hunks.replacement(old, new)
    operation: Operation = "update" if old or change.removed else "create"
    return [Planned(_text(given, "filePath"), operation, change)]


def _write(given: dict[str, Any], notes: Metadata) -> list[Planned]:
    path, content = _text(given, "filePath"), _text(given, "content")
    if notes.diff:
        change = patches.from_unified(notes.diff)
        return [Planned(path, "update" if notes.exists else "create", change)]
    if notes.exists is False:
        return [Planned(path, "create", patches.created(content))]
    # What was there before is not told.
    whole = hunks.Change([Hunk(1, "", content)] if content else [], hunks.line_count(content), 0)
    return [Planned(path, "update", whole, removed=False)]


def _several(given: dict[str, Any], notes: Metadata) -> list[Planned]:
    """Several replacements in one file."""
    if notes.diff or notes.filediff:
        return _edit({**given, "oldString": "known by its diff"}, notes)
    parts = given.get("edits")
    found = [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    changes = [
        hunks.replacement(_text(part, "oldString"), _text(part, "newString")) for part in found
    ]
    whole = hunks.Change(
        [hunk for change in changes for hunk in change.hunks],
        sum(change.added for change in changes),
        sum(change.removed for change in changes),
    )
    return [Planned(_text(given, "filePath"), "update", whole)]


def _patch(given: dict[str, Any], notes: Metadata) -> list[Planned]:
    if notes.files:
        return [_told(file) for file in notes.files]
    return [
        Planned(part.path, part.operation, part.change, moved_to=part.moved_to)
        for part in patches.parse(_text(given, "patchText"))
    ]


def _told(file: FileDiff) -> Planned:
    diff = file.patch or file.diff
    operation = _OPERATIONS.get(file.type or "", "update")
    change = patches.from_unified(diff) if diff else None
    return Planned(file.filePath or file.file or "", operation, change, moved_to=file.movePath)


def _text(given: dict[str, Any], name: str) -> str:
    value = given.get(name)
    return value if isinstance(value, str) else ""


_TOOLS: dict[str, Callable[[dict[str, Any], Metadata], list[Planned]]] = {
    "edit": _edit,
    "write": _write,
    "multiedit": _several,
    "apply_patch": _patch,
    "patch": _patch,
}
