"""The commit and the branch of a folder, read from the files of git: no process is started."""

from __future__ import annotations

import os

LONGEST_FILE = 4 * 1024 * 1024
"""Packed references larger than this are not searched."""
_HEX = frozenset("0123456789abcdef")


def head(folder: str) -> tuple[str | None, str | None]:
    """Commit and branch; each None where there is none or git keeps it in a form we do not read."""
    found = git_folder(folder)
    if found is None:
        return None, None
    said = _text(f"{found}/HEAD").strip()
    if not said.startswith("ref: "):
        return _commit(said), None
    name = said[5:].strip()
    branch = name.removeprefix("refs/heads/")
    shared = _text(f"{found}/commondir").strip()  # a worktree keeps its branches with its siblings
    places = [found, os.path.join(found, shared)] if shared else [found]
    for place in places:
        commit = _commit(_text(f"{place}/{name}").strip()) or _packed(place, name)
        if commit is not None:
            return commit, branch
    return None, None if branch == ".invalid" else branch


def top(folder: str) -> str | None:
    """The folder that holds `.git`, above or at this one."""
    place = os.path.abspath(folder)
    while True:
        if os.path.lexists(os.path.join(place, ".git")):
            return place
        above = os.path.dirname(place)
        if above == place:
            return None
        place = above


def git_folder(folder: str) -> str | None:
    """Where git keeps what it knows of a folder; in a worktree `.git` is a file that says where."""
    place = top(folder)
    if place is None:
        return None
    own = os.path.join(place, ".git")
    if os.path.isdir(own):
        return own
    said = _text(own)
    return os.path.join(place, said[8:].strip()) if said.startswith("gitdir: ") else None


def _packed(place: str, name: str) -> str | None:
    for line in _text(f"{place}/packed-refs").splitlines():
        if line.endswith(name) and line[-len(name) - 1 : -len(name)] == " ":
            return _commit(line[: -len(name) - 1])
    return None


def _commit(text: str) -> str | None:
    return text if len(text) in (40, 64) and _HEX.issuperset(text) else None


def _text(path: str) -> str:
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        return ""
    try:
        if os.fstat(handle).st_size > LONGEST_FILE:
            return ""
        return os.read(handle, LONGEST_FILE).decode("utf-8", "replace")
    except OSError:
        return ""
    finally:
        os.close(handle)
