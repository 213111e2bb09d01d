"""Lines that agents wrote, and that people rewrote or took out again within two weeks.

Only what landed and has been there for two weeks counts: of younger lines nobody knows yet. What an
agent changed later, in whatever session, is work that went on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.projection.outcomes import By, Later
from hansei.projection.outcomes.model import DAY_MS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.projection.outcomes import Outcome
    from hansei.projection.window import Window

WITHIN_MS: Final = 14 * DAY_MS
_CHANGED: Final = frozenset((Later.REWORKED, Later.REMOVED, Later.REVERTED))


class Lines(NamedTuple):
    """What became of the lines of one hunk, two weeks after they had landed."""

    session: int
    seq: int
    path: str
    landed: int
    gone: int
    """By the hand of a person; 0 where an agent changed them."""
    commit: str | None
    """That took them away."""


def reworks(window: Window) -> Iterator[Lines]:
    """Every hunk that landed and can be judged, in order."""
    for session, row in window.outcomes:
        if row.landed and row.alive_14 is not None:
            gone = row.landed - row.alive_14 if _by_people(row) else 0
            commit = row.later_commit if gone else None
            path = row.landed_in or row.path
            yield Lines(session, row.seq, path, row.landed, gone, commit)


def is_below(path: str, folder: str) -> bool:
    """Whether a file or folder lies in a folder, which ends with a slash."""
    return folder.endswith("/") and path.startswith(folder)


def _by_people(row: Outcome) -> bool:
    """Whether people changed it in time; nobody else is known to revert a commit."""
    if row.later not in _CHANGED or row.later_at is None or row.landed_at is None:
        return False
    hands = row.later_by is By.PERSON or (
        row.later is Later.REVERTED and row.later_by is not By.AGENT
    )
    return hands and row.later_at - row.landed_at <= WITHIN_MS
