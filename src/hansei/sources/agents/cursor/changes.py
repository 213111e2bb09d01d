"""Changes to files, from what a call was given and from what came of it."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, NamedTuple

from hansei.events.model import Hunk
from hansei.sources.families import edits, patches

if TYPE_CHECKING:
    from collections.abc import Callable

    from hansei.sources.families.patches import Operation

MOST_COMPARED = 2_000
"""Lines up to which two states of a file are compared line by line: more takes seconds."""

_PATHS = (
    "path", "file_path", "target_file", "targetFile", "relativeWorkspacePath",
    "relative_workspace_path", "target_notebook",
)  # fmt: skip
_CONTENTS = ("contents", "content", "streamingContent", "file_text")
_DELETES = frozenset(("delete", "delete_file"))


class Edit(NamedTuple):
    """What a call does to one file."""

    path: str
    operation: Operation
    change: edits.Change | None
    moved_to: str | None = None
    whole: bool = False
    """The file was written as a whole: what it held before, if it was there, nobody says."""


def edits_of(
    name: str,
    arguments: dict[str, Any],
    result: dict[str, Any],
    content: Callable[[str], str | None],
) -> list[Edit]:
    """The files a call changes. `content` gives a kept state of a file by its id."""
    patch = arguments.get("patch") or arguments.get("input")
    if isinstance(patch, str) and (found := patches.parse(patch)):
        return [Edit(*part) for part in found]
    path = _text(arguments, _PATHS)
    if not path:
        return []
    if name.lower() in _DELETES:
        return [Edit(path, "delete", None)]
    change = _recorded(result, content)
    if change is not None:
        return [Edit(path, *change)]
    old, new = _string(arguments, "old_string"), _string(arguments, "new_string")
    if old is not None and new is not None:
        operation: Operation = "update" if old else "create"
        return [Edit(path, operation, edits.replacement(old, new))]
    written = _text(arguments, _CONTENTS)
    if written is None:
        return [Edit(path, "update", None)]
    return [Edit(path, "update", edits.replacement("", written, 1), whole=True)]


def _recorded(
    result: dict[str, Any], content: Callable[[str], str | None]
) -> tuple[Operation, edits.Change] | None:
    """The change as the program recorded it: a diff, or the file before and after."""
    diff = result.get("diff")
    chunks = diff.get("chunks") if isinstance(diff, dict) else None
    listed = chunks if isinstance(chunks, list) else []
    parts = [part for chunk in listed if (part := _chunk(chunk))]
    if parts:
        return "update", edits.from_diff(parts)
    before, after = result.get("beforeContentId"), result.get("afterContentId")
    if not isinstance(after, str):
        return None
    new = content(after)
    old = content(before) if isinstance(before, str) and before else ""
    if new is None or old is None:
        return None
    return ("update" if before else "create"), compared(old, new)


def _chunk(chunk: object) -> tuple[int | None, list[str]] | None:
    if not isinstance(chunk, dict) or not isinstance(chunk.get("diffString"), str):
        return None
    start = chunk.get("newStart")
    return start if isinstance(start, int) else None, chunk["diffString"].split("\n")


def compared(old: str, new: str) -> edits.Change:
    """Two states of a file as the runs of lines in which they differ."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    top = 0
    while top < min(len(before), len(after)) and before[top] == after[top]:
        top += 1
    end = 0
    while end < min(len(before), len(after)) - top and before[-1 - end] == after[-1 - end]:
        end += 1
    gone, come = before[top : len(before) - end], after[top : len(after) - end]
    hunks = [
        Hunk(top + first + 1, "".join(gone[i:j]), "".join(come[first:last]))
        for i, j, first, last in _runs(gone, come)
    ]
    added = sum(edits.line_count(hunk.new) for hunk in hunks)
    removed = sum(edits.line_count(hunk.old) for hunk in hunks)
    return edits.Change(hunks, added, removed)


def _runs(gone: list[str], come: list[str]) -> list[tuple[int, int, int, int]]:
    if not gone and not come:
        return []
    if not gone or not come or max(len(gone), len(come)) > MOST_COMPARED:
        return [(0, len(gone), 0, len(come))]
    matcher = SequenceMatcher(None, gone, come, autojunk=False)
    return [(i, j, a, b) for tag, i, j, a, b in matcher.get_opcodes() if tag != "equal"]


def _string(arguments: dict[str, Any], name: str) -> str | None:
    value = arguments.get(name)
    return value if isinstance(value, str) else None


def _text(arguments: dict[str, Any], names: tuple[str, ...]) -> str | None:
    values = (arguments.get(name) for name in names)
    return next((value for value in values if isinstance(value, str)), None)
