"""Known failures and their fixes, as `brief` and `recall` tell them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.mcp.contract import Answer
from hansei.mcp.quotes import Quote, inert, quote

if TYPE_CHECKING:
    from hansei.ops.recall import Fix, Remembered


class Way(Answer, frozen=True):
    """What got past a failure. `see` opens it: session."""

    command: Quote
    see: str
    times: int = 1
    added: str = ""
    removed: str = ""
    edited: tuple[str, ...] = ()
    mind: str = ""


class Failure(Answer, frozen=True):
    """A known failure and what got past it."""

    failure: Quote
    sessions: int
    see: str
    likeness: float | None = None
    """To what was asked; None where nothing like it was."""
    unsolved: bool = False
    """Nobody was seen getting past it."""
    fixes: tuple[Way, ...] = ()


def failure(it: Remembered) -> Failure:
    return Failure(
        failure=quote(it.signature, "output"),
        sessions=it.sessions,
        see=it.reference,
        likeness=round(it.likeness, 2) or None,
        unsolved=not it.recovered,
        fixes=tuple(_way(fix) for fix in it.fixes),
    )


def _way(fix: Fix) -> Way:
    return Way(
        command=quote(fix.command, "agent"),
        see=fix.reference,
        times=fix.times,
        added=inert(" ".join(fix.added)),
        removed=inert(" ".join(fix.removed)),
        edited=tuple(inert(path) for path in fix.edited),
        mind=fix.mind,
    )
