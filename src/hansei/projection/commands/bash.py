"""Bash text as a tree.

The grammar ties `a && b 2>&1 | tail` together as `(a && b) | tail`, which no shell does. So its
nesting is used only where brackets or keywords stand in the text; operators are put in order here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

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
    from collections.abc import Iterable, Iterator

    from tree_sitter import Node

_Token: TypeAlias = str | Simple | Block | Redirect | Word
"""An operator, a step, or a piece that belongs to the step before it."""

_OPERATORS = frozenset(("&&", "||", "|", "|&", ";", "&", "\n", ";;"))
_EXPRESSIONS = frozenset(
    ("unary_expression", "binary_expression", "parenthesized_expression", "negation_expression")
)
_TRANSPARENT = frozenset(
    ("program", "list", "pipeline", "redirected_statement", "negated_command", "heredoc_redirect")
)
_ENDS = frozenset((";", "\n", ";;"))
_HEREDOC = re.compile(r"<<-?[ \t]*(['\"]?)([\w-]+)\1")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPE_IN_QUOTES = re.compile(r"\\([\\\"$`\n])")
_PLAIN = re.compile(r"[\w./:@%+,=-]+(?: +[\w./:@%+,=-]+)*")
KEYWORDS = frozenset(
    (
        "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
        "function", "select", "time", "coproc", "export", "declare", "local", "readonly", "typeset",
        "unset", "unsetenv",
    )
)  # fmt: skip


def parse(text: str) -> Sequence:
    """The statements of a script; raises `Unparsable`."""
    if _PLAIN.fullmatch(text):
        words = text.split()
        if "=" not in words[0] and words[0] not in KEYWORDS:
            return (Item(";", (Simple(tuple(map(Word, words))),)),)
    tree = root(text, Dialect.BASH)
    if tree.has_error and (closed := _closed(text)) != text:
        tree = root(closed, Dialect.BASH)
    if tree.has_error:
        raise Unparsable
    return _sequence(tree)


def _closed(text: str) -> str:
    """With the last line that a shell does without at the end of its input."""
    opened = [found[2] for found in _HEREDOC.finditer(text)]
    lines = {line.strip() for line in text.split("\n")}
    missing = [end for end in opened if end not in lines]
    return "\n".join((text.rstrip("\n"), *missing, "")) if missing else text


# --- statements ---


def _sequence(*nodes: Node) -> Sequence:
    return tuple(_items(token for node in nodes for token in _tokens(node)))


def _items(tokens: Iterable[_Token]) -> Iterator[Item]:
    """Pipelines in order, put together from a flat row of tokens."""
    before, steps, negated, open_step = ";", list[Step](), False, True
    for piece in tokens:
        if isinstance(piece, (Redirect, Word)):
            steps[-1:] = [_extended(steps[-1] if steps else Simple(()), piece)]
            open_step = False
        elif isinstance(piece, (Simple, Block)):
            if not open_step:
                yield Item(before, tuple(steps), negated)
                before, steps, negated = ";", [], False
            steps.append(piece)
            open_step = False
        elif piece == "!":
            if not open_step:
                yield Item(before, tuple(steps), negated)
                before, steps = ";", []
            negated, open_step = True, True
        elif piece in ("|", "|&"):
            open_step = True
        else:
            if steps:
                yield Item(before, tuple(steps), negated, piece == "&")
            before = piece if piece in ("&&", "||") else ";"
            steps, negated, open_step = [], False, True
    if steps:
        yield Item(before, tuple(steps), negated)


def _extended(step: Step, piece: Redirect | Word) -> Step:
    if isinstance(piece, Redirect):
        return step._replace(redirects=(*step.redirects, piece))
    return step._replace(words=(*step.words, piece)) if isinstance(step, Simple) else step


def _tokens(node: Node) -> Iterator[_Token]:
    kind = node.type
    if kind in _OPERATORS or kind == "!":
        yield kind
    elif kind == "command":
        yield _command(node)
    elif kind == "heredoc_redirect":
        yield from _heredoc(node)
    elif kind in _TRANSPARENT:
        for child in node.children:
            yield from _tokens(child)
    elif kind in ("file_redirect", "herestring_redirect"):
        yield _redirect(node)
    elif kind in _BLOCKS:
        yield _BLOCKS[kind](node)
    elif kind in ("variable_assignment", "variable_assignments"):
        yield _assignments(node)
    elif kind in ("declaration_command", "unset_command", "test_command"):
        yield _spelled(node)


def _heredoc(node: Node) -> Iterator[_Token]:
    """The text itself, then whatever stands on the line that opened it."""
    body = next((child for child in node.children if child.type == "heredoc_body"), None)
    yield Redirect("<<", Word("" if body is None else _text(body), quoted=True))
    for child in node.children:
        if child.type in _WORDS:
            yield _word(child)
        elif child.is_named or child.type in _OPERATORS:
            yield from _tokens(child)


# --- steps ---


def _command(node: Node) -> Simple:
    words: list[Word] = []
    assignments: list[tuple[str, Word]] = []
    redirects: list[Redirect] = []
    nested: list[Sequence] = []
    for child in node.children:
        kind = child.type
        if kind == "command_name":
            words.append(_word(child.children[0] if child.children else child))
            nested += _nested(child)
        elif kind == "variable_assignment":
            assignments += _assignments(child).assignments
            nested += _nested(child)
        elif kind in ("file_redirect", "herestring_redirect"):
            redirects.append(_redirect(child))
        elif kind == "subshell":
            nested.append(_sequence(*child.children[1:-1]))
        else:
            words.append(_word(child))
            nested += _nested(child)
    return Simple(tuple(words), tuple(assignments), tuple(redirects), tuple(nested))


def _assignments(node: Node) -> Simple:
    """Variables that are set; what fills them is run first."""
    found = [node] if node.type == "variable_assignment" else node.named_children
    pairs = []
    for child in found:
        name, value = child.child_by_field_name("name"), child.child_by_field_name("value")
        pairs.append(
            ("" if name is None else _text(name), Word("") if value is None else _word(value))
        )
    return Simple((), tuple(pairs), nested=tuple(_nested(node)))


def _spelled(node: Node) -> Simple:
    """`export`, `unset`, `[ … ]`: words as they stand."""
    words = tuple(_word(child) for child in _flat(node))
    pairs = [
        pair
        for child in node.children
        if child.type == "variable_assignment"
        for pair in _assignments(child).assignments
    ]
    return Simple(words, tuple(pairs), nested=tuple(_nested(node)))


def _flat(node: Node) -> Iterator[Node]:
    """The words of what `[` is asked, which the grammar knows as an expression."""
    for child in node.children:
        if child.type in _EXPRESSIONS:
            yield from _flat(child)
        else:
            yield child


def _redirect(node: Node) -> Redirect:
    descriptor, operator, target = None, "<<", Word("")
    for child in node.children:
        if child.type == "file_descriptor":
            descriptor = int(_text(child)) if _text(child).isdigit() else None
        elif child.is_named:
            target = _word(child)
        elif child.type != "<<<":
            operator = child.type
    return Redirect(operator, target, descriptor)


def _group(node: Node) -> Block:
    kind = BlockKind.SUBSHELL if node.type == "subshell" else BlockKind.GROUP
    return Block(kind, (_sequence(*node.children),))


def _choice(node: Node) -> Block:
    """`if` and `case`: what is asked, and each of what may follow."""
    asked: list[Sequence] = []
    bodies: list[Sequence] = []
    _gather(node, asked, bodies)
    return Block(BlockKind.CHOICE, tuple(bodies), tuple(asked))


def _gather(node: Node, asked: list[Sequence], bodies: list[Sequence]) -> None:
    part: list[Node] = []
    for child in node.children:
        if child.type in ("elif_clause", "else_clause", "case_item"):
            bodies.append(_sequence(*part))
            part = []
            _gather(child, asked, bodies)
        elif child.type == "then":
            asked.append(_sequence(*part))
            part = []
        else:
            part.append(child)
    bodies.append(_sequence(*part))


def _loop(node: Node) -> Block:
    body = node.child_by_field_name("body")
    name = node.child_by_field_name("variable")
    values = [child for child in node.children if child.type in _WORDS]
    asked = () if name else _sequence(*(child for child in node.children if child != body))
    return Block(
        BlockKind.LOOP,
        (() if body is None else _sequence(*body.children),),
        (asked,),
        variable="" if name is None else _text(name),
        values=tuple(map(_word, values)) if name else (),
    )


def _function(node: Node) -> Block:
    body = node.child_by_field_name("body")
    return Block(BlockKind.FUNCTION, (() if body is None else _sequence(body),))


_BLOCKS = {
    "subshell": _group,
    "compound_statement": _group,
    "if_statement": _choice,
    "case_statement": _choice,
    "for_statement": _loop,
    "c_style_for_statement": _loop,
    "while_statement": _loop,
    "function_definition": _function,
}


# --- words ---

_EXPANSIONS = frozenset(
    (
        "simple_expansion", "expansion", "command_substitution", "process_substitution",
        "arithmetic_expansion",
    )
)  # fmt: skip
_WORDS = frozenset(
    (
        "word", "number", "string", "raw_string", "ansi_c_string", "translated_string",
        "concatenation", "brace_expression", "extglob_pattern", "regex", "variable_assignment",
        *_EXPANSIONS,
    )
)  # fmt: skip


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _word(node: Node) -> Word:
    kind = node.type
    if kind in ("word", "number"):
        text = _text(node)
        return Word(_ESCAPE.sub(r"\1", text) if "\\" in text else text)
    if kind == "raw_string":
        return Word(_text(node)[1:-1], quoted=True)
    if kind == "string":
        inside = _text(node)[1:-1]
        text = _ESCAPE_IN_QUOTES.sub(_unescaped, inside) if "\\" in inside else inside
        return Word(text, True, not any(child.type in _EXPANSIONS for child in node.children))
    if kind == "ansi_c_string":
        return Word(_ESCAPE.sub(_control, _text(node)[2:-1]), quoted=True)
    if kind == "concatenation":
        parts = [_word(child) for child in node.children]
        return Word(
            "".join(part.text for part in parts),
            any(part.quoted for part in parts),
            all(part.literal for part in parts),
        )
    return Word(_text(node), literal=kind not in _EXPANSIONS)


def _unescaped(found: re.Match[str]) -> str:
    return "" if found[1] == "\n" else found[1]


def _control(found: re.Match[str]) -> str:
    return {"n": "\n", "t": "\t"}.get(found[1], found[1])


def _nested(node: Node) -> Iterator[Sequence]:
    """What is run to fill in a word, wherever in it that stands."""
    if not node.children:
        return
    if node.type in ("command_substitution", "process_substitution"):
        yield _sequence(*node.children)
        return
    for child in node.children:
        yield from _nested(child)
