"""Reads of a file that nothing gave a reason for: the same lines, unchanged and still in view."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hansei.projection.files import Again

if TYPE_CHECKING:
    from hansei.projection.window import Window


class Repeat(NamedTuple):
    """One file in one call."""

    session: int
    seq: int
    path: str


def repeats(window: Window) -> set[Repeat]:
    """Reads between two prompts of what was read since the first of them.

    After a failed edit agents are told to look again, which is no waste.
    """
    turns = {(session, touch.seq): touch.turn for session, touch in window.touches}
    return {
        Repeat(session, touch.seq, touch.path)
        for session, touch in window.touches
        if touch.inside
        and touch.again is Again.REPEAT
        and touch.redundant is not None
        and turns.get((session, touch.redundant), touch.turn) == touch.turn
    }
