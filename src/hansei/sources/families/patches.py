"""Changes in the notation of `apply_patch`, and the unified diffs that are told of them.

A patch names files and lists, for each, the lines that go and the lines that come. It has no line
numbers: those are known only where a diff tells the same change.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, Literal, NamedTuple

from hansei.events.model import Hunk
from hansei.sources.families import edits

if TYPE_CHECKING:
    from collections.abc import Iterable

Operation = Literal["create", "update", "delete", "rename"]

_BEGIN, _END, _MOVE = "*** Begin Patch", "End Patch", "Move to: "
_PART = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_APPLIED = re.compile(
    r"(?:^|\n|&&|;)\s*(?:cd\s+(?P<folder>'[^'\n]*'|\"[^\"\n]*\"|[^\s;&]+)\s*(?:&&|;|\n)\s*)?"
    r"(?:apply_?patch)\b"
)
_OPERATIONS: dict[str, Operation] = {"Add": "create", "Delete": "delete", "Update": "update"}
_NOTHING = edits.Change([], 0, 0)


class FilePatch(NamedTuple):
    """What a patch does to one file."""

    path: str
    operation: Operation
    change: edits.Change | None
    """None for a deleted file: what it held, a patch does not say."""
    moved_to: str | None = None


class Applied(NamedTuple):
    """A patch inside a shell command, and the folder the command changed to before."""

    patch: str
    folder: str | None


def parse(text: str) -> list[FilePatch]:
    """The files a patch touches, in its order; none if it is no patch."""
    start = text.find(_BEGIN)
    if start < 0:
        return []
    found: list[FilePatch] = []
    word = path = ""
    moved_to, body = None, ""
    for mark in f"{text[start + len(_BEGIN) :]}\n".split("\n*** ")[1:]:
        head, _, below = mark.partition("\n")
        verb, named, rest = head.partition(" File: ")
        if named and verb in _OPERATIONS:
            if word:
                found.append(_file_patch(word, path, moved_to, body))
            word, path, moved_to, body = verb, rest.strip(), None, below
        elif head.startswith(_END):
            break
        else:
            moved_to = head.removeprefix(_MOVE).strip() if head.startswith(_MOVE) else moved_to
            body = f"{body}\n\n{below}" if body else below
    if word:
        found.append(_file_patch(word, path, moved_to, body))
    return found


def _file_patch(word: str, path: str, moved_to: str | None, body: str) -> FilePatch:
    operation = _OPERATIONS[word]
    lines = body.split("\n")
    if operation == "create":
        return FilePatch(
            path, operation, created(_whole(line for line in lines if line[:1] == "+"))
        )
    if operation == "delete":
        return FilePatch(path, operation, None)
    return FilePatch(path, "rename" if moved_to else operation, _replacements(lines), moved_to)


def _whole(marked: Iterable[str]) -> str:
    """Lines without their marks, each with its newline."""
    return "".join([f"{line[1:]}\n" for line in marked])


def _replacements(lines: list[str]) -> edits.Change:
    """Each run of lines that go and come; where they stand in the file, nobody says."""
    hunks = []
    added = removed = 0
    for is_change, run in groupby(lines, _is_change):
        if is_change:
            changed = list(run)
            new = [line for line in changed if line[0] == "+"]
            old = [line for line in changed if line[0] == "-"]
            removed, added = removed + len(old), added + len(new)
            hunks.append(Hunk(None, _whole(old), _whole(new)))
    return edits.Change(hunks, added, removed)


def _is_change(line: str) -> bool:
    return line.startswith(("+", "-"))


def created(content: str) -> edits.Change:
    """A new file with this content."""
    return edits.replacement("", content, 1) if content else _NOTHING


def deleted(content: str) -> edits.Change:
    """The end of a file that had this content."""
    return edits.replacement(content, "", 1) if content else _NOTHING


def from_unified(diff: str) -> edits.Change:
    """A unified diff of one file, with line numbers."""
    parts: list[tuple[int | None, list[str]]] = []
    for line in diff.split("\n"):
        header = _PART.match(line)
        if header:
            parts.append((int(header[1]), []))
        elif parts:
            parts[-1][1].append(line)
    return edits.from_diff(parts)


def in_command(command: str) -> Applied | None:
    """The patch that a shell command hands to `apply_patch`."""
    start = command.find(_BEGIN)
    if start < 0:
        return None
    found = _APPLIED.search(command[:start])
    if found is None:
        return None
    folder = found["folder"]
    return Applied(command[start:], folder.strip("'\"") if folder else None)
