"""What was done to books, with every byte before and after, so that it can be taken back.

One file of lines that only grows. What is about to be done is noted first, then done, then marked
as done; what a crash leaves between is settled before the next change. It is the history of this
person on this machine: a book in a repository has git besides.
"""

from __future__ import annotations

import os
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from hansei.installation import files as disk

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class Progress(StrEnum):
    """How far an entry got. The two in between are met only after a crash."""

    INTENDED = "intended"
    DONE = "done"
    UNDOING = "undoing"
    UNDONE = "undone"
    VOID = "void"


class Change(msgspec.Struct, frozen=True):
    """One file of a book; None is no file."""

    name: str
    before: bytes | None
    after: bytes | None


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that was asked for, over one or several skills."""

    id: int
    at: int
    operation: str
    changes: tuple[Change, ...]
    book: str = ""
    """The folder of the book; one history tells of all books of a person."""
    by: str = ""
    progress: Progress = Progress.INTENDED
    undone_at: int | None = None


class _Line(msgspec.Struct, omit_defaults=True):
    """A new entry, or how far an earlier one got since."""

    entry: Entry | None = None
    id: int = 0
    progress: Progress = Progress.INTENDED
    at: int | None = None


def entries(file: Path) -> list[Entry]:
    """Everything that was done, oldest first. A line that a crash cut short is none."""
    try:
        lines = file.read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    found: dict[int, Entry] = {}
    for line in lines:
        try:
            told = msgspec.json.decode(line, type=_Line)
        except msgspec.DecodeError:
            continue
        if told.entry is not None:
            found[told.entry.id] = told.entry
        elif told.id in found:
            found[told.id] = msgspec.structs.replace(
                found[told.id], progress=told.progress, undone_at=told.at
            )
    return [entry for entry in found.values() if entry.progress is not Progress.VOID]


def standing(file: Path) -> dict[tuple[str, str], bytes | None]:
    """By book and name: what was written last and not taken back."""
    try:
        status = file.stat()
    except FileNotFoundError:
        return {}
    return _standing(file, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=2)  # asked for every skill of a book, and written only at the end
def _standing(file: Path, _changed: int, _size: int) -> dict[tuple[str, str], bytes | None]:
    return {
        (entry.book, change.name): change.after
        for entry in entries(file)
        if entry.progress is Progress.DONE
        for change in entry.changes
    }


def intend(file: Path, entry: Entry) -> None:
    """Note what is about to be done."""
    _append(file, _Line(entry=entry))


def mark(file: Path, number: int, progress: Progress, at: int | None = None) -> None:
    """Note how far an entry got."""
    _append(file, _Line(id=number, progress=progress, at=at))


def forget(file: Path, book: str) -> None:
    """Have nothing told of a book any more; the numbers of its entries are not given again."""
    gone = {it.id: _Line(entry=_gone(it)) for it in entries(file) if it.book == book}
    if not gone:
        return
    before = file.read_bytes()
    kept = [_without(line, gone) for line in before.split(b"\n") if line]
    disk.replace(file, b"\n".join(kept) + b"\n", expected=before)


def _without(line: bytes, gone: Mapping[int, _Line]) -> bytes:
    try:
        entry = msgspec.json.decode(line, type=_Line).entry
    except msgspec.DecodeError:
        return line
    known = None if entry is None else gone.get(entry.id)
    return line if known is None else msgspec.json.encode(known)


def _gone(entry: Entry) -> Entry:
    return Entry(entry.id, 0, "forgotten", (), progress=Progress.VOID)


def next_number(file: Path) -> int:
    """The number of a new entry; one that was given up keeps its own."""
    try:
        lines = file.read_bytes().count(b'{"entry":')
    except FileNotFoundError:
        lines = 0
    return lines + 1


def _append(file: Path, line: _Line) -> None:
    handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        size = os.fstat(handle).st_size
        # After a line that was cut short a new one must begin.
        cut = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
        os.write(handle, (b"\n" if cut else b"") + msgspec.json.encode(line) + b"\n")
        os.fsync(handle)
    finally:
        os.close(handle)
