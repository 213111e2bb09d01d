"""Files that were read page by page: many reads of a part between two prompts, and no edit of it.

Whoever edits in between looks at what he edits, which is no paging. Neither is coming back to a
file after other work, nor a look at the same lines again, which another rule counts.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.projection.files import Extent, Verb

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hansei.projection.files import Touch
    from hansei.projection.window import Window

PAGES: Final = 4
"""Reads that make it paging: two or three are a look at the places that a search told."""

BETWEEN: Final = 6
"""Other calls between two pages: agents look up a name or two on the way; after more than that they
came back for something."""


class Paging(NamedTuple):
    """One file that one session paged through in one go."""

    session: int
    path: str
    pages: tuple[int, ...]
    """The calls, in order."""
    seen: int
    """Lines that they brought, each counted once."""
    furthest: int
    """The last line that any of them asked for."""


def pagings(window: Window) -> list[Paging]:
    """Every file of the repository that was paged through, by session and in order."""
    runs: dict[tuple[int, str], list[list[Touch]]] = defaultdict(list)
    for session, touch in window.touches:
        if touch.inside:
            told = runs[session, touch.path]
            if told and told[-1] and _is_far(window, session, told[-1][-1], touch):
                told.append([])
            _tell(told, touch)
    found = (
        Paging(session, path, tuple(sorted({it.seq for it in run})), *_lines(run))
        for (session, path), those in runs.items()
        for run in those
    )
    return sorted(it for it in found if len(it.pages) >= PAGES)


def _is_far(window: Window, session: int, last: Touch, touch: Touch) -> bool:
    return len(window.calls_of(session, last.seq, touch.seq)) > BETWEEN


def _tell(runs: list[list[Touch]], touch: Touch) -> None:
    """A page goes on with the run before it; anything but a look ends that."""
    if touch.verb is not Verb.READ:
        if touch.verb not in (Verb.SEARCH, Verb.LIST):
            runs.append([])
    elif touch.extent is Extent.LINES and touch.again is None and touch.first is not None:
        if not runs or (runs[-1] and runs[-1][0].turn != touch.turn):
            runs.append([])
        runs[-1].append(touch)


def _lines(run: Iterable[Touch]) -> tuple[int, int]:
    """How many lines a run brought, and the furthest of them."""
    seen = end = 0
    for first, last in sorted(_spans(run)):
        seen += max(last - max(first, end + 1) + 1, 0)
        end = max(end, last)
    return seen, end


def _spans(run: Iterable[Touch]) -> Iterator[tuple[int, int]]:
    for it in run:
        if it.first is not None and it.first > 0:
            yield it.first, it.last if it.last is not None and it.last > 0 else it.first
