"""A log as it lies on disk, taken apart as far as every format needs it.

A log is one JSON value, a JSON object per line, or text. Which of these it is shows in its bytes,
never in its name, since people rename what they export.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from hansei.errors import UnreadableTranscript
from hansei.events.keys import digest
from hansei.sources.contract import Problem
from hansei.sources.families.records import BAD_BYTES, FAILURES, NO_OBJECT, rescue

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LONGEST = 256 * 1024 * 1024
"""A larger log is refused: it is read whole, because what is told first may stand last in it."""
LOOKED_AT = 50
"""Records that decide which format a log is in."""
_SPACE = b"\x00 \t\r\n"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""How text of two bytes a letter begins: PowerShell writes so what it is told to put in a file."""


_MERGE = (b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>")
"""How lines begin that a merge leaves where it could not decide."""


class Form(StrEnum):
    """What the bytes of a log are."""

    OBJECT = "one JSON object"
    LIST = "a JSON list"
    LINES = "a JSON object per line"
    TEXT = "text"
    BROKEN = "JSON that is cut off or damaged"
    EMPTY = "nothing"


class Record(NamedTuple):
    """An object in a log, and where it stands: the line, or the place in the list, from 1."""

    line: int
    offset: int
    value: dict[str, Any]


@dataclass(frozen=True)
class LogFile:
    """The bytes of a log as records, or as text."""

    path: Path
    form: Form
    size: int
    check: str
    """Digest of the whole content."""
    records: list[Record] = field(default_factory=list)
    text: str = ""
    problems: list[Problem] = field(default_factory=list)

    @property
    def value(self) -> dict[str, Any]:
        """The one object of a log that is one."""
        return self.records[0].value if self.form is Form.OBJECT else {}

    @property
    def first(self) -> list[dict[str, Any]]:
        """The records that decide which format it is in."""
        return [record.value for record in self.records[:LOOKED_AT]]

    @property
    def stem(self) -> str:
        """The file's name up to its first dot that is not its first character."""
        name = self.path.name
        return name[:1] + name[1:].partition(".")[0]


def open_log(path: Path) -> LogFile:
    """Read a log whole; raises UnreadableTranscript where that cannot be done."""
    try:
        if not path.is_file():
            raise UnreadableTranscript(f"{path} is not a file")
        if path.stat().st_size > LONGEST:
            raise UnreadableTranscript(
                f"{path} is larger than {LONGEST // 2**20} MiB",
                hint="Split it, for instance with `split -C 200m`, and import the parts.",
            )
        return taken_apart(path, path.read_bytes())
    except OSError as problem:
        raise UnreadableTranscript(f"{path} cannot be read: {problem.strerror}") from problem


def taken_apart(path: Path, data: bytes) -> LogFile:
    """The content of a log as records or text."""
    size, check = len(data), digest(data)
    if data.startswith(_UTF_16):
        data = data.decode("utf-16", "replace").encode()
    content = data.removeprefix(_BYTE_ORDER_MARK).strip(_SPACE)
    if not content:
        return LogFile(path, Form.EMPTY, size, check)
    if content[:1] not in (b"{", b"["):
        if _is_mostly_objects(data):  # a warning, or the mark of a merge, stands above them
            return _by_line(path, data, size, check)
        return LogFile(path, Form.TEXT, size, check, text=content.decode("utf-8", "replace"))
    try:
        whole = msgspec.json.decode(content)
    except FAILURES:
        return _by_line(path, data, size, check)
    if isinstance(whole, list):
        return _by_place(path, whole, size, check)
    return LogFile(path, Form.OBJECT, size, check, [Record(1, 0, whole)])


def _by_place(path: Path, values: list[Any], size: int, check: str) -> LogFile:
    # In a list the place stands for the offset: it tells one problem from another just as well.
    numbered = list(enumerate(values, 1))
    records = [Record(place, place, it) for place, it in numbered if isinstance(it, dict)]
    others = [place for place, it in numbered if not isinstance(it, dict)]
    problems = [Problem(place, place, NO_OBJECT) for place in others]
    return LogFile(path, Form.LIST, size, check, records, problems=problems)


def _is_mostly_objects(data: bytes) -> bool:
    """Whether at least half of the first lines are objects, marks of a merge not counted."""
    lines = [line for _, _, line in islice(_lines(data), LOOKED_AT) if line[:7] not in _MERGE]
    objects = [line for line in lines if line.startswith(b"{") and _decoded(line)[0] is not None]
    return bool(objects) and 2 * len(objects) >= len(lines)


def _by_line(path: Path, data: bytes, size: int, check: str) -> LogFile:
    whole = rescue(data)
    if whole.value is not None:  # one object with bytes in it that are no text
        problems = [Problem(1, 0, whole.reason or BAD_BYTES)]
        one = [Record(1, 0, whole.value)]
        return LogFile(path, Form.OBJECT, size, check, one, problems=problems)
    records, problems = [], []
    for number, offset, line in _lines(data):
        value, reason = _decoded(line)
        if reason is not None:
            problems.append(Problem(number, offset, reason))
        if value is not None:
            records.append(Record(number, offset, value))
    form = Form.LINES if records else Form.BROKEN
    return LogFile(path, form, size, check, records, problems=problems if records else [])


def _decoded(line: bytes) -> tuple[dict[str, Any] | None, str | None]:
    try:
        value = msgspec.json.decode(line)
    except FAILURES:
        return rescue(line)
    return (value, None) if isinstance(value, dict) else (None, NO_OBJECT)


def _lines(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    offset = 0
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip(_SPACE):
            yield number, offset, line
        offset += len(line) + 1
