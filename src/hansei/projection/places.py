"""Where a file lies in its repository, the same from every worktree and in every spelling.

Agents record paths from the root of some machine, in the spelling of that machine, in one of many
worktrees. A path is joined to where its call ran and cut at a folder known to be a root. How one
path is spelled is `commands.paths`; no disk is asked.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from hansei.projection.commands.paths import locate, spelled, tidy

if TYPE_CHECKING:
    from collections.abc import Iterable

TOP = "./"
"""The repository itself, as a place."""

_DRIVE = re.compile(r"[A-Z]:(?:/|$)")
_HOME = re.compile(r"((?:[A-Za-z]:)?/(?:home|Users)/[^/]+|/root)(?=/|$)")
_MOUNTED = re.compile(r"/(?:mnt|cygdrive)/[A-Za-z](?=/|$)")
_WORKTREE = re.compile(r"(?:\.[^/]+/)*(?:\.worktrees/[^/]+(?:/|$)|worktrees/[^/]+/)")
"""Where tools put the worktrees of a repository inside it."""


class Ground(NamedTuple):
    """The roots of a repository, and whose home they lie in."""

    roots: tuple[str, ...]
    """In one spelling, folded, the longest first."""
    windows: bool
    """Whether `/c/repo` is a drive."""
    home: str | None
    """The folder that `~` stands for, where the roots tell it."""


class Place(NamedTuple):
    """A file."""

    path: str
    """From the top of the repository; outside of it whole, with `~` for the home folder."""
    inside: bool
    key: str
    """The same for every spelling of this one file, and another one in another worktree."""


def repository_roots(folder: str | None, seen: Iterable[str]) -> tuple[str, ...]:
    """The repository's folder and, of the folders its sessions ran in, those beside it.

    Beside it lie worktrees; a folder inside a root is a place to stand, not another root.
    """
    found: list[str] = [folder] if folder else []
    for other in sorted(set(seen), key=lambda it: (len(it), it)):
        on, whole = ground(found), tidy(spelled(other))
        if whole not in ("", ".", "/") and inside(folded(whole), whole, on) is None:
            found.append(other)
    return tuple(found)


def ground(roots: Iterable[str]) -> Ground:
    """What paths are told from: the repository's folder and those of its worktrees."""
    whole = {tidy(spelled(root)): root for root in roots if root}
    # Under WSL `~` is not the home folder of Windows in which a mounted root may lie.
    homes = (_HOME.match(path) for path, root in whole.items() if not _MOUNTED.match(root))
    home = next((found[1] for found in homes if found), None)
    windows = any(_DRIVE.match(path) for path in whole)
    ordered = sorted({folded(path).rstrip("/") for path in whole}, key=lambda it: (-len(it), it))
    return Ground(tuple(root for root in ordered if root not in ("", ".")), windows, home)


def place(path: str, cwd: str | None, on: Ground) -> Place:
    """Where a path of a call that ran in `cwd` lies; a relative one of an unknown folder inside."""
    whole = locate(path, cwd)
    if on.windows and whole.startswith("/"):
        whole = spelled(whole, windows=True)
    if whole.startswith("~") and on.home and whole[1:2] in ("", "/"):
        whole = f"{on.home}{whole[1:]}"
    key = folded(whole)
    below = inside(key, whole, on)
    if below is None and not whole.startswith(("/", "~")) and not _DRIVE.match(whole):
        below = whole
    if below is not None:
        below = below.removeprefix("./")
        return Place(TOP if below in ("", ".") else below, True, key)
    if on.home and f"{key}/".startswith(f"{folded(on.home)}/"):
        whole = f"~{whole[len(on.home) :]}"
    return Place(whole, False, key)


def inside(key: str, whole: str, on: Ground) -> str | None:
    """The part of a path below a root or below a worktree in it; None outside."""
    for root in on.roots:
        if key == root or key.startswith(f"{root}/"):
            below = whole[len(root) + 1 :]
            worktree = _WORKTREE.match(below)
            return below[worktree.end() :] if worktree else below
    return None


def folded(whole: str) -> str:
    """What two paths have in common if they are one file: on a drive of Windows case is none."""
    return whole.lower() if _DRIVE.match(whole) else whole
