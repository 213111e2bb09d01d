"""Which edit of which session wrote the lines that a review is about.

A review is shown under a piece of the change. The edit that wrote the last line of that piece, the
one the remark stands below, is what it is about; where that line is too plain to go by, the edit
that wrote most of the others.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from hansei.projection.corrections.model import Matched
from hansei.projection.outcomes.places import plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hansei.events.reviews import Review
    from hansei.projection.outcomes.model import Written


def matched(reviews: Iterable[Review], hunks: Iterable[Written]) -> list[Matched]:
    """The reviews of lines that one of these edits wrote, with the edit."""
    written: dict[str, list[Written]] = defaultdict(list)
    for hunk in hunks:
        for line in dict.fromkeys(hunk.added):
            written[line].append(hunk)
    found = []
    for review in reviews:
        writer = _writer(review, written)
        if writer is not None:
            hunk, lines = writer
            found.append(Matched(review.id, hunk.session, hunk.seq, lines))
    return found


def _writer(review: Review, written: dict[str, list[Written]]) -> tuple[Written, int] | None:
    if review.path is None or not review.hunk:
        return None
    lines: dict[tuple[str, int, int], int] = defaultdict(int)
    known: dict[tuple[str, int, int], Written] = {}
    for line in dict.fromkeys(review.hunk):
        for hunk in written.get(line, ()):
            if _is_file(hunk.path, review.path) and not _later(hunk, review):
                key = hunk.session, hunk.seq, hunk.hunk
                lines[key] += 1
                known[key] = hunk
    last = {
        (hunk.session, hunk.seq, hunk.hunk) for hunk in written.get(review.hunk[-1], ())
    } & known.keys()
    chosen = last or {key for key in known if 2 * lines[key] > len(set(review.hunk))}
    if not chosen:
        return None
    best = max(chosen, key=lambda key: (lines[key], known[key].at or 0, key))
    return known[best], lines[best]


def _is_file(recorded: str, path: str) -> bool:
    """Whether a recorded path is this file of the repository."""
    spelled = plain(recorded)
    return spelled == path or spelled.endswith(f"/{path}")


def _later(hunk: Written, review: Review) -> bool:
    return review.at is not None and hunk.at is not None and hunk.at > review.at
