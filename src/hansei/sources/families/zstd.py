"""Files packed with zstd, read as if they were not.

An offset is a place in the unpacked text, so a cursor stays good when an agent packs a file or
unpacks it again. Reading on means unpacking from the start; what lies before is thrown away as it
comes, so memory stays flat.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from hansei.errors import UnreadableTranscript
from hansei.sources.families import jsonl

if TYPE_CHECKING:
    from pathlib import Path

    from hansei.sources.contract import Cursor
    from hansei.sources.families.jsonl import Slice

SUFFIX = ".zst"
STEP_BYTES = 1024 * 1024
"""How much is unpacked at once while passing over what is not wanted."""


class Unpacked:
    """A packed file that can be sought and read; seeking back starts again unless it was close."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._wanted = 0
        self._last = b""
        self._open()

    def close(self) -> None:
        self._stream.close()

    def seek(self, offset: int, /) -> int:
        self._wanted = offset
        return offset

    def read(self, size: int, /) -> bytes:
        back = self._position - self._wanted
        if 0 < back <= len(self._last) and size <= back:
            start = len(self._last) - back
            return self._last[start : start + size]
        if back > 0:
            self._stream.close()
            self._open()
        self._pass_over(self._wanted)
        self._last = self._stream.read(size)
        self._position += len(self._last)
        return self._last

    def size(self) -> int:
        """Bytes of the whole, unpacked."""
        self._pass_over(None)
        return self._position

    def _open(self) -> None:
        # pyarrow takes 0.2 s to load; only packed files need it.
        import pyarrow as pa

        self._stream = pa.input_stream(str(self._path), compression="zstd")
        self._position = 0

    def _pass_over(self, until: int | None) -> None:
        while until is None or self._position < until:
            step = STEP_BYTES if until is None else min(STEP_BYTES, until - self._position)
            passed = len(self._stream.read(step))
            if not passed:
                return
            self._position += passed


def read(path: Path, since: Cursor, limit: int) -> Slice:
    """Complete lines after the cursor, as `jsonl.read` gives them from a plain file."""
    try:
        with closing(Unpacked(path)) as file:
            return jsonl.read_open(file, file.size(), since, max(limit, 1))
    except OSError as problem:
        raise UnreadableTranscript(f"{path} cannot be unpacked: {problem}") from problem


def line_at(path: Path, offset: int) -> bytes:
    """The one line that starts at an offset; empty where there is none any more."""
    try:
        with closing(Unpacked(path)) as file:
            line = b""
            while offset >= 0 and len(line) <= jsonl.LONGEST_LINE:
                file.seek(offset + len(line))
                piece = file.read(STEP_BYTES)
                line += piece[: piece.find(b"\n") + 1] or piece
                if not piece or line.endswith(b"\n"):
                    break
            return line
    except OSError:
        return b""
