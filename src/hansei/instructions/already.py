"""Whether an instruction file says already what a new line would say.

A line that prefers one command to another (`Use A, not B.`) is said where a sentence names the
beginning of the first, and not of the second: "Run tests with `uv run pytest`" says it of
`uv run pytest -q` and `pytest -q`. Of other lines nothing is claimed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from hansei.instructions.statements import FORBIDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hansei.instructions.statements import Statement

_PREFERS: Final = re.compile(r"(?:Use|Run) `([^`]+)`, not `([^`]+)`")
LEAST: Final = 2
"""Words of a command: a program's name alone says little of how to run it."""


def already(line: str, said: Iterable[Statement]) -> Statement | None:
    """The first sentence that says it; None where none does, or the line is of another form."""
    prefers = _PREFERS.match(line)
    if prefers is None:
        return None
    this, that = (text.split() for text in prefers.groups())
    for it in said:
        codes = (code.split() for code in sorted(it.code))
        if not FORBIDS.search(it.text) and any(_tells_apart(code, this, that) for code in codes):
            return it
    return None


def _tells_apart(code: Sequence[str], this: Sequence[str], that: Sequence[str]) -> bool:
    size = len(code)
    return size >= LEAST and this[:size] == code and that[:size] != code
