"""Big files that a session read whole though it edited only a few lines of them.

Sessions that read it and change nothing may have needed all of it, and so may those that write it
anew: they count for nothing.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from hansei.projection.files import Extent, Verb

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hansei.projection.files import Touch
    from hansei.projection.window import Window

BIG: Final = 400
"""Lines; below, a file fits into what agents read at once anyway."""
MARGIN: Final = 30
"""Lines around an edit that have to be seen to make it."""
SHARE: Final = 0.6
"""Edits that need more of the file than this leave little to spare."""
PARTS: Final = 10
SPREAD: Final = 5
"""Of the equal parts of a file: edits in more of them are spread over all of it, however short each
is, and neither a range nor a split would spare anything."""
_ANEW: Final = frozenset((Verb.WRITE, Verb.CREATE, Verb.DELETE, Verb.RENAME))


@dataclass
class Story:
    """What one session did with one file."""

    reads: list[Touch] = field(default_factory=list)
    """Of all of it."""
    edits: list[Touch] = field(default_factory=list)
    rewritten: bool = False
    """Whether it was made, written anew or removed, which takes all of it."""
    all: list[Touch] = field(default_factory=list)

    @property
    def lines(self) -> int:
        """Lines of the file, as far as a read of all of it told them."""
        return max((it.last or 0 for it in self.reads), default=0)

    @property
    def small_work(self) -> bool:
        """Whether parts of it were edited, and nothing more."""
        return bool(self.edits) and not self.rewritten


def stories(window: Window) -> dict[str, dict[int, Story]]:
    """What sessions did with files of the repository, by path and session."""
    found: dict[str, dict[int, Story]] = defaultdict(dict)
    for session, touch in window.touches:
        if touch.inside:
            _tell(found[touch.path].setdefault(session, Story()), touch)
    return found


def needed(
    story: Story, *, big: int = BIG, margin: int = MARGIN, share: float = SHARE
) -> float | None:
    """The part of a big file that was needed where it was read whole for less; else None."""
    lines = story.lines
    if not story.small_work or lines < big or _places(story.edits, lines) > SPREAD:
        return None
    part = _covered(story.edits, margin, lines) / lines
    return part if part <= share else None


def _tell(story: Story, touch: Touch) -> None:
    story.all.append(touch)
    if touch.verb is Verb.READ:
        if touch.extent is Extent.WHOLE and touch.bytes is not None:
            story.reads.append(touch)
    elif touch.verb is Verb.EDIT and touch.extent is not Extent.WHOLE:
        story.edits.append(touch)
    elif touch.verb in _ANEW:
        story.rewritten = True


def _places(edits: Iterable[Touch], lines: int) -> int:
    """In how many parts of the file edits lie; where one was is not always told."""
    return len({min((it.first - 1) * PARTS // lines, PARTS) for it in edits if it.first})


def _covered(edits: Iterable[Touch], margin: int, lines: int) -> int:
    """Lines that are edited or near an edit; where an edit was is not always told."""
    spans = sorted((it.first, it.last or it.first) for it in edits if it.first is not None)
    unknown = sum(it.first is None for it in edits)
    covered = end = 0
    for first, last in spans:
        start, stop = max(first - margin, end + 1, 1), min(last + margin, lines)
        covered += max(stop - start + 1, 0)
        end = max(end, stop)
    return min(covered + unknown * (2 * margin + 1), lines)
