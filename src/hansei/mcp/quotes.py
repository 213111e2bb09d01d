"""What others said, made harmless to read.

An answer goes straight into an agent's context, so a text from a transcript must neither look like
something the agent's program means (tags, escapes, hidden letters) nor like something we say. It is
put on one line, its angle brackets are replaced, and it says who it is from.
"""

from __future__ import annotations

import unicodedata
from typing import Final

import msgspec

from hansei.projection.wording import one_line

LONGEST: Final = 240
"""Characters of a quote: a signature or a command in full, the beginning of anything else."""
_BRACKETS: Final = str.maketrans({"<": "‹", ">": "›"})
_HIDDEN: Final = frozenset(("Cf", "Co", "Cn", "Cs"))
"""Kinds of characters that nobody sees: formats, private use, none at all."""


class Quote(msgspec.Struct, frozen=True):
    """Somebody's words. `by` is output (of a program), agent, person or import."""

    quote: str
    by: str


def quote(text: str, by: str, longest: int = LONGEST) -> Quote:
    """A text from a transcript, as an answer may hold it."""
    return Quote(inert(text, longest), by)


def inert(text: str, longest: int = LONGEST) -> str:
    """A text on one line without anything that a program or a reader would take for more."""
    seen = "".join(it for it in text if unicodedata.category(it) not in _HIDDEN or it in "\t\n")
    return one_line(seen.translate(_BRACKETS), longest)
