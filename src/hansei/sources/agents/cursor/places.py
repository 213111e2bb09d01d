"""Folders as this agent keeps them: in notes beside a chat, and squeezed into one word."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hansei.sources.families.addresses import folder_of
from hansei.sources.families.clock import instant

if TYPE_CHECKING:
    from collections.abc import Iterator

_SQUEEZED = re.compile(r"[^A-Za-z0-9]+")
DEEPEST = 16
"""Folders below one another that are tried for one squeezed name."""


class Kept(NamedTuple):
    """What the command-line program keeps of a chat beside its transcript."""

    folder: str | None
    created: int | None


def kept_by_program(transcript: Path, chat: str) -> Kept | None:
    """The note the command-line program made of a chat; None if it is not one of its chats."""
    projects = next((place for place in transcript.parents if place.name == "projects"), None)
    if projects is None:
        return None
    for place in _chat_folders(projects.parent / "chats", chat):
        try:
            note = json.loads((place / "meta.json").read_bytes())
        except (OSError, ValueError):
            note = {}
        note = note if isinstance(note, dict) else {}
        return Kept(folder_of(note.get("cwd")), instant(note.get("createdAtMs")))
    return None


def _chat_folders(chats: Path, chat: str) -> Iterator[Path]:
    try:
        workspaces = sorted(chats.iterdir())
    except OSError:
        return
    yield from (place for workspace in workspaces if (place := workspace / chat).is_dir())


def unsqueezed(transcript: Path, top: Path = Path("/")) -> str | None:
    """The one folder there is whose name, squeezed, is that of a transcript's project.

    `home-me-my-app` may be /home/me/my-app or /home/me/my/app. None if there is none any more, or
    more than one.
    """
    parents = transcript.parents
    place = next((number for number, at in enumerate(parents) if at.name == "projects"), 0)
    if not place:
        return None
    words = _SQUEEZED.sub("-", parents[place - 1].name).strip("-")
    found = list(_matching(top, words, DEEPEST))
    return str(found[0]) if len(found) == 1 else None


def _matching(folder: Path, words: str, depth: int) -> Iterator[Path]:
    try:
        below = [entry for entry in sorted(folder.iterdir()) if entry.is_dir()]
    except OSError:
        return
    for entry in below:
        name = _SQUEEZED.sub("-", entry.name).strip("-")
        if name and words == name:
            yield entry
        elif name and depth and words.startswith(f"{name}-"):
            yield from _matching(entry, words[len(name) + 1 :], depth - 1)
