"""How much each file changed in the time before a commit, and by whose hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.git.history import FLAGS, MOST_COMMITS, reading, words

if TYPE_CHECKING:
    from collections.abc import Iterator

_START: Final = b"\x01"
_FORMAT: Final = "--format=%x01%an%x00%ct%x00"


class Touch(NamedTuple):
    """One commit's change to one file; lines are None where git calls the file binary."""

    path: str
    author: str
    at: int
    lines: int | None


def touches(folder: str, commit: str, since: int) -> Iterator[Touch]:
    """Every change to a file in the history of a commit from a moment on, merges left out."""
    asked = ("--numstat", "--no-renames", "--no-merges", f"--since={since // 1000}")
    command = ["git", "-C", folder, *FLAGS, *asked, f"--max-count={MOST_COMMITS}", _FORMAT]
    author, at = "", 0
    with reading([*command, commit, "--"]) as told:
        stream = words(told) if told is not None else iter(())
        for word in stream:
            mark = word.lstrip(b"\n")
            if mark.startswith(_START):
                author = mark[1:].decode("utf-8", "replace")
                moment = next(stream, b"")
                at = int(moment) * 1000 if moment.isdigit() else 0
            elif (parts := mark.split(b"\t", 2))[2:]:
                lines = [int(it) for it in parts[:2] if it.isdigit()]
                path = parts[2].decode("utf-8", "surrogateescape")
                yield Touch(path, author, at, sum(lines) if len(lines) == 2 else None)
