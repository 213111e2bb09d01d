"""Which edit of which session wrote the lines that a review is about.

A review is shown under a piece of the change. The edit that wrote the last line of that piece, the
one the remark stands below, is what it is about; where that line is too plain to go by, the edit
that wrote most of the others.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from hansei.projection.commands.paths import spelled
from hansei.projection.corrections.model import Matched

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hansei.events.reviews import Review
    from hansei.projection.outcomes.model import Written


class Wrote(NamedTuple):
    """A hunk and the name of the session that wrote it."""

    session: str
    hunk: Written


def matched(reviews: Iterable[Review], hunks: Iterable[Wrote]) -> list[Matched]:
    """The reviews of lines that one of these edits wrote, with the edit."""
    written: dict[str, list[Wrote]] = defaultdict(list)
    for wrote in hunks:
        for line in dict.fromkeys(wrote.hunk.added):
            written[line].append(wrote)
    found = []
    for review in reviews:
        writer = _writer(review, written)
        if writer is not None:
            wrote, lines = writer
            found.append(Matched(review.id, wrote.session, wrote.hunk.seq, lines))
    return found


def _writer(review: Review, written: dict[str, list[Wrote]]) -> tuple[Wrote, int] | None:
    if review.path is None or not review.hunk:
        return None
    lines: dict[tuple[str, int, int], int] = defaultdict(int)
    known: dict[tuple[str, int, int], Wrote] = {}
    for line in dict.fromkeys(review.hunk):
        for wrote in written.get(line, ()):
            if _is_file(wrote.hunk.path, review.path) and not _later(wrote.hunk, review):
                lines[_key(wrote)] += 1
                known[_key(wrote)] = wrote
    last = {_key(wrote) for wrote in written.get(review.hunk[-1], ())} & known.keys()
    chosen = last or {key for key in known if 2 * lines[key] > len(set(review.hunk))}
    if not chosen:
        return None
    best = max(chosen, key=lambda key: (lines[key], known[key].hunk.at or 0, key))
    return known[best], lines[best]


def _key(wrote: Wrote) -> tuple[str, int, int]:
    return wrote.session, wrote.hunk.seq, wrote.hunk.hunk


def _is_file(recorded: str, path: str) -> bool:
    """Whether a recorded path is this file of the repository."""
    whole = spelled(recorded)
    return whole == path or whole.endswith(f"/{path}")


def _later(hunk: Written, review: Review) -> bool:
    return review.at is not None and hunk.at is not None and hunk.at > review.at
