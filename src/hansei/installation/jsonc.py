"""JSON as people keep it, with comments and trailing commas, edited without rewriting it.

A document is parsed into values that know where they stand in the text. An edit changes the text
at those places and nowhere else, so that whatever a person wrote stays as it is.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn

SPACE = re.compile(r"(?:[ \t\r\n]|//[^\r\n]*|/\*(?s:.)*?\*/)*")
"""What may stand between two tokens."""
STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
ATOM = re.compile(r"-?[0-9][0-9eE.+-]*|true|false|null")
DEEPEST = 200
"""Nesting beyond this is no settings file; Python's own limit is not far above."""
DEFAULT_INDENT = "  "


class Malformed(ValueError):
    """The text is not JSON, not even with comments."""

    def __init__(self, text: str, at: int, what: str) -> None:
        self.line = text.count("\n", 0, at) + 1
        self.column = at - (text.rfind("\n", 0, at) + 1) + 1
        super().__init__(what)


@dataclass(frozen=True)
class Node:
    """A value and the place it takes up in the text."""

    start: int
    end: int
    value: Any
    parts: tuple[Part, ...] = ()
    """Members of an object, elements of an array."""

    def member(self, key: str) -> Part | None:
        """The member of that name; the last one where there are several, as every parser does."""
        found = [part for part in self.parts if part.key == key]
        return found[-1] if found else None


@dataclass(frozen=True)
class Part:
    """A member or an element: where it begins, and its value."""

    start: int
    node: Node
    key: str | None = None

    @property
    def end(self) -> int:
        return self.node.end


def parse(text: str) -> Node:
    """The whole document; raises Malformed with the line where it stops being one."""
    at = _space(text, 0)
    node = _value(text, at, 0)
    rest = _space(text, node.end)
    if rest != len(text):
        raise Malformed(text, rest, "something follows the end of the document")
    return node


def _space(text: str, at: int) -> int:
    match = SPACE.match(text, at)
    assert match is not None
    return match.end()


def _value(text: str, at: int, depth: int) -> Node:
    if depth > DEEPEST:
        raise Malformed(text, at, "it is nested too deeply")
    first = text[at : at + 1]
    if first in ("{", "["):
        return _container(text, at, depth)
    match = STRING.match(text, at) if first == '"' else ATOM.match(text, at)
    if match is None:
        _expected(text, at, "a value")
    try:
        return Node(at, match.end(), json.loads(match[0]))
    except ValueError:
        raise Malformed(text, at, f"{match[0][:20]} is not a value") from None


def _container(text: str, opening: int, depth: int) -> Node:
    is_object = text[opening] == "{"
    close = "}" if is_object else "]"
    parts: list[Part] = []
    at = _space(text, opening + 1)
    while text[at : at + 1] != close:
        parts.append(_part(text, at, depth, keyed=is_object))
        at = _space(text, parts[-1].end)
        if text[at : at + 1] == ",":
            at = _space(text, at + 1)
        elif text[at : at + 1] != close:
            _expected(text, at, f'"," or "{close}"')
    value: Any = (
        {part.key: part.node.value for part in parts}
        if is_object
        else [part.node.value for part in parts]
    )
    return Node(opening, at + 1, value, tuple(parts))


def _part(text: str, at: int, depth: int, *, keyed: bool) -> Part:
    if not keyed:
        return Part(at, _value(text, at, depth + 1))
    match = STRING.match(text, at)
    if match is None:
        _expected(text, at, "a name in double quotes")
    try:
        key = json.loads(match[0])
    except ValueError:
        raise Malformed(text, at, f"{match[0][:20]} is not a name") from None
    colon = _space(text, match.end())
    if text[colon : colon + 1] != ":":
        _expected(text, colon, '":"')
    return Part(at, _value(text, _space(text, colon + 1), depth + 1), key)


def _expected(text: str, at: int, what: str) -> NoReturn:
    if at >= len(text):
        raise Malformed(text, at, f"it ends where {what} should be")
    raise Malformed(text, at, f"{what} should be at {text[at : at + 10].splitlines()[0]!r}")


def append(text: str, container: Node, value: Any, key: str | None = None) -> str:
    """The text with one more member or element at the end, on a line of its own where others are.

    The value itself takes one line, so that what we add is short and easy to tell apart.
    """
    name = f"{json.dumps(key, ensure_ascii=False)}: " if key is not None else ""
    entry = name + json.dumps(value, ensure_ascii=False)
    place = _solid_before(text, container.end - 1)
    inside = text[container.start : container.end]
    if not container.parts:
        whole = container.end - container.start == len(text.strip())
        if "\n" not in text.strip() and not whole:
            return text[:place] + entry + text[place:]
        ending = text[place : container.end - 1]
        if "\n" not in ending:
            ending = _newline(text) + _indent_of_line(text, container.start)
        indent = _newline(text) + _indent_of_line(text, container.start) + _unit(text)
        return text[:place] + indent + entry + ending + text[container.end - 1 :]
    entry = (_newline(text) + _indent_of_parts(text, container) if "\n" in inside else " ") + entry
    last = container.parts[-1].end
    if _comma(text, last) is not None:
        return text[:place] + entry + "," + text[place:]
    return text[:last] + "," + text[last:place] + entry + text[place:]


def replace(text: str, node: Node, value: str) -> str:
    """The text with another string in the place of a value."""
    return text[: node.start] + json.dumps(value, ensure_ascii=False) + text[node.end :]


def remove(text: str, container: Node, index: int) -> str:
    """The text without one part, its comma and the white space before it; comments stay."""
    part = container.parts[index]
    comma = _comma(text, part.end)
    if comma is None and index:
        comma = _comma(text, container.parts[index - 1].end)
    ahead = _solid_before(text, part.start)
    before = container.parts[index - 1].end if index else container.start + 1
    if "//" in text[before:ahead] and not re.match(r"[ \t]*,?[ \t]*[\r\n]", text[part.end :]):
        ahead = part.start  # or what follows on this line would fall into the comment before it
    cuts = [(ahead, part.end), *([(comma, comma + 1)] if comma is not None else [])]
    gap = re.compile(r",[ \t]+(?=[^\s])").match(text, comma) if comma and not index else None
    if gap:  # the first of several on one line: the space behind it goes, not the one before
        cuts = [(part.start, part.end), gap.span()]
    for start, end in sorted(cuts, reverse=True):
        text = text[:start] + text[end:]
    close = container.end - sum(end - start for start, end in cuts)
    inside = text[container.start + 1 : close - 1]
    return text if inside.strip() else text[: container.start + 1] + text[close - 1 :]


def _solid_before(text: str, at: int) -> int:
    """The place behind the last thing before another that is not white space."""
    return len(text[:at].rstrip(" \t\r\n"))


def _comma(text: str, after: int) -> int | None:
    """Where the comma behind a part is, past comments."""
    at = _space(text, after)
    return at if text[at : at + 1] == "," else None


def _newline(text: str) -> str:
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def _indent_of_line(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _indent_of_parts(text: str, container: Node) -> str:
    for part in reversed(container.parts):
        line = text[text.rfind("\n", container.start, part.start) + 1 : part.start]
        if not line.strip(" \t"):
            return line
    return _indent_of_line(text, container.start) + _unit(text)


def _unit(text: str) -> str:
    """One step of indentation, as the document shows it."""
    match = re.search(r"\n([ \t]+)[\"\[{]", text)
    return match[1] if match else DEFAULT_INDENT
