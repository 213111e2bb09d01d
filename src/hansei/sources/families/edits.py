"""Changes to files as hunks: runs of lines that were replaced."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from hansei.events.model import Hunk

if TYPE_CHECKING:
    from collections.abc import Iterable

_ABSOLUTE = re.compile(r"[/~]|[A-Za-z]:[\\/]|\\\\")


class Change(NamedTuple):
    """Hunks with the lines they add and remove."""

    hunks: list[Hunk]
    added: int
    removed: int


def from_diff(parts: Iterable[tuple[int | None, list[str]]]) -> Change:
    """A unified diff: for each part its first line in the new file and its marked lines."""
    hunks: list[Hunk] = []
    added = removed = 0
    for start, lines in parts:
        number = start
        old: list[str] = []
        new: list[str] = []
        for line in (*lines, " "):
            mark, text = line[:1], line[1:]
            if mark == "-":
                old.append(text)
            elif mark == "+":
                new.append(text)
            elif mark != "\\":
                if old or new:
                    hunks.append(Hunk(number, _whole(old), _whole(new)))
                    added, removed = added + len(new), removed + len(old)
                    number = None if number is None else number + len(new)
                    old, new = [], []
                number = None if number is None else number + 1
    return Change(hunks, added, removed)


def replacement(old: str, new: str, start: int | None = None) -> Change:
    """One text put in the place of another; an empty old text is a new file or an insertion."""
    return Change([Hunk(start, old, new)], line_count(new), line_count(old))


def line_count(text: str) -> int:
    """Lines in a text, a last one without its newline included."""
    return text.count("\n") + (not text.endswith("\n")) if text else 0


def from_root(path: str, folder: str | None) -> str:
    """A path as it is from the root, if we know from where it was written."""
    if not folder or _ABSOLUTE.match(path):
        return path
    separator = "\\" if "\\" in folder and "/" not in folder else "/"
    return f"{folder.rstrip('/' + separator)}{separator}{path.removeprefix('./')}"


def _whole(lines: list[str]) -> str:
    """Each line with its newline, so that an empty line is not the same as none."""
    return "".join(f"{line}\n" for line in lines)
