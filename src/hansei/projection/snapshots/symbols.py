"""What a blob holds: lines, definitions, imports, tests. The same blob gives the same facts."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.projection.snapshots.languages import GRAMMARS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tree_sitter import Parser, Query

MOST_PARSED: Final = 512 * 1024
"""Larger files are generated; parsing one takes longer than a hundred ordinary ones."""
MOST_NAMED: Final = 2_000
"""Definitions, imports or tests kept of one file."""
Place = tuple[int, str]
_BINARY_WITHIN: Final = 8_000
_DEFINITIONS: Final = ("class", "function", "method")


class Symbol(NamedTuple):
    kind: str
    name: str
    line: int


class BlobFacts(NamedTuple):
    """What a blob holds; None where nobody can say."""

    lines: int | None
    """None for a binary file."""
    symbols: tuple[Symbol, ...] | None = None
    """None where the language has no grammar here, or the file is too large."""
    imports: tuple[str, ...] | None = None
    tests: tuple[str, ...] | None = None
    broken: bool = False
    """Whether parts of it do not parse."""


def examine(data: bytes, language: str | None) -> BlobFacts:
    """The facts of a file's content."""
    if b"\0" in data[:_BINARY_WITHIN]:
        return BlobFacts(None)
    lines = data.count(b"\n") + bool(data and not data.endswith(b"\n"))
    tools = _tools(language or "") if len(data) <= MOST_PARSED else None
    if tools is None:
        return BlobFacts(lines)
    from tree_sitter import QueryCursor

    parser, query = tools
    tree = parser.parse(data)
    found = {
        kind: [(node.start_byte, node.end_byte) for node in nodes]
        for kind, nodes in QueryCursor(query).captures(tree.root_node).items()
    }
    named = _named(data, found)
    symbols = [Symbol(kind, name, line) for kind in _DEFINITIONS for line, name in named[kind]]
    return BlobFacts(
        lines,
        tuple(sorted(symbols, key=lambda it: (it.line, it.kind, it.name))),
        tuple(sorted({name for _, name in named["import"]})),
        tuple(name for _, name in named["test"]),
        broken=tree.root_node.has_error,
    )


def _named(data: bytes, found: Mapping[str, list[tuple[int, int]]]) -> dict[str, list[Place]]:
    """Line and text of what was captured.

    Lines are counted here, because asking a node for its point crashes in tree-sitter 0.26.
    """
    ends = [match.start() for match in re.finditer(rb"\n", data)]
    return {
        kind: sorted(
            {
                (bisect_left(ends, start) + 1, _name(data[start:end]))
                for start, end in found.get(kind, ())
            }
        )[:MOST_NAMED]
        for kind in (*_DEFINITIONS, "import", "test")
    }


def _name(text: bytes) -> str:
    return text.decode("utf-8", "replace").strip("\"'`<>")


@cache
def _tools(language: str) -> tuple[Parser, Query] | None:
    """A parser and a query for a language; None where its grammar is not installed."""
    from importlib import import_module

    from tree_sitter import Language, Parser, Query

    grammar = GRAMMARS.get(language)
    if grammar is None:
        return None
    try:
        made = Language(getattr(import_module(grammar.module), grammar.function)())
    except ImportError:
        return None
    return Parser(made), Query(made, grammar.query)
