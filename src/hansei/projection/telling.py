"""Failures that say something about the project, as stretches from a failure to what ended it.

Pages of the web that cannot be had, and lines that say no more than that it failed, tell nothing.
What is not there at all is told by `tries`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hansei.events.model import Tool
from hansei.projection.failures.missing import missing
from hansei.projection.ways import parted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.projection.failures import Episode, Failure
    from hansei.projection.window import Window

_VAGUE: Final = frozenset(("failed", "exit", "error", "errors"))
"""A line of nothing but these says nothing about what went wrong."""


def telling(window: Window) -> Iterator[tuple[int, Episode]]:
    """Sessions and their episodes of such failures; each is known by its signature."""
    web = {(session, row.seq) for session, row in window.calls if row.tool is Tool.WEB}
    rows = {(session, row.seq): row for session, row in window.failures}
    for session, episode in parted(window):
        place = session, episode.seq
        if place not in web and missing(rows[place]) is None and not _is_vague(rows[place]):
            yield session, episode


def _is_vague(row: Failure) -> bool:
    told = [word for word in row.line.lower().split() if not word.strip("()").isdigit()]
    return all(word.strip(".:!") in _VAGUE for word in told)
