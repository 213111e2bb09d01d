"""Files that grow by one line of JSON at a time, read from where the last reading stopped.

A line belongs to us only once its newline is there: what follows the last newline waits for its
rest. The cursor carries a digest of the bytes just before its offset. If those are no longer there,
the file was cut or rewritten and is read again from the start; events have lasting keys, so that
does no harm.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from hansei.errors import UnreadableTranscript
from hansei.events.keys import digest
from hansei.sources.contract import Cursor, Problem, Reading

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    from hansei.events.model import AnyEvent, SessionFacts

CHECKED_BYTES = 256
"""How much before the offset is compared: more than any two neighbouring lines have in common."""
LONGEST_LINE = 64 * 1024 * 1024
"""A longer line is skipped and never held in memory."""
STEP_BYTES = 1024 * 1024
"""How much is read at once while looking for the end of a long line."""


class Readable(Protocol):
    """What lines are taken from: a file, or one that is unpacked on the way."""

    def seek(self, offset: int, /) -> int: ...
    def read(self, size: int, /) -> bytes | None: ...


class Made(Protocol):
    """What was made of lines so far."""

    events: dict[int, AnyEvent]
    sessions: dict[str, SessionFacts]
    problems: list[Problem]
    records: int


@dataclass(frozen=True)
class Slice:
    """Complete lines of one file, and where they stand in it."""

    offset: int
    line: int
    """Number of the first line, from 1."""
    lines: list[bytes]
    end: int
    check: str
    passed: int
    """Lines between the cursor and `end`, skipped ones included."""
    more: bool
    restarted: bool
    problems: list[Problem] = field(default_factory=list)

    def numbered(self) -> Iterator[tuple[int, int, bytes]]:
        """Each line with its number and its offset."""
        offset = self.offset
        for number, line in enumerate(self.lines, self.line):
            yield number, offset, line
            offset += len(line) + 1

    def cursor(self, state: dict[str, Any]) -> Cursor:
        """Where the next reading starts."""
        line = self.line - 1 + self.passed
        return Cursor(offset=self.end, line=line, check=self.check, state=state)

    def reading(self, made: Made, state: dict[str, Any]) -> Reading:
        """What was made of the lines; those that were passed over are records too."""
        return Reading(
            cursor=self.cursor(state),
            events=list(made.events.values()),
            sessions=made.sessions,
            problems=made.problems,
            records=made.records + len(self.problems),
            taken=self.end - self.offset,
            more=self.more,
            restarted=self.restarted,
        )


def read(path: Path, since: Cursor, limit: int) -> Slice:
    """Complete lines after the cursor: about `limit` bytes of them, but at least one."""
    try:
        with open(path, "rb", buffering=0, opener=_open_at_once) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise UnreadableTranscript(f"{path} is not a file")
            return read_open(file, status.st_size, since, max(limit, 1))
    except OSError as problem:
        raise UnreadableTranscript(f"{path} cannot be read: {problem.strerror}") from problem


def line_at(path: Path, offset: int) -> bytes:
    """The one line that starts at an offset; empty where there is none any more."""
    try:
        with path.open("rb") as file:
            file.seek(offset)
            return file.readline(LONGEST_LINE)
    except OSError:
        return b""


def _open_at_once(path: str, flags: int) -> int:
    """Open without waiting: a pipe with a transcript's name would otherwise block for ever."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def read_open(file: Readable, size: int, since: Cursor, limit: int) -> Slice:
    """The same from a file that is open already."""
    restarted = since.offset > 0 and not _continues(file, size, since)
    start, line = (0, 1) if restarted else (since.offset, since.line + 1)
    data = _bytes(file, start, min(limit, max(size - start, 0)))
    kept = data[: data.rfind(b"\n") + 1]
    end = start + len(kept)
    problems = []
    if not kept and start + len(data) < size:
        kept, end = _long_line(file, start, data)
        if end > start and not kept:
            problems.append(Problem(line, start, "the line is longer than 64 MiB"))
    lines = kept.split(b"\n")[:-1] if kept else []
    return Slice(
        offset=start,
        line=line,
        lines=lines,
        end=end,
        check=_check(file, end),
        passed=len(lines) + len(problems),
        more=start < end < size,
        restarted=restarted,
        problems=problems,
    )


def _continues(file: Readable, size: int, since: Cursor) -> bool:
    return size >= since.offset and _check(file, since.offset) == since.check


def _check(file: Readable, offset: int) -> str:
    length = min(offset, CHECKED_BYTES)
    return digest(_bytes(file, offset - length, length)) if length else ""


def _bytes(file: Readable, offset: int, length: int) -> bytes:
    file.seek(offset)
    return file.read(length) or b""


def _long_line(file: Readable, start: int, data: bytes) -> tuple[bytes, int]:
    """One line longer than the limit, with its newline; no bytes if it is too long or unfinished.

    The offset returned is past the line also where the line itself is too long to be kept.
    """
    pieces = [data]
    end = start + len(data)
    while chunk := _bytes(file, end, STEP_BYTES):
        newline = chunk.find(b"\n")
        if newline >= 0:
            end += newline + 1
            fits = end - start <= LONGEST_LINE + 1
            return b"".join([*pieces, chunk[: newline + 1]]) if fits else b"", end
        end += len(chunk)
        if end - start > LONGEST_LINE:
            pieces.clear()
        else:
            pieces.append(chunk)
    return b"", start
