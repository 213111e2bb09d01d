"""Edits that their own session took back: put into the wrong file, the wrong place, or not wanted.

What tells them apart is where the same lines stand afterwards.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.projection.outcomes.landing import enough_to_move

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hansei.projection.outcomes.model import TakenBack, Written

SAME_SHARE: Final = 0.8
"""The share of lines that must be written again before it is the same text in another place."""
SOON: Final = 3
"""Edits after the one that took lines back in which they may be written again; or in the last
before it."""


class Misstep(StrEnum):
    """Why an edit was taken back, as far as lines can tell."""

    WRONG_FILE = "wrong_file"  # the same lines were written into another file
    WRONG_PLACE = "wrong_place"  # the same lines were written elsewhere in the file
    SHORT_LIVED = "short_lived"  # a file that the session created and deleted
    UNDONE = "undone"  # what was there before is back


class Misplaced(NamedTuple):
    """A hunk that the session took back."""

    seq: int
    hunk: int
    path: str
    kind: Misstep
    lines: int
    """How many telling lines went."""
    back: int
    """The event that took them back."""
    steps: int
    """Calls in between; 0 if the very next one did it."""
    moved_to: str | None
    """The file that has the lines now, where they were written again."""
    again: int | None
    """The event that wrote them there."""


def misplaced(hunks: Sequence[Written], calls: Iterable[int]) -> list[Misplaced]:
    """The hunks of one session that it took back; `calls` are the numbers of its calls."""
    places = sorted(calls)
    edits = sorted({hunk.seq for hunk in hunks})
    found = []
    for hunk in hunks:
        gone = _gone_at_once(hunk)
        if not gone:
            continue
        last = gone[0].seq
        near = bisect_left(edits, last)
        around = set(edits[max(near - 1, 0) : near + SOON + 1])
        later = [it for it in hunks if it.seq > hunk.seq and it.seq in around]
        kind, target = _kind(hunk, gone, later)
        if kind is not None:
            steps = bisect_left(places, last) - bisect_left(places, hunk.seq)
            where = (target.path, target.seq) if target else (None, None)
            row = (hunk.seq, hunk.hunk, hunk.path, kind, len(gone), last, max(steps - 1, 0))
            found.append(Misplaced(*row, *where))
    return found


def _gone_at_once(hunk: Written) -> list[TakenBack]:
    """What one step took back, if that is at least half of the hunk."""
    steps = Counter(back.seq for back in hunk.taken_back if back.seq != hunk.seq)
    (step, count), *_ = steps.most_common(1) or [(0, 0)]
    if not count or count * 2 < len(hunk.added):
        return []
    return [back for back in hunk.taken_back if back.seq == step]


def _kind(
    hunk: Written, gone: Sequence[TakenBack], later: Sequence[Written]
) -> tuple[Misstep | None, Written | None]:
    if any(it.created and it.path == hunk.path for it in later):
        return None, None  # the file was written anew
    lines = [hunk.added[back.line] for back in gone]
    if enough_to_move(lines):
        for other in later:
            written = set(other.added)
            if sum(line in written for line in lines) >= SAME_SHARE * len(lines):
                same = other.path == hunk.path
                return Misstep.WRONG_PLACE if same else Misstep.WRONG_FILE, other
    if not all(back.restored for back in gone):
        return None, None
    if hunk.created and gone[0].by_shell:
        return Misstep.SHORT_LIVED, None
    return Misstep.UNDONE, None
