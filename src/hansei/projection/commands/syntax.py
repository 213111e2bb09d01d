"""The tree that every shell's text becomes.

Only what a shell does with statuses, folders and pipes is kept; how it was spelled is not.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple, TypeAlias


class Dialect(StrEnum):
    """Whose grammar a text follows."""

    BASH = "bash"
    POWERSHELL = "powershell"


class Word(NamedTuple):
    """One argument as the program gets it, with what the shell fills in left as written."""

    text: str
    quoted: bool = False
    literal: bool = True
    """False where a variable or a substitution stands in it."""


class Redirect(NamedTuple):
    """Where a command's input comes from or its output goes to."""

    operator: str
    """`<`, `>`, `>>`, `&>`, `>|`, or `<<` for a text that stands in the command itself."""
    target: Word
    descriptor: int | None = None


class Simple(NamedTuple):
    """One program with its words."""

    words: tuple[Word, ...]
    assignments: tuple[tuple[str, Word], ...] = ()
    redirects: tuple[Redirect, ...] = ()
    nested: tuple[Sequence, ...] = ()
    """What the shell runs first to fill in its words."""


class BlockKind(StrEnum):
    """How the parts of a block are run."""

    GROUP = "group"
    SUBSHELL = "subshell"
    CHOICE = "choice"
    LOOP = "loop"
    FUNCTION = "function"


class Block(NamedTuple):
    """Several sequences that the shell treats as one step."""

    kind: BlockKind
    bodies: tuple[Sequence, ...]
    conditions: tuple[Sequence, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    variable: str = ""
    values: tuple[Word, ...] = ()
    """What the variable of a loop stands for, one after the other."""


Step: TypeAlias = Simple | Block


class Item(NamedTuple):
    """One pipeline and how it follows the one before: `;`, `&&` or `||`."""

    before: str
    steps: tuple[Step, ...]
    negated: bool = False
    background: bool = False


Sequence: TypeAlias = tuple[Item, ...]


class Unparsable(Exception):
    """The text does not follow the grammar."""
