"""Changes to files: what a call was asked to change, and the diff its result may have."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from hansei.events.model import FileEdit, Hunk
from hansei.sources.families import edits as hunks
from hansei.sources.families import patches
from hansei.sources.families.edits import from_root

if TYPE_CHECKING:
    from collections.abc import Callable

    from hansei.sources.families.patches import Operation
    from hansei.sources.families.tree.reader import Asked, Reader

_PATHS = ("path", "file_path", "filePath")
_OLD = ("oldText", "old_string", "oldString")
_NEW = ("newText", "new_string", "newString")
_NUMBERED = re.compile(r"([ +-]) *(\d+) ?(.*)$")


class Planned(NamedTuple):
    """One file that a call changes."""

    path: str
    operation: Operation
    change: hunks.Change | None
    removed: bool = True
    """Whether the change knows what it removes."""
    moved_to: str | None = None


def edits(reader: Reader, asked: Asked, applied: bool | None, diff: object) -> list[FileEdit]:
    """The files a call changes. `diff` is what its result says of them."""
    plan = _TOOLS.get(asked.block.name or "")
    if plan is None:
        return []
    told = numbered_diff(diff) if isinstance(diff, str) else None
    cwd, call = reader.cwd, asked.block.id or ""
    return [
        FileEdit(
            key=reader.key("edit", asked.stamp, call, str(number)),
            call=call,
            path=from_root(planned.path, cwd),
            operation=planned.operation,
            hunks=planned.change.hunks if planned.change else [],
            added=planned.change.added if planned.change else None,
            removed=planned.change.removed if planned.change and planned.removed else None,
            applied=applied,
            moved_to=from_root(planned.moved_to, cwd) if planned.moved_to else None,
            **reader.where,
        )
        for number, planned in enumerate(plan(asked.block.arguments or {}, told))
        if planned.path
    ]


def _edit(given: dict[str, Any], told: hunks.Change | None) -> list[Planned]:
    """One replacement, or several in one file."""
    several = given.get("edits")
    parts = several if isinstance(several, list) else [given]
    made = [
        hunks.replacement(_text(part, _OLD), _text(part, _NEW))
        for part in parts
        if isinstance(part, dict)
    ]
    whole = hunks.Change(
        [hunk for change in made for hunk in change.hunks],
        sum(change.added for change in made),
        sum(change.removed for change in made),
    )
    return [Planned(_text(given, _PATHS), "update", told or whole)]


def _write(given: dict[str, Any], _: hunks.Change | None) -> list[Planned]:
    """A whole file. Whether there was one before, and what was in it, is not told."""
    content = _text(given, ("content",))
    change = hunks.Change([Hunk(1, "", content)] if content else [], hunks.line_count(content), 0)
    return [Planned(_text(given, _PATHS), "update", change, removed=False)]


def _patch(given: dict[str, Any], _: hunks.Change | None) -> list[Planned]:
    return [
        Planned(part.path, part.operation, part.change, moved_to=part.moved_to)
        for part in patches.parse(_text(given, ("input", "patch")))
    ]


def _text(given: dict[str, Any], names: tuple[str, ...]) -> str:
    told = (given.get(name) for name in names)
    return next((value for value in told if isinstance(value, str)), "")


_TOOLS: dict[str, Callable[[dict[str, Any], hunks.Change | None], list[Planned]]] = {
    "edit": _edit,
    "write": _write,
    "apply_patch": _patch,
}


def numbered_diff(text: str) -> hunks.Change | None:
    """A diff whose lines have a mark and a number; None if it is none.

    Lines that stay carry their number in the old file, so what was added and removed before them
    moves them to where they are in the new one. Three dots stand for lines left out.
    """
    parts: list[tuple[int | None, list[str]]] = []
    moved, together = 0, False
    for line in text.split("\n"):
        found = _NUMBERED.match(line)
        if found is None:
            together = False
            continue
        mark, number = found[1], int(found[2])
        if not together:
            parts.append((number if mark == "+" else number + moved, []))
            together = True
        parts[-1][1].append(mark + found[3])
        moved += (mark == "+") - (mark == "-")
    change = hunks.from_diff(parts)
    return change if change.hunks else None
