"""The YAML head of a Markdown file: read as nothing but text, written so that every reader agrees.

A head is a stranger's text. So only what one needs is understood: a mapping of texts, of lists and
of mappings of texts. Nothing is guessed (`no` and `1.0` stay texts), and what a bomb or a trick is
made of is refused: anchors, aliases, tags, names given twice, deep nesting, great size.

What we write stands in double quotes on one line, and three hyphens in a row never stand in it,
because some readers take them for the end of the head wherever they are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LARGEST: Final = 256 * 1024
"""Characters of a head. A hundred pieces of evidence take a fortieth of that."""
DEEPEST: Final = 3
FENCE: Final = "---"

_WORD = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")
_TAKEN = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
"""Words that YAML readers take for something else than a text."""
_SHORT = {"\n": "\\n", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
_CONFLICT = re.compile(r"(?:<{7}|>{7})(?: |$)")


class Broken(Exception):
    """A text that is not what it should be, and the line that says so."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True)
class Node:
    """A value of a head and its line in the file; one of the three is there."""

    line: int
    text: str | None = None
    items: tuple[Node, ...] | None = None
    fields: Mapping[str, Node] | None = None


class Parted(NamedTuple):
    """A file, taken apart."""

    fields: Mapping[str, Node]
    body: str
    body_line: int


# --- reading --------------------------------------------------------------------------------------


def parted(text: str) -> Parted:
    """Head and body of a file; raises Broken with the line that is wrong."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    _refuse_conflicts(lines)
    if lines[0].rstrip() != FENCE:
        raise Broken(1, "it does not begin with a line of three hyphens")
    ends = (n for n, line in enumerate(lines) if n and line.rstrip() == FENCE)
    end = next(ends, None)
    if end is None:
        raise Broken(1, "its head is never closed by a line of three hyphens")
    head = "\n".join(lines[1:end])
    if len(head) > LARGEST:
        raise Broken(1, f"its head has {len(head):,} characters, and {LARGEST:,} are the most")
    return Parted(mapping(head), "\n".join(lines[end + 1 :]), end + 2)


def _refuse_conflicts(lines: list[str]) -> None:
    found = conflict(lines)
    if found is not None:
        raise Broken(found, "two versions were merged and nobody chose: git's marks are in it")


def conflict(lines: list[str]) -> int | None:
    """The first line that looks like a mark git leaves in a merge."""
    return next((n for n, line in enumerate(lines, 1) if _CONFLICT.match(line)), None)


def mapping(head: str) -> Mapping[str, Node]:
    """The fields of a head, whose first line is the second of its file."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        node = _document(yaml.parse(head, Loader=loader))
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        told = problem.problem or problem.context or "it is not YAML"
        raise Broken(2 + (mark.line if mark else 0), f"its head is not YAML: {told}") from None
    except yaml.YAMLError:
        line = 2 + head.count("\n", 0, _first_odd(head))
        raise Broken(line, "its head holds a character that YAML does not allow") from None
    if node is None or node.fields is None:
        raise Broken(2, "its head is not a list of fields")
    return node.fields


def _first_odd(head: str) -> int:
    odd = (n for n, it in enumerate(head) if not it.isprintable() and it not in "\n\t")
    return next(odd, 0)


def _document(events: Iterator[Any]) -> Node | None:
    """The one value that a stream of YAML events tells."""
    found: Node | None = None
    for event in events:
        kind = type(event).__name__
        if kind in ("StreamStartEvent", "StreamEndEvent", "DocumentEndEvent"):
            continue
        if kind == "DocumentStartEvent":
            if found is not None:
                raise Broken(_line(event), "its head holds several documents")
            continue
        found = _node(event, events, 0)
    return found


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 2


def _node(event: Any, events: Iterator[Any], depth: int) -> Node:
    line = _line(event)
    kind = type(event).__name__
    if kind == "AliasEvent" or getattr(event, "anchor", None) is not None:
        raise Broken(line, "anchors and aliases of YAML are not taken")
    if depth > DEEPEST:
        raise Broken(line, "its head is nested too deeply")
    if getattr(event, "tag", None) not in (None, "!"):
        raise Broken(line, "tags of YAML are not taken")
    if kind == "ScalarEvent":
        return Node(line, text=event.value)
    if kind == "SequenceStartEvent":
        return Node(line, items=tuple(_members(events, depth)))
    return Node(line, fields=_fields(events, depth))


def _members(events: Iterator[Any], depth: int) -> Iterator[Node]:
    for event in events:
        if type(event).__name__ == "SequenceEndEvent":
            return
        yield _node(event, events, depth + 1)


def _fields(events: Iterator[Any], depth: int) -> Mapping[str, Node]:
    fields: dict[str, Node] = {}
    for event in events:
        if type(event).__name__ == "MappingEndEvent":
            break
        name = _node(event, events, depth + 1)
        if name.text is None:
            raise Broken(name.line, "a field's name must be a text")
        if name.text in fields:
            raise Broken(name.line, f"{name.text!r} is there twice")
        fields[name.text] = _node(next(events), events, depth + 1)
    return fields


# --- writing --------------------------------------------------------------------------------------


def quoted(text: str) -> str:
    """A text as YAML, on one line; a plain word needs no quotes."""
    if _WORD.fullmatch(text) and text not in _TAKEN:
        return text
    inner = "".join(_SHORT.get(it) or (it if it.isprintable() else _escaped(it)) for it in text)
    return '"' + re.sub("-(?=--)", r"\\x2d", inner) + '"'


def _escaped(character: str) -> str:
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def field(name: str, value: str | int | bool) -> str:
    """One line of a head."""
    return f"{name}: {scalar(value)}\n"


def scalar(value: str | int | bool) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return quoted(value) if isinstance(value, str) else str(value)


def listed(name: str, lines: list[str], indent: str = "") -> str:
    """A list, an entry to the line so that git can merge it; nothing where it is empty."""
    if not lines:
        return ""
    return f"{indent}{name}:\n" + "".join(f"{indent}  - {line}\n" for line in lines)


def inline(fields: Mapping[str, str | int | bool]) -> str:
    """A small mapping on one line."""
    inner = ", ".join(f"{name}: {_braced(value)}" for name, value in fields.items())
    return "{" + inner + "}"


def _braced(value: str | int | bool) -> str:
    told = scalar(value)
    return told if not isinstance(value, str) or told.startswith('"') else f'"{told}"'
