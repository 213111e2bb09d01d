"""Lines as they are compared: a formatter may touch them, and not every line says something.

Two texts are compared in two ways. By *line*: the same words with the same signs between them,
whatever the indentation. By *phrase*: the same words in the same order, whatever a formatter did
with quotes, commas, brackets and line breaks.
"""

from __future__ import annotations

import re
from collections import Counter
from difflib import SequenceMatcher
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

LEAST_CHARACTERS: Final = 8
"""Letters and digits below which a line could stand anywhere: `return x`, `else:`, `});`."""
LEAST_PHRASE: Final = 12
"""The same for a phrase, which is looked for in the middle of lines too."""
MOST_COMPARED: Final = 2_000
"""Lines above which a replaced text is compared as a bag of lines: a real diff is quadratic."""

_WORD: Final = re.compile(r"\w+")
_SIGN: Final = re.compile(r"\w+|[^\w\s,;()'\"`]")
_LEADING: Final = re.compile(r"^[ \t]*(?:#+|//+|\*+|--)[ \t]", re.MULTILINE)
_ANYWHERE: Final = (
    r"from __future__ import \w+|import \w+|use strict|return \w+|pass|break|continue"
    r"|(?:\} )?else \{?|try \{?|finally \{?|package \w+|#include <[\w./]+>|<\W*\w+>"
)
_TELLING: Final = re.compile(
    rf"(?!(?:{_ANYWHERE})[;:]*\Z)"
    rf"(?=(?:\W*\w){{{LEAST_CHARACTERS}}})"
    rf"(?:.{{{LEAST_PHRASE}}}|.*?\w\W+\w)"
)
"""Not one that stands anywhere, letters enough, and long or of two words."""


def normal(line: str) -> str:
    """A line without its indentation, with single spaces."""
    return " ".join(line.split())


def says_something(line: str) -> bool:
    """Whether a normal line is unlikely to be written twice by chance."""
    return _TELLING.match(line) is not None


def telling(lines: Iterable[str]) -> list[str]:
    """Of normal lines those that say something, in order."""
    return list(filter(_TELLING.match, lines))


@lru_cache(maxsize=100_000)
def _told(raw: str) -> str:
    """A line's normal form, empty if it says nothing; versions of a file share most lines."""
    line = normal(raw)
    return line if says_something(line) else ""


def bag(text: str) -> Counter[str]:
    """The telling lines of a text with how often each occurs."""
    return Counter(filter(None, map(_told, text.split("\n"))))


def phrase(text: str) -> str:
    """A text as its words and signs alone, each between spaces.

    Marks that begin a comment's line are left out, because a formatter that wraps it writes more.
    """
    return f" {' '.join(_SIGN.findall(_LEADING.sub('', text)))} "


@lru_cache(maxsize=20_000)
def words_of(line: str) -> str:
    """The phrase of a line that is asked for in many files."""
    return phrase(line)


@lru_cache(maxsize=20_000)
def is_phrase(words: str) -> bool:
    """Whether a phrase is long enough to be looked for inside other lines."""
    found = _WORD.findall(words)
    return len(found) > 2 and sum(map(len, found)) >= LEAST_PHRASE


def alike(one: str, other: str) -> float:
    """The share of words that two lines have in common."""
    left, right = Counter(_WORD.findall(one)), Counter(_WORD.findall(other))
    total = max(left.total(), right.total())
    return (left & right).total() / total if total else 0.0


class Replaced(NamedTuple):
    """What a replacement really adds and takes away: lines that stand in both texts are context."""

    added: list[str]
    removed: list[str]


def replaced(old: str, new: str) -> Replaced:
    """The lines in which two texts differ."""
    before, after = (text.split("\n") if text else [] for text in (old, new))
    before, after = _without_same_ends(before, after)
    before, after = ([" ".join(it.split()) for it in lines] for lines in (before, after))
    before, after = _without_same_ends(before, after)
    if not before or not after:
        return Replaced(after, before)
    if len(before) + len(after) > MOST_COMPARED:
        return Replaced(
            list((Counter(after) - Counter(before)).elements()),
            list((Counter(before) - Counter(after)).elements()),
        )
    return _compared(before, after)


def _without_same_ends(before: list[str], after: list[str]) -> tuple[list[str], list[str]]:
    shorter = min(len(before), len(after))
    start = 0
    while start < shorter and before[start] == after[start]:
        start += 1
    end = 0
    while end < shorter - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return before[start : len(before) - end], after[start : len(after) - end]


def _compared(before: list[str], after: list[str]) -> Replaced:
    found = Replaced([], [])
    for kind, left, right, low, high in SequenceMatcher(None, before, after, False).get_opcodes():
        if kind != "equal":
            found.added.extend(after[low:high])
            found.removed.extend(before[left:right])
    return found
