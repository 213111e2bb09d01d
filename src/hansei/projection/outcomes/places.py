"""Where an edited file lies in its repository, as far as its history knows.

A path is cut at a folder known to be a root; else the longest end of it that the repository has
ever had is taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.projection.commands.paths import is_absolute, spelled, tidy
from hansei.projection.places import folded, ground, inside

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


def place(path: str, roots: Iterable[str], known: Collection[str]) -> str | None:
    """A file from the top of the repository; None if it lies outside.

    A file that was never committed has a place too, if it is under one of the roots.
    """
    on = ground(roots)
    whole = tidy(spelled(path, windows=on.windows))
    below = inside(folded(whole), whole, on)
    if below is not None:
        return _longest_end(below, known) or below
    if not is_absolute(whole):
        return whole
    return _longest_end(whole, known)


def _longest_end(path: str, known: Collection[str]) -> str | None:
    """The longest end that names a known file; a bare file name is too little to go by."""
    if path in known:
        return path
    parts = path.lstrip("/").split("/")
    ends = ("/".join(parts[start:]) for start in range(len(parts) - 1))
    return next((end for end in ends if end in known), None)
