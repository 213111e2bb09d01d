"""Patches in the form of `*** Begin Patch`: which files they change, and what they put there."""

from __future__ import annotations

import re
from typing import Final

_LOOKED_AT: Final = 60_000
"""Characters of a patch that are looked at."""
_STEP = re.compile(r"^[ +]?\*\*\* ((Update|Add|Delete) File: ([^\n]+?))\s*$", re.MULTILINE)


def is_patch(text: str) -> bool:
    return "*** Begin Patch" in text[:_LOOKED_AT]


def steps(text: str) -> list[str]:
    """What a patch does to which files, as it says itself."""
    return [found[1] for found in _STEP.finditer(text[:_LOOKED_AT])]


def files(text: str, *, deleted: bool = True) -> tuple[str, ...]:
    """Files that a patch names; without those that it only deletes where that is asked."""
    return tuple(
        found[3] for found in _STEP.finditer(text[:_LOOKED_AT]) if deleted or found[2] != "Delete"
    )


def put(text: str) -> str:
    """The lines that a patch puts into files."""
    lines = text[:_LOOKED_AT].split("\n")
    return "\n".join(line[1:] for line in lines if line.startswith("+"))
