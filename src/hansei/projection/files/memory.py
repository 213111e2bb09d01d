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
    from collections.abc import Mapping, Sequence

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
        there = [it for it in reversed(kept) if self._is_there(it, call)]
        earlier = next((it for it in there if self._repeats(call, seen, it)), None)
        earlier = earlier or _last_of_several(there, seen, result)
        kept.append(Kept(call.seq, result_seq, seen, result))
        if earlier is None:
            return None
        after_failure = earlier.seq < self._failed.get(key, 0)
        return Repeat(earlier.seq, Again.FAILED_EDIT if after_failure else Again.REPEAT)

    def _is_there(self, earlier: Kept, call: Call) -> bool:
        """Whether what an earlier call brought is still in the context."""
        gone = self._left.get(earlier.result_seq)
        return earlier.seq != call.seq and (gone is None or gone > call.seq)

    def _repeats(self, call: Call, seen: Seen, earlier: Kept) -> bool:
        if not covers(earlier.seen, seen):
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


def _last_of_several(there: Sequence[Kept], seen: Seen, result: ToolResult) -> Kept | None:
    """The last of the reads that had every line of a read between them, as it is."""
    wanted = _numbered(seen, result) if len(there) > 1 else {}
    last: Kept | None = None
    for earlier in there:
        had = wanted.items() & _numbered(earlier.seen, earlier.result).items()
        if had:
            last = last or earlier
            wanted = dict(wanted.items() - had)
            if not wanted:
                return last
    return None


def _numbered(seen: Seen, result: ToolResult) -> dict[int, str]:
    """The lines of a read by their numbers; none where they cannot be counted."""
    first = seen.first or 1
    if not seen.alone or first < 1:
        return {}
    lines = _without_numbers(result.text).removesuffix("\n").split("\n")
    if seen.last is not None and len(lines) != seen.last - first + 1:
        return {}
    return dict(enumerate(lines, first))


def plain(text: str) -> str:
    """Lines without numbers before them and without what the agent added after them."""
    return _without_numbers(text).strip()


def _without_numbers(text: str) -> str:
    text = without_added(text)
    return _NUMBER.sub("", text) if _NUMBER.match(text) else text
