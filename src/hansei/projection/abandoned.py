"""Sessions that a person left with nothing done: stopped or never answered, and nothing written.

A session that ends in the middle of work was perhaps only cut off: that is no proof that anybody
gave up. Only two ends are: a person stopped the agent and said no more, or typed a prompt that
nobody answered. Sessions alike are told by how they begin: the same command, or the same first
words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.projection.corrections.likeness import normal_form
from hansei.projection.facts.ended import End
from hansei.projection.outcomes.model import Fate

if TYPE_CHECKING:
    from hansei.projection.window import Window

WORDS: Final = 4
"""Of a first prompt that make two alike: a verb and what it is about."""
_LEFT: Final = frozenset((End.INTERRUPTED, End.UNANSWERED))
_CAME: Final = frozenset((Fate.LANDED, Fate.PARTLY, Fate.WAITING, Fate.UNKNOWN))
"""Fates of edits that may have come to something."""


class Abandoned(NamedTuple):
    """A session that was left."""

    session: int
    seq: int
    """Its last event."""
    kind: str
    """How it began."""
    opening: str
    """The first prompt as it was typed."""
    tokens: int | None


def openings(window: Window) -> dict[int, tuple[str, str]]:
    """How the sessions of people began: their kind, and the first prompt."""
    found: dict[int, tuple[str, str]] = {}
    for session, said in window.said:
        if session not in found:
            words = normal_form(said.text).split()[:WORDS]
            found[session] = " ".join(words), said.text
    return found


def abandoned(window: Window) -> list[Abandoned]:
    """The sessions of people that were left with nothing done, in order."""
    begun = openings(window)
    wrote = {it.session for it in window.hunks}
    came = {session for session, it in window.outcomes if it.fate in _CAME}
    judged = {session for session, _ in window.outcomes}
    found = []
    for session, end in window.ended:
        nothing = session not in wrote or (session in judged and session not in came)
        if end.end in _LEFT and nothing and begun.get(session, ("", ""))[0]:
            tokens = _tokens(window, session)
            found.append(Abandoned(session, end.seq, *begun[session], tokens))
    return found


def _tokens(window: Window, task: int) -> int | None:
    """What a session and all that it started took; None where no agent tells."""
    family = [it for it in window.requests if window.task(it) == task]
    known = [row.tokens for it in family for row in window.requests[it] if row.tokens is not None]
    return sum(known) if known else None
