"""What the model still has before it of the files it read, and what a read would only repeat.

Ranges say which lines, commands say what may have changed them, and where both texts are there they
must agree: a person or a program that nobody saw may have changed the file.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from hansei.projection.files.model import Again, Extent
from hansei.projection.files.tools import without_added

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hansei.events.model import ToolResult
    from hansei.projection.calls import Call
    from hansei.projection.files.seen import Seen

_NUMBER = re.compile(r"^ *\d{1,7}(?:→|\t|\| |: ?)", re.MULTILINE)
_MANY = re.compile(r"[*?]")


class Kept(NamedTuple):
    """A read whose text is in the context."""

    seq: int
    result_seq: int
    seen: Seen
    result: ToolResult


class Repeat(NamedTuple):
    """The earlier read that a read repeats, and why it was made."""

    seq: int
    again: Again


class Memory:
    """What was read of each file and has neither changed nor left since."""

    def __init__(self, left: Mapping[int, int]) -> None:
        self._left = left
        self._kept: dict[str, list[Kept]] = {}
        self._failed: dict[str, int] = {}
        self._doubt = 0

    # --- what happens to files and to the context ---

    def doubt(self, seq: int) -> None:
        """Something may have changed any file: from here on only the text tells."""
        self._doubt = seq

    def forget_all(self) -> None:
        """The context was replaced, or files were rewritten."""
        self._kept.clear()

    def forget_call(self, name: str) -> None:
        """What a call brought was taken out of the context."""
        for key, kept in self._kept.items():
            self._kept[key] = [it for it in kept if it.result.call != name]

    def changed(self, key: str) -> None:
        """A file, everything in a folder, or all that a pattern fits, was changed."""
        self._failed.pop(key, None)
        self._kept.pop(key, None)
        many = _MANY.search(key)
        below = key[: many.start()] if many else f"{key.rstrip('/')}/"
        for other in [it for it in self._kept if it.startswith(below) or key in (".", "")]:
            del self._kept[other]

    def failed(self, key: str, seq: int) -> None:
        """An edit of the file failed."""
        self._failed[key] = seq

    # --- what is read ---

    def read(self, call: Call, seen: Seen) -> Repeat | None:
        """Take in a read; what it repeats, if all of it was there already."""
        key = seen.place.key
        result, result_seq = call.result, call.result_seq
        if result is None or result_seq is None or not shows_lines(seen, result):
            return None
        kept = self._kept.setdefault(key, [])
        earlier = next((it for it in reversed(kept) if self._repeats(call, seen, it)), None)
        kept.append(Kept(call.seq, result_seq, seen, result))
        if earlier is None:
            return None
        after_failure = earlier.seq < self._failed.get(key, 0)
        return Repeat(earlier.seq, Again.FAILED_EDIT if after_failure else Again.REPEAT)

    def _repeats(self, call: Call, seen: Seen, earlier: Kept) -> bool:
        if earlier.seq == call.seq or not covers(earlier.seen, seen):
            return False
        gone = self._left.get(earlier.result_seq)
        if gone is not None and gone <= call.seq:
            return False
        if seen.alone and call.result is not None:
            return plain(call.result.text) in plain(earlier.result.text)
        return earlier.seq > self._doubt


def shows_lines(seen: Seen, result: ToolResult) -> bool:
    """Whether the lines it was asked for are in the context, all of them."""
    told = seen.extent in (Extent.WHOLE, Extent.LINES)
    return told and not result.images and bool(result.text.strip())


def is_cut(result: ToolResult) -> bool:
    """Whether the model was shown only a part of the output."""
    return result.truncated or (result.shown is not None and result.shown < len(result.text))


def covers(earlier: Seen, later: Seen) -> bool:
    """Whether every line of a read was in an earlier one of the same file."""
    if earlier.extent is Extent.WHOLE:
        return True
    if later.extent is Extent.WHOLE and later.last is None:
        return False
    same = (earlier.first, earlier.last) == (later.first, later.last)
    ends = (earlier.first, earlier.last, later.first, later.last)
    if same or any(end is not None and end < 0 for end in ends):
        return same
    starts = (earlier.first or 1) <= (later.first or 1)
    return starts and (
        earlier.last is None or (later.last is not None and later.last <= earlier.last)
    )


def plain(text: str) -> str:
    """Lines without numbers before them and without what the agent added after them."""
    text = without_added(text)
    numbered = _NUMBER.match(text)
    return (_NUMBER.sub("", text) if numbered else text).strip()
