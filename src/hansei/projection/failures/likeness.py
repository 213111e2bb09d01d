"""Which known texts a question is like: an error from the screen, or a few words about a topic.

A question is compared line by line, because of a long output one line says what went wrong and the
rest is company. Words weigh by how few of the known texts have them: a missing module's name says
more than `error`. A line is as like a text as the angle between the two is small; a question of few
words is like every text that has them all, however long.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.projection.failures.outputs import looked_at
from hansei.projection.failures.signature import normalised

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

FLOOR: Final = 0.35
"""Below this two texts share ordinary words and nothing else."""
FEW_WORDS: Final = 12
"""A question of one line and at most so many words is a topic: nobody types a whole output."""
LINES: Final = 400
"""Lines of a question that are compared; of more, the first and the last."""
COMPANY: Final = 0.2
"""What the rest of a question counts beside its best line: it often names the program."""

_WORD: Final = re.compile(r"[^\W_]+(?:[._-][^\W_]+)*")
_PART: Final = re.compile(r"[^\W\d_]+|\d+")
_STATUS: Final = re.compile(
    r"(?:error: )?(?:(?:process|command) exited with )?(?:exit )?code:? -?\d+", re.IGNORECASE
)
"""A line that says that something failed, and not what."""
_PLACEHOLDER: Final = re.compile(r"<[a-z]+>|\{[a-z]+\}")


class Like(NamedTuple):
    """A known text, by its place, and how much a question is like it, from 0 to 1."""

    place: int
    likeness: float


@dataclass(frozen=True)
class Known:
    """Texts to compare questions with; made once for many questions."""

    texts: Sequence[str]

    @cached_property
    def _words(self) -> list[frozenset[str]]:
        return [words(text) for text in self.texts]

    @cached_property
    def _having(self) -> Mapping[str, Sequence[int]]:
        """The texts that have a word, by word."""
        found: dict[str, list[int]] = {}
        for place, told in enumerate(self._words):
            for word in told:
                found.setdefault(word, []).append(place)
        return found

    @cached_property
    def _lengths(self) -> list[float]:
        return [self._length(told) for told in self._words]

    def _length(self, told: frozenset[str]) -> float:
        return math.sqrt(math.fsum(self._weight(word) ** 2 for word in told))

    def _weight(self, word: str) -> float:
        return math.log(1 + (len(self.texts) + 1) / (len(self._having.get(word, ())) + 1))

    def like(self, question: str) -> list[Like]:
        """The texts that a question is like, the likest first; of equals the first of them."""
        lines = _lines(question)
        best: dict[int, float] = {}
        for line in lines:
            for place, share in self._shares(words(normalised(line)), is_topic(question)):
                best[place] = max(best.get(place, 0.0), share)
        whole = words(" ".join(lines))
        found = (Like(place, self._together(place, best[place], whole)) for place in best)
        return sorted((it for it in found if it.likeness >= FLOOR), key=lambda it: (-it[1], it[0]))

    def _shares(self, line: frozenset[str], topic: bool) -> Iterator[tuple[int, float]]:
        """How much a line has in common with each text that shares a word with it."""
        shared: dict[int, float] = {}
        for word in sorted(line):
            square = self._weight(word) ** 2
            for place in self._having.get(word, ()):
                shared[place] = shared.get(place, 0.0) + square
        length = self._length(line)
        for place, common in shared.items():
            yield place, common / (length * (length if topic else self._lengths[place]))

    def _together(self, place: int, share: float, whole: frozenset[str]) -> float:
        own = self._words[place]
        inside = math.fsum(map(self._weight, own & whole)) / math.fsum(map(self._weight, own))
        return (1 - COMPANY) * share + COMPANY * inside


def words(text: str) -> frozenset[str]:
    """The words of a text, and the parts of those that are put together."""
    found: set[str] = set()
    for word in _WORD.findall(_PLACEHOLDER.sub(" ", text).casefold()):
        found.add(word)
        parts = _PART.findall(word)
        if len(parts) > 1:
            found.update(part for part in parts if len(part) > 1)
    return frozenset(found)


def is_topic(question: str) -> bool:
    """Whether it is a few words about something, and not an output."""
    return "\n" not in question.strip() and len(question.split()) <= FEW_WORDS


def _lines(question: str) -> list[str]:
    """The lines that say something, each once."""
    told = [it for line in looked_at(question).splitlines() if (it := line.strip())]
    lines = [line for line in dict.fromkeys(told) if not _STATUS.fullmatch(line)] or told
    return lines if len(lines) <= LINES else [*lines[: LINES // 2], *lines[-LINES // 2 :]]
