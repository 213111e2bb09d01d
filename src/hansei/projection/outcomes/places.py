"""Where an edited file lies in its repository.

Agents record paths from the root of some machine, in the spelling of that machine, in one of many
worktrees. A path is cut at a folder known to be a root; else the longest end of it that the
repository has ever had is taken.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from hansei.git.history import History

_DRIVE = re.compile(r"^/(?:mnt/)?([A-Za-z])(?=/)|^([A-Za-z]):(?=/)")


def plain(path: str) -> str:
    """A path with forward slashes; a drive is written the same on Windows and under WSL."""
    forward = path.replace("\\", "/")
    return _DRIVE.sub(lambda found: f"/{(found[1] or found[2]).lower()}:", forward)


def paths_of(history: History) -> frozenset[str]:
    """Every file that some commit changed."""
    return frozenset(change.path for it in history.commits for change in it.changes)


def place(path: str, roots: Iterable[str], known: Collection[str]) -> str | None:
    """A file from the top of the repository; None if it lies outside.

    A file that was never committed has a place too, if it is under one of the roots.
    """
    spelled = plain(path)
    for root in sorted({plain(root).rstrip("/") for root in roots}, key=len, reverse=True):
        if root and spelled.startswith(f"{root}/"):
            inside = spelled[len(root) + 1 :]
            return _longest_end(inside, known) or inside
    if not spelled.startswith(("/", "~")):
        return spelled.removeprefix("./")
    return _longest_end(spelled, known)


def _longest_end(path: str, known: Collection[str]) -> str | None:
    """The longest end that names a known file; a bare file name is too little to go by."""
    if path in known:
        return path
    parts = path.lstrip("/").split("/")
    ends = ("/".join(parts[start:]) for start in range(len(parts) - 1))
    return next((end for end in ends if end in known), None)
