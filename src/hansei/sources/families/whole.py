"""Files that hold one JSON object and are written anew each time: read whole, or not at all.

What was read is known by its digest. A file caught half-written is noted and read again once it has
changed; what it told before stays told.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from hansei.errors import UnreadableTranscript
from hansei.events.keys import digest
from hansei.sources.contract import Cursor, Problem
from hansei.sources.families.records import FAILURES, rescue

if TYPE_CHECKING:
    from pathlib import Path

LARGEST = 256 * 1024 * 1024
"""A larger file is passed over: it would have to be held in memory several times."""
HALF_WRITTEN = "the file is not one JSON object; perhaps it is being written"
TOO_LARGE = "the file is larger than 256 MiB"


@dataclass(frozen=True)
class Whole:
    """A file as it is now; `value` is None where there is nothing new or nothing to be had."""

    cursor: Cursor
    value: dict[str, Any] | None = None
    size: int = 0
    restarted: bool = False
    problems: list[Problem] = field(default_factory=list)


def read(path: Path, since: Cursor) -> Whole:
    """The object in the file, if it is another one than was read before."""
    try:
        size = path.stat().st_size
        content = path.read_bytes() if size <= LARGEST else b""
    except OSError as problem:
        raise UnreadableTranscript(f"{path} cannot be read: {problem.strerror}") from problem
    mark = digest(content) if content else str(size)
    if since.offset and since.check == mark:
        return Whole(since)
    cursor = Cursor(offset=max(size, 1), line=1, check=mark)
    restarted = since.offset > 0
    if size > LARGEST:
        return Whole(cursor, None, size, restarted, [Problem(1, 0, TOO_LARGE)])
    value, problems = decode(content)
    return Whole(cursor, value, size, restarted, problems)


def decode(content: bytes) -> tuple[dict[str, Any] | None, list[Problem]]:
    """The object that some bytes are, and what was wrong with them; an empty file is neither."""
    try:
        value = msgspec.json.decode(content)
        if isinstance(value, dict):
            return value, []
    except FAILURES:
        pass
    rescued = rescue(content)
    if rescued.value is not None:
        problems = [Problem(1, 0, rescued.reason)] if rescued.reason else []
        return rescued.value, problems
    return None, [Problem(1, 0, HALF_WRITTEN)] if rescued.reason else []
