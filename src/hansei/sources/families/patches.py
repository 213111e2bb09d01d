"""Changes in the notation of `apply_patch`, and the unified diffs that are told of them.

A patch names files and lists, for each, the lines that go and the lines that come. It has no line
numbers: those are known only where a diff tells the same change.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import Literal, NamedTuple

from hansei.events.model import Hunk
from hansei.sources.families import edits

Operation = Literal["create", "update", "delete", "rename"]

_BEGIN, _END = "*** Begin Patch", "\n*** End Patch"
_FILE = re.compile(r"^\*\*\* (Add|Delete|Update) File: *(\S.*?)[ \t\r]*$", re.MULTILINE)
_MOVE = re.compile(r"\*\*\* Move to: *(\S.*?)[ \t\r]*$", re.MULTILINE)
_RUN = re.compile(r"(?:^[+-].*\n)+", re.MULTILINE)
_ADDED = re.compile(r"^\+(.*\n)", re.MULTILINE)
_REMOVED = re.compile(r"^-(.*\n)", re.MULTILINE)
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
    end = text.find(_END, start)
    body = (text[start:end] if end >= 0 else text[start:]) + "\n"
    headers = list(_FILE.finditer(body))
    ends = [header.start() for header in headers[1:]]
    return [
        _file_patch(header[1], header[2], body[header.end() + 1 : stop])
        for header, stop in zip_longest(headers, ends)
    ]


def _file_patch(word: str, path: str, below: str) -> FilePatch:
    operation = _OPERATIONS[word]
    if operation == "create":
        return FilePatch(path, operation, created("".join(_ADDED.findall(below))))
    if operation == "delete":
        return FilePatch(path, operation, None)
    moved = _MOVE.match(below)
    if moved:
        return FilePatch(path, "rename", _replacements(below), moved[1])
    return FilePatch(path, operation, _replacements(below))


def _replacements(below: str) -> edits.Change:
    """Each run of lines that go and come; where they stand in the file, nobody says."""
    hunks = []
    added = removed = 0
    for run in _RUN.findall(below):
        old, new = _REMOVED.findall(run), _ADDED.findall(run)
        removed, added = removed + len(old), added + len(new)
        hunks.append(Hunk(None, "".join(old), "".join(new)))
    return edits.Change(hunks, added, removed)


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
