"""Files of a repository at a commit, read from git's objects: nothing is checked out.

One `git cat-file` answers all questions about a repository. Folders that did not change between two
commits are the same object, so each is taken apart once however many commits are asked about.
"""

from __future__ import annotations

import posixpath
import subprocess
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, NamedTuple, Self

from hansei.git.repository import own_environment

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

MOST_FOLDERS = 50_000
"""More folders than this are not looked through: it would take longer than a minute."""
_PIECE = 1 << 20
_FOLDER, _LINK, _MODULE = "40000", "120000", "160000"


class Entry(NamedTuple):
    """A file in a commit: its path, how git marks it, and the object that holds it."""

    path: str
    mode: str
    id: str


class TooLarge(Exception):
    """The repository has more folders than we look through."""


@dataclass
class Objects:
    """The objects of one repository, while it is being asked."""

    folder: str
    process: subprocess.Popen[bytes] = field(init=False)
    _found: dict[tuple[str, str], list[Entry]] = field(default_factory=dict)
    """Files in a folder that were wanted, by the folder's object and where it stands."""

    def __enter__(self) -> Self:
        self.process = subprocess.Popen(
            ["git", "-C", self.folder, "cat-file", "--batch"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=own_environment(),
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.kill()
        self.process.communicate()

    def read(self, name: str) -> tuple[str, str, bytes] | None:
        """Id, type and content of an object; None if there is none of that name."""
        asked, told = self._pipes()
        if "\n" in name:
            return None
        try:
            asked.write(name.encode("utf-8", "surrogateescape") + b"\n")
            asked.flush()
        except OSError:  # git has ended: this is no repository
            return None
        head = told.readline().split()
        if len(head) != 3:
            return None
        data = told.read(int(head[2]) + 1)[:-1]
        return head[0].decode(), head[1].decode(), data

    def blob(self, name: str, most: int) -> bytes | None:
        """A file's content; None if it is not here, no file, or larger than `most` bytes."""
        asked, told = self._pipes()
        try:
            asked.write(name.encode("utf-8", "surrogateescape") + b"\n")
            asked.flush()
        except OSError:
            return None
        head = told.readline().split()
        if len(head) != 3:
            return None
        size = int(head[2])
        if size <= most:
            data = told.read(size + 1)[:-1]
            return data if head[1] == b"blob" else None
        left = size + 1
        while left > 0 and (piece := told.read(min(left, _PIECE))):
            left -= len(piece)
        return None

    def files(
        self, commit: str, wanted: Callable[[str], bool], tail: Callable[[str], str]
    ) -> list[Entry] | None:
        """The wanted files of a commit; None if the commit is not here.

        `tail` is the part of a folder's path that decides whether a file in it is wanted.
        """
        top = self.read(f"{commit}^{{tree}}")
        if top is None or top[1] != "tree":
            return None
        return self._walk(top[0], "", wanted, tail)

    def content(self, commit: str, entry: Entry) -> bytes | None:
        """What a file holds; of a link, the file in the repository that it leads to."""
        found = self.read(entry.id)
        if found is not None and entry.mode == _LINK:
            target = found[2].decode("utf-8", "surrogateescape")
            path = posixpath.normpath(posixpath.join(posixpath.dirname(entry.path), target))
            found = self.read(f"{commit}:{path}")
        return found[2] if found is not None and found[1] == "blob" else None

    def _walk(
        self, tree: str, place: str, wanted: Callable[[str], bool], tail: Callable[[str], str]
    ) -> list[Entry]:
        known = self._found.get((tree, place))
        if known is not None:
            return known
        if len(self._found) > MOST_FOLDERS:
            raise TooLarge(self.folder)
        read = self.read(tree)
        found: list[Entry] = []
        for mode, name, child in entries(read[2], len(tree) // 2) if read else ():
            path = f"{place}/{name}" if place else name
            if mode == _FOLDER:
                inside = self._walk(child, tail(path), wanted, tail)
                found += [Entry(f"{name}/{it.path}", it.mode, it.id) for it in inside]
            elif mode != _MODULE and wanted(path):
                found.append(Entry(name, mode, child))
        self._found[tree, place] = found
        return found

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        return self.process.stdin, self.process.stdout


def entries(data: bytes, id_bytes: int) -> list[tuple[str, str, str]]:
    """The entries of a folder's object: mode, name and id."""
    found = []
    place = 0
    while place < len(data):
        space, end = data.index(b" ", place), data.index(b"\0", place)
        name = data[space + 1 : end].decode("utf-8", "surrogateescape")
        child = data[end + 1 : end + 1 + id_bytes].hex()
        found.append((data[place:space].decode(), name, child))
        place = end + 1 + id_bytes
    return found
