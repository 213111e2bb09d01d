"""The text of a shell call, parsed.

A text that follows no grammar is told as such, with its first words as the only command.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from hansei.projection.commands import bash, powershell
from hansei.projection.commands.flow import Walk, deciding_command, main_command
from hansei.projection.commands.model import Class, Dialect, Script
from hansei.projection.commands.syntax import Item, Redirect, Sequence, Simple, Unparsable, Word

if TYPE_CHECKING:
    from collections.abc import Mapping

KEPT = 4096
"""Parsed texts kept at hand: agents repeat a quarter of their commands."""
LONGEST = 200_000
"""Characters beyond which a text is not parsed; real ones end far below."""

_POWERSHELL = re.compile(
    r"(?:^|[|;({&]|\n)\s*(?:Get|Set|New|Remove|Copy|Move|Test|Select|Out|Add|Start|Stop|Write"
    r"|Invoke|Where|ForEach|Import|Export|Format|Sort|Join|Resolve|Clear|Push|Pop|Measure)-[A-Z]\w+"
    r"|\$env:\w|\$_\.|\$PSScriptRoot|\s-(?:LiteralPath|TotalCount|ErrorAction|Recurse|ItemType)\b"
    r"|(?:^|\n)\s*\$\w+\s*=\s",
)
_TELLING = 2000
"""Characters that show whose grammar a text follows."""
_PATCH = re.compile(r"\s*(?:apply_?patch\s+)?(?:<<\s*\S+\s*\n)?\s*\*\*\* Begin Patch")
_WORD = re.compile(r"[^\s|;&<>()\"'`$]+")
_NO_PATTERNS: tuple[tuple[str, Class], ...] = ()


def parse(
    text: str, dialect: Dialect | None = None, own: Mapping[str, Class] | None = None
) -> Script:
    """What the text of a shell call runs; `dialect` is guessed where nobody told it.

    `own` are the patterns of `[commands]` in config.toml. Never raises.
    """
    return _parsed(text, dialect, tuple(own.items()) if own else _NO_PATTERNS)


@lru_cache(maxsize=KEPT)
def _parsed(text: str, dialect: Dialect | None, own: tuple[tuple[str, Class], ...]) -> Script:
    for tried in (dialect,) if dialect else _likely(text):
        walk = Walk(tried, _tree, dict(own))
        try:
            walk.script(_tree(text, tried))
        except (Unparsable, RecursionError):
            continue
        return _script(walk)
    walk = Walk(dialect or Dialect.BASH, _tree, dict(own), parsed=False)
    walk.script(_first_words(text))
    commands = [command._replace(masked=True, reads=(), writes=()) for command in walk.commands]
    return Script(walk.dialect, False, tuple(commands), main_command(commands), None)


def _script(walk: Walk) -> Script:
    commands = walk.commands
    return Script(
        walk.dialect,
        walk.parsed,
        tuple(commands),
        main_command(commands),
        deciding_command(commands),
    )


def _likely(text: str) -> tuple[Dialect, ...]:
    """The grammars a text may follow, the likelier one first."""
    if _POWERSHELL.search(text, 0, _TELLING):
        return (Dialect.POWERSHELL, Dialect.BASH)
    return (Dialect.BASH,)


def _tree(text: str, dialect: Dialect) -> Sequence:
    if len(text) > LONGEST:
        raise Unparsable
    if _PATCH.match(text):
        told = Redirect("<<", Word(text, quoted=True))
        return (Item(";", (Simple((Word("apply_patch"),), redirects=(told,)),)),)
    return bash.parse(text) if dialect is Dialect.BASH else powershell.parse(text)


def _first_words(text: str) -> Sequence:
    """The beginning of the first line, up to the first sign that means something."""
    lines = text.strip().split("\n", 1)
    words = []
    for piece in lines[0].split():
        found = _WORD.match(piece)
        if found is None:
            break
        words.append(Word(found[0]))
        if found[0] != piece:
            break
    return (Item(";", (Simple(tuple(words)),)),) if words else ()
