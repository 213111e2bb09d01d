"""What one call shows of files and does to them, before it is compared with other calls."""

from __future__ import annotations

import re
from typing import NamedTuple

from hansei.projection.files.model import Extent, Verb
from hansei.projection.places import TOP, Ground, Place, place

_FILE_NAME = re.compile(
    r"[^/]+\.[A-Za-z][A-Za-z0-9_-]{0,11}|\.env|\.[a-z]*(?:rc|ignore|config|attributes|profile)"
    r"|[A-Z][A-Za-z]*file|[A-Z]{4,}"
)
"""What a file is called, where a folder could stand too: it has an ending, or shouts."""
_MANY = re.compile(r"[*?]|\{[^}/]*,")
"""Many files. A `[` is more often the name of a route than a pattern."""


class Seen(NamedTuple):
    """One file in one call."""

    place: Place
    verb: Verb
    extent: Extent = Extent.WHOLE
    first: int | None = None
    last: int | None = None
    alone: bool = False
    """Whether the output holds nothing else."""


class Places:
    """Places of one session: the same few paths come again and again."""

    def __init__(self, on: Ground) -> None:
        self._on = on
        self._known: dict[tuple[str, str | None], Place] = {}
        self._names: dict[str, str] = {}

    def of(self, path: str, cwd: str | None) -> Place:
        """The place of a path, by the name under which it was met first."""
        found = self._known.get((path, cwd))
        if found is None:
            found = place(path, cwd, self._on)
            found = found._replace(path=self._names.setdefault(found.key, found.path))
            self._known[path, cwd] = found
        return found


def as_folder(found: Place) -> Place:
    """The same place if it is a file, else with the mark of a folder."""
    last = found.path.rpartition("/")[2]
    if found.path == TOP or not last or _MANY.search(found.path) or _FILE_NAME.fullmatch(last):
        return found
    return found._replace(path=f"{found.path}/")


def is_one_file(path: str) -> bool:
    """Whether a path names a file, not a folder or many files."""
    return not path.endswith("/") and not _MANY.search(path)
