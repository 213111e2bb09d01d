"""The grammars that shell texts are parsed by, loaded when the first text of a kind comes."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

    from hansei.projection.commands.syntax import Dialect


def root(text: str, dialect: Dialect) -> Node:
    """The tree of a text; it may hold errors."""
    return _parser(dialect).parse(text.encode("utf-8", "surrogatepass")).root_node


@cache
def _parser(dialect: Dialect) -> Parser:
    from tree_sitter import Language, Parser

    return Parser(Language(import_module(f"tree_sitter_{dialect}").language()))
