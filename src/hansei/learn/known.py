"""Whether what a detector found is said already: in the skillbook, or in an instruction file.

An offer is said if a skill has its key. One with commands is said by a text that holds them all,
one without by a sentence like what it asks for. Only that is compared: the words around it are the
detector's, and the same in every offer of its kind. Everything here is pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.instructions.agreement import ALIKE, SHORTEST_ALIKE, shared
from hansei.instructions.sentences import sentences
from hansei.instructions.statements import meanings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hansei.instructions.statements import Meaning
    from hansei.learn.model import Offer, Skill

_CODE: Final = re.compile(r"`+([^`\n]+)`+")
_SLOT: Final = re.compile(r"<[\w -]+>")
"""What is filled in: any one word stands for it."""
_ITEM: Final = re.compile(r"^[-*] +(.+)$", re.MULTILINE)
_MARK: Final = re.compile(r"^\s*(?:[-*+>•]|\d{1,9}[.)]|\$)?\s*")


class Written(NamedTuple):
    """A text that agents here are given, and what it is called."""

    name: str
    text: str


@dataclass(frozen=True)
class Text:
    """A text, ready to be asked."""

    written: Written

    @cached_property
    def _plain(self) -> str:
        """In one line: a command may go on in the next."""
        return " ".join(self.written.text.replace("`", " ").split())

    @cached_property
    def _alone(self) -> frozenset[str]:
        """What stands on a line of its own or between back quotes."""
        lines = (_MARK.sub("", line) for line in self.written.text.splitlines())
        spans = [*_CODE.findall(self.written.text), *lines]
        return frozenset(" ".join(it.strip("` ").split()) for it in spans)

    @cached_property
    def _meanings(self) -> tuple[Meaning, ...]:
        return tuple(_weighty(it.text for it in sentences("", self.written.text)))

    def holds(self, command: str) -> bool:
        """Whether a command stands here; one of a single word has to stand alone."""
        words = command.split()
        if any(_is_but_for_targets(words, span.split()) for span in self._alone):
            return True
        wanted = r"\S+".join(map(re.escape, _SLOT.split(" ".join(words))))
        found = re.search(rf"(?<![\w./-]){wanted}(?![\w/-])", self._plain)
        return len(words) > 1 and found is not None

    def says(self, meaning: Meaning) -> bool:
        """Whether a sentence here is like one."""
        return any(
            it.forbids is meaning.forbids and shared(it.words, meaning.words) >= ALIKE
            for it in self._meanings
        )


class Known:
    """Everything that is said already."""

    def __init__(self, skills: Iterable[Skill], texts: Iterable[Written]) -> None:
        kept = list(skills)
        self._keys = {it.key: it.name for it in kept if it.key}
        own = (Written(f"skill {it.name}", f"{it.description}\n\n{it.body}") for it in kept)
        self._texts = [Text(it) for it in (*own, *texts)]

    def where(self, offer: Offer) -> str | None:
        """The skill or file that says it; None where nothing does."""
        if offer.key in self._keys:
            return f"skill {self._keys[offer.key]}"
        told = () if offer.commands else tuple(_weighty(_asked(offer)))
        for text in self._texts:
            by_commands = offer.commands and all(map(text.holds, offer.commands))
            if by_commands or any(map(text.says, told)):
                return text.written.name
        return None


def _is_but_for_targets(command: Sequence[str], span: Sequence[str]) -> bool:
    """Whether a command is what a text tells, with files named behind it at most."""
    rest = command[len(span) :]
    same = bool(span) and list(command[: len(span)]) == list(span)
    return same and all("/" in it or _SLOT.fullmatch(it) for it in rest)


def _asked(offer: Offer) -> Iterator[str]:
    """The sentences that say what is to be done: the items of a body, else the description."""
    items = [it[1] for it in _ITEM.finditer(offer.body)]
    for text in items or [offer.description]:
        yield from (it.text for it in sentences("", text))


def _weighty(texts: Iterable[str]) -> Iterator[Meaning]:
    for text in texts:
        for meaning in meanings(text):
            if len(meaning.words) >= SHORTEST_ALIKE:
                yield meaning
