"""A text with our block in it, taken apart and put together without losing a byte.

The block stands between two comments, each alone on its line; the first is the marker that keeps
hansei from learning from itself. In it every item begins with a comment that holds its name:

    <!-- hansei -->
    <!-- kfmt -->
    - In packages/api run `make types`; there is no `make typecheck`.
    <!-- /hansei -->

Comments cost tokens, so names are short; they have no vowels, so that no comment a person writes is
taken for one. Markers in fenced code are quotations and mean nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING

from hansei.events.model import MARKER

if TYPE_CHECKING:
    from collections.abc import Iterator

OPEN = MARKER
CLOSE = "<!-- /hansei -->"
LETTERS = "bcdfghjklmnpqrstvwxz"
SHORTEST, LONGEST = 4, 12
"""Letters of a name. Four tell 160,000 items apart; more are taken where two would be alike."""

_NAMED = re.compile(f"<!-- ([{LETTERS}]{{{SHORTEST},{LONGEST}}}) -->")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_BLANK = " \t\r\n"


class Broken(Exception):
    """Markers that do not make one block."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True)
class Item:
    """One thing in the block: the line with its name, and everything up to the next."""

    name: str
    head: str
    body: str


@dataclass(frozen=True)
class Block:
    """What stands between our markers, and the markers' own lines."""

    opening: str
    preface: str
    """What stands before the first item; a person wrote it."""
    items: tuple[Item, ...]
    closing: str

    def item(self, name: str) -> Item | None:
        return next((item for item in self.items if item.name == name), None)

    @property
    def empty(self) -> bool:
        return not self.items and not self.preface.strip()


@dataclass(frozen=True)
class Document:
    """A whole text: before the block, the block, after it."""

    before: str
    block: Block | None = None
    after: str = ""


def name_of(reference: str, length: int = SHORTEST) -> str:
    """The name an item gets in the file, the same on every machine."""
    number = int.from_bytes(blake2b(reference.encode(), digest_size=8).digest(), "big")
    letters = []
    for _ in range(length):
        number, letter = divmod(number, len(LETTERS))
        letters.append(LETTERS[letter])
    return "".join(letters)


def lines_of(text: str) -> list[str]:
    """Lines with their ends. Only a line feed ends one: what else does is part of the text."""
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + [line for line in lines[-1:] if line]


def newline_of(text: str) -> str:
    """The line end that most lines of a text have."""
    windows = text.count("\r\n")
    return "\r\n" if windows * 2 > text.count("\n") else "\n"


def _unfenced(text: str) -> Iterator[tuple[int, int, str]]:
    """Number, position and content of each line that is not in fenced code."""
    fence, position = "", 0
    for number, line in enumerate(lines_of(text), 1):
        fence, quoted = fenced(line, fence)
        if not quoted:
            yield number, position, line.rstrip(_BLANK)
        position += len(line)


def fenced(line: str, fence: str) -> tuple[str, bool]:
    """The fence that is open after a line, and whether the line belongs to fenced code."""
    found = _FENCE.match(line.rstrip(_BLANK))
    if not fence:
        return (found[1], True) if found else ("", False)
    closes = found and found[1].startswith(fence) and not line[found.end() :].strip(_BLANK)
    return ("" if closes else fence), True


def open_fence(text: str) -> int | None:
    """The line of a code fence that nothing closes; what is added after it would be code."""
    fence, opened = "", 0
    for number, line in enumerate(lines_of(text), 1):
        before = fence
        fence, _ = fenced(line, fence)
        if fence and not before:
            opened = number
    return opened if fence else None


def parse(text: str) -> Document:
    """Take a text apart; raises Broken where its markers do not make one block."""
    bounds = _bounds(text)
    if bounds is None:
        return Document(text)
    start, end = bounds
    lines = {position: line for _, position, line in _unfenced(text)}
    inner = _line_end(text, start)
    heads = [
        (position, found[1])
        for position, line in sorted(lines.items())
        if inner <= position < end and (found := _NAMED.fullmatch(line))
    ]
    stops = [*(position for position, _ in heads), end]
    items = tuple(
        Item(name, text[at : _line_end(text, at)], text[_line_end(text, at) : stop])
        for (at, name), stop in zip(heads, stops[1:], strict=True)
    )
    after = _line_end(text, end)
    block = Block(text[start:inner], text[inner : stops[0]], items, text[end:after])
    return Document(text[:start], block, text[after:])


def _line_end(text: str, position: int) -> int:
    found = text.find("\n", position)
    return len(text) if found < 0 else found + 1


def _bounds(text: str) -> tuple[int, int] | None:
    """Where the lines of our two markers begin."""
    start: tuple[int, int] | None = None
    end: tuple[int, int] | None = None
    for number, position, line in _unfenced(text):
        if line == OPEN:
            if start is not None:
                other = "inside" if end is None else "besides"
                raise Broken(number, f"a second {OPEN} {other} the block of line {start[0]}")
            start = number, position
        elif line == CLOSE:
            if start is None or end is not None:
                raise Broken(number, f"{CLOSE} without {OPEN} before it")
            end = number, position
    if start is None:
        return None
    if end is None:
        raise Broken(start[0], f"{OPEN} without {CLOSE} after it")
    return start[1], end[1]


def render(document: Document) -> str:
    """Put a text together again."""
    block = document.block
    if block is None:
        return document.before + document.after
    items = "".join(item.head + item.body for item in block.items)
    inside = block.opening + block.preface + items + block.closing
    return document.before + inside + document.after


def with_items(document: Document, items: tuple[Item, ...]) -> Document:
    assert document.block is not None
    return replace(document, block=replace(document.block, items=items))
