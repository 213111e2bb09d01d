"""What others said, made harmless to read.

An answer goes straight into an agent's context, so a text from a transcript must neither look like
something the agent's program means (tags, escapes, hidden letters) nor like something we say. It is
put on one line, its angle brackets are replaced, and it says who it is from.
"""

from __future__ import annotations

from typing import Final

import msgspec

from hansei.projection.wording import QUOTED, inert

__all__ = ["LONGEST", "Quote", "inert", "quote"]

LONGEST: Final = QUOTED


class Quote(msgspec.Struct, frozen=True):
    """Somebody's words. `by` is output (of a program), agent, person or import."""

    quote: str
    by: str


def quote(text: str, by: str, longest: int = LONGEST) -> Quote:
    """A text from a transcript, as an answer may hold it."""
    return Quote(inert(text, longest), by)
