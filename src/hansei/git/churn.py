"""How much each file changed in a commit, and by whose hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.git.history import FLAGS, MOST_COMMITS, listed_commits, reading, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_START: Final = b"\x01"
_FORMAT: Final = "--format=%x01%H%x00%an%x00%ct%x00"


class Touch(NamedTuple):
    """One commit's change to one file; lines are None where git calls the file binary."""

    path: str
    author: str
    at: int
    lines: int | None


def recent(folder: str, commit: str, since: int) -> list[str]:
    """The commits in the history of one from a moment on, merges left out."""
    asked = ("--no-merges", f"--since={since // 1000}", commit)
    return [name for name, _ in listed_commits(folder, MOST_COMMITS, *asked)]


def touches(folder: str, commits: Sequence[str]) -> Iterator[tuple[str, list[Touch]]]:
    """What commits changed, each with its name."""
    if not commits:
        return
    names = "".join(f"{name}\n" for name in commits).encode()
    asked = ("--no-walk=unsorted", "--stdin", "--numstat", "--no-renames", _FORMAT)
    with reading(["git", "-C", folder, *FLAGS, *asked, "--"], names) as told:
        yield from _told(words(told) if told is not None else iter(()))


def _told(stream: Iterator[bytes]) -> Iterator[tuple[str, list[Touch]]]:
    name, author, at = "", "", 0
    found: list[Touch] = []
    for word in stream:
        mark = word.lstrip(b"\n")
        if mark.startswith(_START):
            if name:
                yield name, found
            name, found = mark[1:].decode("ascii", "replace"), []
            author = next(stream, b"").decode("utf-8", "replace")
            moment = next(stream, b"")
            at = int(moment) * 1000 if moment.isdigit() else 0
        elif (parts := mark.split(b"\t", 2))[2:]:
            lines = [int(it) for it in parts[:2] if it.isdigit()]
            path = parts[2].decode("utf-8", "surrogateescape")
            found.append(Touch(path, author, at, sum(lines) if len(lines) == 2 else None))
    if name:
        yield name, found
