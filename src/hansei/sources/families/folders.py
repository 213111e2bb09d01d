"""Looking for transcripts in folders, quickly and without going in circles."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

DEEPEST = 12
"""No agent nests its folders this far; whatever does is not a transcript folder."""


class Seen(NamedTuple):
    """A file, with what its folder says of it."""

    path: Path
    fingerprint: str


def fingerprint(status: os.stat_result) -> str:
    """Changes whenever the file does: size, time and the file itself."""
    return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ino}"


def files(
    roots: Iterable[Path], suffix: str | tuple[str, ...], skip: frozenset[str]
) -> Iterator[Seen]:
    """Files with a suffix below the roots, each once; folders named in `skip` are left out.

    What cannot be looked into is passed over: an agent that is not there has no folder.
    """
    visited: set[tuple[int, int]] = set()
    waiting = [(str(root), 0) for root in reversed(list(roots))]
    while waiting:
        folder, depth = waiting.pop()
        below = []
        for entry in _entries(folder, visited):
            try:
                if entry.name.endswith(suffix) and entry.is_file():
                    yield Seen(Path(entry.path), fingerprint(entry.stat()))
                elif depth < DEEPEST and entry.name not in skip and entry.is_dir():
                    below.append((entry.path, depth + 1))
            except OSError:  # gone since the folder was listed, or a link to itself
                continue
        waiting += reversed(below)


def these_files(paths: Iterable[Path]) -> Iterator[Seen]:
    """Those of the files that are there, each once."""
    visited: set[tuple[int, int]] = set()
    for path in paths:
        try:
            status = path.stat()
        except OSError:
            continue
        identity = (status.st_dev, status.st_ino)
        if identity not in visited:
            visited.add(identity)
            yield Seen(path, fingerprint(status))


def _entries(folder: str, visited: set[tuple[int, int]]) -> list[os.DirEntry[str]]:
    """A folder's entries by name; none if it was listed before under another name."""
    try:
        status = os.stat(folder)  # noqa: PTH116 - hot: thousands of folders
        identity = (status.st_dev, status.st_ino)
        if identity in visited:
            return []
        visited.add(identity)
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError:
        return []
