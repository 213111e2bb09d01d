"""One answer of a model told in many lines.

An agent that writes while the model is still speaking tells of one request again and again: the
same tokens on each line, counts that grow, a text that starts with the text before. What must be
remembered of it fits in a few numbers and digests. The text itself is never kept, since a cursor is
stored as it is.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import msgspec

from hansei.events.keys import digest

V = TypeVar("V")

LONGEST_ID = 80
"""An id longer than this is no id; its digest stands for it."""


class Counts(NamedTuple):
    """What one line says that a request took. None is not recorded."""

    input: int | None = None
    cache_read: int | None = None
    cache_write_5m: int | None = None
    cache_write_1h: int | None = None
    output: int | None = None
    reasoning: int | None = None
    web_searches: int | None = None


MOST_TEXTS = 32
"""Texts of one answer that are watched for growing; answers have one or two."""


def billed(counts: Counts) -> int:
    """Tokens of a line: the disjoint fields added up, without those that are parts of others."""
    return (
        (counts[0] or 0) + (counts[1] or 0) + (counts[2] or 0) + (counts[3] or 0) + (counts[4] or 0)
    )


class Told(msgspec.Struct, array_like=True):
    """A text of the answer: what it is known by, and how much of it has been told."""

    kind: str
    first: str
    """Digest of the text as it was first told."""
    length: int
    """Its length then."""
    longest: int


class Tally(msgspec.Struct, array_like=True):
    """All that the lines of one answer have said so far."""

    most: list[int | None] = msgspec.field(default_factory=lambda: [None] * len(Counts._fields))
    lines: int = 0
    told: int = 0
    """Tokens of all lines added up."""
    texts: list[Told] = []

    def add(self, counts: Counts, *, guessed: bool = False) -> None:
        """Take in one more line; one with guessed numbers only counts as a line."""
        if not guessed and tuple(self.most) != counts:  # most lines repeat the one before
            self.most = [
                new if old is None or (new is not None and new > old) else old
                for old, new in zip(self.most, counts, strict=True)
            ]
        self.lines += 1
        self.told += billed(counts)

    def totals(self) -> dict[str, Any]:
        """The largest value of each field, as a `RequestUsage` names them.

        `repeated` is what a reader that adds up all lines would count on top.
        """
        most = Counts(*self.most)
        return {**most._asdict(), "lines": self.lines, "repeated": self.told - billed(most)}

    def known_as(self, kind: str, text: str) -> str | None:
        """What a text is known by: the digest it had when its beginning was first told.

        None if more of it has been told already.
        """
        length = len(text)
        for told in self.texts:
            begins = told.kind == kind and told.length <= length
            if begins and told.first == text_digest(text[: told.length]):
                if length < told.longest:
                    return None
                told.longest = length
                return told.first
        whole = text_digest(text)
        if len(self.texts) < MOST_TEXTS:
            self.texts.append(Told(kind, whole, length, length))
        return whole


def text_digest(text: str) -> str:
    return digest(text.encode("utf-8", "surrogatepass"))


def byte_size(text: str) -> int:
    """How many bytes a text takes; most are plain, and need not be encoded for that."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def short(identity: str) -> str:
    """An id as it may stand in a cursor."""
    return identity if len(identity) <= LONGEST_ID else text_digest(identity)


def remember(kept: dict[str, V], key: str, value: V, most: int) -> None:
    """Put a value last in a dictionary that holds only so many; the oldest makes room."""
    kept.pop(key, None)
    kept[key] = value
    if len(kept) > most:
        del kept[next(iter(kept))]
