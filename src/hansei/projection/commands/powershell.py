"""PowerShell text as a tree."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hansei.projection.commands.grammars import root
from hansei.projection.commands.syntax import (
    Block,
    BlockKind,
    Dialect,
    Item,
    Redirect,
    Sequence,
    Simple,
    Step,
    Unparsable,
    Word,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_BARE = re.compile(
    r"'[^']*'|\"[^\"]*\"|(?<=\s)(-|[\w.*:\\/-]+(?:[ \t]*,[ \t]*[\w.*:\\/-]+)+)(?=[\s|;)}]|$)"
)
"""Lists of bare words and a lone dash, which the grammar does not know; quoted ones it does."""
_CHOICES = frozenset(("if_statement", "switch_statement", "try_statement"))
_LOOPS = frozenset(("foreach_statement", "for_statement", "while_statement", "do_statement"))
_STATEMENTS = frozenset(("pipeline", "function_statement", *_CHOICES, *_LOOPS))


def parse(text: str) -> Sequence:
    """The statements of a script; raises `Unparsable`."""
    tree = root(text, Dialect.POWERSHELL)
    if tree.has_error:
        tree = root(_BARE.sub(_quoted, text), Dialect.POWERSHELL)
    if tree.has_error:
        raise Unparsable
    return _sequence(tree)


def _quoted(found: re.Match[str]) -> str:
    if not found[1]:
        return found[0]
    return ",".join(f'"{part.strip()}"' for part in found[1].split(","))


def _sequence(node: Node) -> Sequence:
    return tuple(item for statement in _within(node, _STATEMENTS) for item in _items(statement))


def _within(node: Node, kinds: frozenset[str]) -> Iterator[Node]:
    """The nearest nodes of some kinds below a node."""
    for child in node.children:
        if child.type in kinds:
            yield child
        else:
            yield from _within(child, kinds)


def _items(node: Node) -> Iterator[Item]:
    if node.type != "pipeline":
        yield Item(";", (_block(node),))
        return
    before = ";"
    for child in node.children:
        if child.type == "pipeline_chain":
            yield Item(before, tuple(_steps(child)))
        elif child.type == "pipeline_chain_tail":
            before = _text(child).strip()
        elif child.type == "assignment_expression":
            yield from _assigned(child)


def _assigned(node: Node) -> Iterator[Item]:
    """`$a = …` keeps what would have been shown, as a pipe into a variable does."""
    name, keeps = _text(node.children[0]).lstrip("$"), Word("Set-Variable")
    value = node.children[-1]
    for statement in [value] if value.type in _STATEMENTS else _within(value, _STATEMENTS):
        for item in _items(statement):
            if any(isinstance(step, Block) or step.words for step in item.steps):
                yield item._replace(steps=(*item.steps, Simple((keeps, Word(name)))))
            else:
                text = _string(value)
                yield Item(";", (Simple((), ((name, text),)),))


def _block(node: Node) -> Block:
    if node.type == "function_statement":
        return Block(BlockKind.FUNCTION, (_sequence(node),))
    asked, bodies = list[Sequence](), list[Sequence]()
    for child in node.children:
        if child.type == "pipeline":
            asked.append(tuple(_items(child)))
        elif child.type not in ("if", "else", "elseif"):
            bodies.append(_sequence(child))
    kind = BlockKind.LOOP if node.type in _LOOPS else BlockKind.CHOICE
    return Block(kind, tuple(bodies), tuple(asked))


def _steps(node: Node) -> Iterator[Step]:
    for child in node.children:
        if child.type == "command":
            yield _command(child)
        elif child.is_named:
            yield from _expression(child)


def _expression(node: Node) -> Iterator[Step]:
    """A value; commands in brackets inside it run first, `(…)[1..5]` chooses lines of one."""
    access = next(_within(node, frozenset(("element_access",))), None)
    inner = tuple(_sequence(access or node))
    if access is not None and inner:
        index = _text(access).rpartition("[")[2].rstrip("]")
        first = Block(BlockKind.GROUP, (inner[:1],))
        yield from (first, Simple((Word("Select-Object"), Word("-Index"), Word(index))))
    elif inner:
        yield Block(BlockKind.GROUP, (inner,))
    else:
        yield Simple(())


def _command(node: Node) -> Simple:
    words: list[Word] = []
    redirects: list[Redirect] = []
    nested: list[Sequence] = []
    for child in node.children:
        if child.type in ("command_name", "command_name_expr"):
            words.append(_string(child))
        elif child.type == "command_elements":
            for element in child.children:
                if element.type == "redirection":
                    redirects += _redirect(element)
                elif element.type != "command_argument_sep":
                    words.append(_string(element))
                    inner = _sequence(element)
                    nested += [inner] if inner else []
    return Simple(tuple(words), (), tuple(redirects), tuple(nested))


def _redirect(node: Node) -> Iterator[Redirect]:
    operator, target = "", None
    for child in node.children:
        if child.type == "file_redirection_operator":
            operator = _text(child)
        elif child.type == "redirected_file_name":
            target = _string(child)
    if target is not None:
        digit = operator[:1]
        descriptor = int(digit) if digit.isdigit() else None
        yield Redirect(operator.lstrip("0123456789*"), target, descriptor)


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _string(node: Node) -> Word:
    text = _text(node).strip()
    if text.startswith(("@'", '@"')):
        return Word(
            text[2:-2].strip("\r\n"), quoted=True, literal=text[1] == "'" or "$" not in text
        )
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        inside = text[1:-1]
        return Word(inside, quoted=True, literal=text[0] == "'" or "$" not in inside)
    return Word(text.replace("`", ""), literal="$" not in text and not text.startswith("("))
