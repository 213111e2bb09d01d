"""One message or part of a message as it is kept, in whichever layout."""

from __future__ import annotations

from typing import NamedTuple


class Stored(NamedTuple):
    """One message or part as it is kept."""

    place: int
    """Where it is, for whoever looks for it: the number of a row, or a digest of a file's name."""
    id: str
    data: bytes
    changed: int = 0
    """When its row was last written; files are asked for all of a message at once."""
