"""Searches and listings whose answers are crowded with files that nobody wrote.

Installed packages, caches and built pages outnumber the sources of a repository by far, so a search
from its top answers with little else, and where answers are cut, with nothing else.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.config import CommandClass
from hansei.events.model import Tool
from hansei.projection.files.seen import Places
from hansei.projection.places import ground

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hansei.projection.calls import Call

_MADE: Final = (
    "node_modules", "bower_components", "site-packages", ".venv", "venv", "__pycache__", ".tox",
    ".mypy_cache", ".pytest_cache", ".ruff_cache", ".next", ".nuxt", ".svelte-kit", ".turbo",
    ".parcel-cache", ".gradle", ".dart_tool", ".terraform", "Pods", ".git",
)  # fmt: skip
"""Folders that only programs write to. Not `build`, `dist`, `target`: some write those by hand."""
_FOLDER: Final = re.compile(
    rf"^(?P<folder>(?:[^:]|^[A-Za-z]:)*?(?:^|[\\/])(?:{'|'.join(map(re.escape, _MADE))}))[\\/]"
)
"""Up to the first of them, in the path that a line begins with: a match follows a colon."""
_WITHIN: Final = re.compile(rf"(?:^|[\\/\"' ])(?:{'|'.join(map(re.escape, _MADE))})(?:[\\/\"' ]|$)")
LISTERS: Final = frozenset(("ls", "dir", "tree", "find", "fd", "Get-ChildItem", "gci"))
"""Programs that list files."""
_PATH: Final = re.compile(r"[\\/]")
FEWEST: Final = 10
"""Lines; fewer disturb nobody."""


class Crowded(NamedTuple):
    """One answer, half of which or more is such files."""

    seq: int
    """The call."""
    lines: int
    """That name a file."""
    made: int
    """Of those, in folders that only programs write to."""
    share: float
    """Of the answer's letters."""
    folders: tuple[str, ...]
    """Which folders, the most frequent first, from the top of the repository."""


def crowded(calls: Sequence[Call], roots: Iterable[str] = ()) -> list[Crowded]:
    """The answers that are crowded, in order; not those of calls that asked for such a folder."""
    places = Places(ground(roots))
    return [
        row
        for call in calls
        if _looks_for_files(call) and not _WITHIN.search(call.event.text)
        for row in _rows(call, places)
    ]


def _looks_for_files(call: Call) -> bool:
    if call.script is None or call.script.main is None:
        return call.event.tool is Tool.SEARCH
    main = call.script.commands[call.script.main]
    return main.kind is CommandClass.SEARCH or main.program in LISTERS


def _rows(call: Call, places: Places) -> Iterator[Crowded]:
    if call.result is None:
        return
    told = call.result.text.splitlines()
    lines = [line for line in told if _PATH.search(line)]
    found = [(line, match["folder"]) for line in lines if (match := _FOLDER.match(line))]
    if len(found) < FEWEST or 2 * len(found) < len(lines):
        return
    letters = sum(map(len, told))
    folders = Counter(places.of(folder, call.event.cwd).path for _, folder in found)
    yield Crowded(
        seq=call.seq,
        lines=len(lines),
        made=len(found),
        share=sum(len(line) for line, _ in found) / letters,
        folders=tuple(sorted(folders, key=lambda it: (-folders[it], it))),
    )
