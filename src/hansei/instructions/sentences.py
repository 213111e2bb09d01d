"""What instruction texts say: their parts, and sentences that say the same or the opposite.

Two sentences are alike if they share most of their words that carry meaning; case, order, endings
in s and the small words do not matter. They contradict one another if they are alike but for one
of them forbidding it (never, do not, avoid …). Everything here is pure.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from hansei.instructions.block import lines_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

ALIKE = 0.8
"""Share of words that two sentences have in common to be the same, of all words of both."""
OPPOSITE = 0.75
"""The same for a contradiction: one more word is often there to say what to do instead."""
SHORTEST_ALIKE = 4
"""Words; what is shorter is a heading or a habit of speech."""
SHORTEST_OPPOSITE = 2

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_BEGINS = re.compile(r"\s*(?:[-*+] |\d{1,9}[.)] |#{1,6} |\||>|<!--)")
_HEADING = re.compile(r"\s{0,3}#{1,6} ")
_SILENT = re.compile(r"\s*(?:#{1,6} |\||<!--|`{3,}|~{3,})")
"""Headings, tables, comments and code: no sentences."""
_MARK = re.compile(r"^\s*(?:[-*+] |\d{1,9}[.)] |> ?)(?:\[[ xX]\] )?")
_ENDS = re.compile(r"(?<=[.!?;])\s+(?=[A-Z`*_\"(])")
_WORD = re.compile(r"[\w@][\w@./:+-]*", re.UNICODE)
_FORBIDS = re.compile(
    r"\b(?:never|do not|don't|dont|does not|doesn't|must not|mustn't|should not|shouldn't|may not"
    r"|cannot|can't|avoid|refrain from|no longer|not allowed|forbidden)\b",
    re.IGNORECASE,
)
_INSTEAD = re.compile(
    r"^(?:always\s+)?(?P<verb>use|run|prefer|call|write|choose)\s+(?P<this>[^,;]+?)"
    r"(?:,?\s+(?:not|instead of|rather than|over))\s+(?P<that>[^,;.]+)",
    re.IGNORECASE,
)


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_SMALL = _set(
    "a an the to of in on for and or is are be it its this that these those with by at as from"
    " always do does must should may can please you your we our they them all any every will would"
    " so just also only sure ensure"
)
_SAME = {"using": "use", "uses": "use", "used": "use", "prefer": "use", "running": "run"}


class Part(NamedTuple):
    """A bullet, paragraph, heading or code block."""

    line: int
    text: str


class Said(NamedTuple):
    """One sentence and where it stands."""

    path: str
    line: int
    text: str


@dataclass(frozen=True)
class Meaning:
    words: frozenset[str]
    forbids: bool


def parts(text: str, first: int = 1) -> list[Part]:
    """A text by bullets, paragraphs, headings and code blocks, with the lines they begin at."""
    found: list[Part] = []
    open_at: int | None = None
    fence: str | None = None
    lines: list[str] = []

    def close() -> None:
        nonlocal open_at
        if open_at is not None:
            found.append(Part(open_at, "".join(lines).rstrip()))
        open_at = None
        lines.clear()

    for number, line in enumerate(lines_of(text), first):
        mark = _FENCE.match(line)
        if fence is None and (not line.strip() or _BEGINS.match(line) or mark):
            close()
        if fence is not None or line.strip():
            open_at = number if open_at is None else open_at
            lines.append(line)
        if mark and fence is None:
            fence = mark[1]
        elif fence is None and _HEADING.match(line):
            close()
        elif mark and fence and mark[1].startswith(fence) and line.strip() == mark[1]:
            fence = None
            close()
    close()
    return found


def sentences(path: str, text: str) -> Iterator[Said]:
    """What a text says, sentence by sentence."""
    for part in parts(text):
        if _SILENT.match(part.text):
            continue
        start = 0
        for end in [*(it.end() for it in _ENDS.finditer(part.text)), len(part.text)]:
            words = " ".join(_MARK.sub("", part.text[start:end]).split())
            if words:
                yield Said(path, part.line + part.text.count("\n", 0, start), words)
            start = end


def meanings(text: str) -> list[Meaning]:
    """What a sentence asks for and forbids; `use this, not that` does both."""
    plain = text.replace("’", "'")
    both = _INSTEAD.match(plain)
    if both is not None and not _FORBIDS.search(plain):
        verb = both["verb"]
        told = ((both["this"], False), (both["that"], True))
        return [Meaning(_words(f"{verb} {it}"), forbids) for it, forbids in told]
    return [Meaning(_words(plain), _FORBIDS.search(plain) is not None)]


def _words(text: str) -> frozenset[str]:
    found = (it.lower().rstrip(".:-/") for it in _WORD.findall(_FORBIDS.sub(" ", text)))
    return frozenset(_stem(it) for it in found if it and it not in _SMALL)


def _stem(word: str) -> str:
    if word in _SAME:
        return _SAME[word]
    plural = len(word) > 3 and word.isalpha() and word.endswith("s") and not word.endswith("ss")
    return word[:-1] if plural else word


@dataclass(frozen=True)
class Pairs:
    """Sentences that say the same, and pairs of which one forbids what the other asks for."""

    same: tuple[tuple[Said, ...], ...]
    opposite: tuple[tuple[Said, Said], ...]


def compared(said: Sequence[Said]) -> Pairs:
    """Every two sentences that are alike or opposite, in the order they are given."""
    by_meaning: dict[Meaning, list[int]] = defaultdict(list)
    for place, it in enumerate(said):
        for meaning in meanings(it.text):
            if len(meaning.words) >= SHORTEST_OPPOSITE:
                by_meaning[meaning].append(place)
    known = list(by_meaning)
    together = list(range(len(known)))
    opposite: set[tuple[int, int]] = set()
    for one, other in _near([it.words for it in known]):
        first, second = known[one], known[other]
        shared = len(first.words & second.words) / len(first.words | second.words)
        if first.forbids is not second.forbids:
            pair = sorted((by_meaning[first][0], by_meaning[second][0]))
            if pair[0] != pair[1]:
                opposite.add((pair[0], pair[1]))
        elif shared >= ALIKE:
            _join(together, one, other)
    groups: dict[int, set[int]] = defaultdict(set)
    for number, meaning in enumerate(known):
        if len(meaning.words) >= SHORTEST_ALIKE:
            groups[_root(together, number)].update(by_meaning[meaning])
    same = sorted(tuple(sorted(it)) for it in groups.values() if len(it) > 1)
    return Pairs(
        tuple(tuple(said[it] for it in group) for group in same),
        tuple((said[one], said[other]) for one, other in sorted(opposite)),
    )


def _near(sets: Sequence[frozenset[str]]) -> Iterator[tuple[int, int]]:
    """Pairs that share enough words.

    Two sets that are so much alike share one of the few rarest words of each, so only sets with
    such a word in common are compared: a million sentences need no million comparisons each.
    """
    times = Counter(word for it in sets for word in it)
    holding: dict[str, list[int]] = defaultdict(list)
    for number, words in enumerate(sets):
        rare = sorted(words, key=lambda it: (times[it], it))
        rarest = rare[: len(rare) - ceil(OPPOSITE * len(rare)) + 1]
        for other in sorted({it for word in rarest for it in holding[word]}):
            shared = len(words & sets[other])
            if shared >= OPPOSITE * len(words | sets[other]):
                yield other, number
        for word in rarest:
            holding[word].append(number)


def _root(together: list[int], number: int) -> int:
    while together[number] != number:
        together[number] = together[together[number]]
        number = together[number]
    return number


def _join(together: list[int], one: int, other: int) -> None:
    first, second = sorted((_root(together, one), _root(together, other)))
    together[second] = first


def all_sentences(texts: Iterable[tuple[str, str]]) -> list[Said]:
    """The sentences of several texts, by path and text."""
    return [it for path, text in texts for it in sentences(path, text)]
