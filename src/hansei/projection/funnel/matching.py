"""Whether a prompt asks for what a text is for.

A prompt matches a text if it names it, or if one sentence of it holds two distinctive words of its
name and description. A word is distinctive if it is no common word and stands in the descriptions
of no more than a tenth of what the session lists. A name that is one plain word (`review`) is named
only where it is marked as a name: `/review`, `$review`, "the review skill".
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

SHARED = 2
"""Distinctive words in one sentence that make a match: with one, every prompt about a file matches
the skill for files."""
RARE_SHARE = 10
LETTERS_PER_SIGN = 3
"""A sign of another script weighs as much as three letters: most of them are more than a letter."""
LONGEST = 4000
"""Characters of a prompt looked at, half from each end: between them stand logs and code."""

_WORD = re.compile(r"[a-z][a-z0-9]{2,}")
_SENTENCE = re.compile(r"[.!?;]+(?:\s|$)|[\n。！？；]")
_LONGEST_SENTENCE = 40
"""Words; what runs on for longer is a list or a log, and is taken in parts."""
_FENCE = re.compile(r"```(text\b)?(.*?)(?:```|\Z)", re.DOTALL)
"""Quoted code; what is fenced as text is what a person typed, put there by a template."""
_JOINED = re.compile(r"[\w:]+(?:-[\w:]+)+")
_LINK = re.compile(r"(?<!\S)[^\s/\\]*+[/\\][^\s/\\]*+[/\\]\S*")
"""Addresses and paths: their words are names of places, not what is asked for."""
_LETTER = re.compile(r"[a-zA-Z]")
_FOREIGN = re.compile(r"[^\W\d_a-zA-ZÀ-ɏ]")
_COMMON_WORDS = """
about above access across action after again against agent allow already also always and answer
any anything apply are around ask asked asks available avoid away back bad based because been
before being below best better between both bring browse build built but call can cannot case
change check choose claude clear code coding come complete contain content context could create
current data default describe detail did different directory does done down each edit either end
ensure etc even every everything example existing explain explicitly file find first fix fixing
focus folder following for from full function get getting give given good got guidance guide
handle has have having help helpful here high how include including info information input
instead instruction into issue item its just keep kind know language large last later latest
leave let level like line list local long look made main make making manage many may mention
message might mode model more most move much multiple must name necessary need never new next
not note nothing now number off okay old one only open option order other otherwise our out
output over own page part path perform place plan please possible prefer problem process produce
project prompt proper provide put question quick quickly rather read ready real really related
relevant repository request require result return right run running same save say section see
select send session set setting should show simple since single skill small some something
specific start state step still stop store such support sure system take task tell text than
thank that the their them then there these they thing think this those through time together too
tool top try turn two type under understand until update use used useful user using value
various version very via view want was way well were what when where whether which while who why
will with within without work workflow working would write writing yes yet you your
"""
_COMMON = frozenset(_COMMON_WORDS.split())


class Asked(NamedTuple):
    """A prompt, ready to be compared."""

    seq: int
    text: str
    """In small letters, head and tail."""
    sentences: tuple[frozenset[str], ...]
    comparable: bool
    """Whether it is in a script that descriptions are written in."""


def asked(seq: int, text: str, names: Collection[str] = ()) -> Asked:
    """Take a prompt apart.

    Quoted code, addresses, paths and the names of listed texts do not count as its words.
    """
    if len(text) > LONGEST:
        text = f"{text[: LONGEST // 2]}\n{text[-LONGEST // 2 :]}"
    told = _FENCE.sub(_typed, text) if "```" in text else text
    told = _LINK.sub(" ", told) if "/" in told or "\\" in told else told
    if "-" in told:
        told = _JOINED.sub(lambda found: " " if found[0].lower() in names else found[0], told)
    foreign = 0 if told.isascii() else len(_FOREIGN.findall(told))
    comparable = foreign == 0 or foreign * LETTERS_PER_SIGN < len(_LETTER.findall(told))
    sentences = tuple(_sentences(told.lower())) if comparable else ()
    return Asked(seq, text.lower(), sentences, comparable)


def _typed(fence: re.Match[str]) -> str:
    return fence[2] if fence[1] else " "


def _sentences(text: str) -> Iterator[frozenset[str]]:
    for part in _SENTENCE.split(text):
        found = _WORD.findall(part)
        for start in range(0, len(found), _LONGEST_SENTENCE):
            stems = _stems(found[start : start + _LONGEST_SENTENCE])
            if len(stems) >= SHARED:
                yield stems


@lru_cache(maxsize=2000)
def words(text: str) -> frozenset[str]:
    """The uncommon words of a text, without their endings."""
    return _stems(_WORD.findall(text.lower()))


def _stems(found: Iterable[str]) -> frozenset[str]:
    return frozenset(filter(None, map(_stem, found)))


@lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    """A word without its ending; empty for common ones."""
    if word in _COMMON:
        return ""
    bare = word
    if bare.endswith("s") and not bare.endswith(("ss", "us", "is")):
        bare = bare[:-1]
    for ending in ("ing", "ed"):
        if bare.endswith(ending) and len(bare) - len(ending) > 2:
            bare = bare[: -len(ending)]
            bare = bare[:-1] if bare[-1] == bare[-2] else bare
            break
    bare = bare[:-1] if bare.endswith("e") and len(bare) > 3 else bare
    return "" if bare in _COMMON or f"{bare}e" in _COMMON else bare


def distinctive(said: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """The distinctive words of each text, by its name."""
    all_words = {name: words(f"{_spaced(name)} {text}") for name, text in said.items()}
    found = Counter(word for each in all_words.values() for word in each)
    most = max(1, len(said) // RARE_SHARE)
    return {
        name: frozenset(word for word in each if found[word] <= most)
        for name, each in all_words.items()
    }


def _spaced(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", " ", name)


def speaks_of(prompts: Iterable[Asked], own: frozenset[str]) -> int | None:
    """The first prompt with a sentence that shares enough words."""
    for prompt in prompts:
        if any(len(own & sentence) >= SHARED for sentence in prompt.sentences):
            return prompt.seq
    return None


@lru_cache(maxsize=2000)
def naming(name: str, kind: str) -> re.Pattern[str]:
    """What names a skill or server in a text of small letters."""
    told = re.escape(name.lower())
    short = re.escape(name.lower().rpartition(":")[2])
    marked = rf"(?:(?<=[/$@`])|(?<=skill )|(?<=mcp__))(?:{told}|{short})(?![\w-])"
    called = "|".join(_called(kind))
    behind = rf"(?<![\w-]){short}`?[ ](?:{called})\b"
    parts = [part for part in re.split(r"[^a-z0-9]+", name.lower().rpartition(":")[2]) if part]
    if len(parts) < 2:
        return re.compile(f"{marked}|{behind}")
    spelled = r"[ _-]".join(map(re.escape, parts))
    return re.compile(rf"{marked}|{behind}|(?<![\w-]){spelled}(?![\w-])")


def names(name: str) -> set[str]:
    """A name as a prompt may spell it, with and without its plug-in."""
    return {name.lower(), name.lower().rpartition(":")[2]}


def hint(name: str) -> str:
    """What stands in every text that names it, however it is spelled."""
    return re.split(r"[^a-z0-9]+", name.lower().rpartition(":")[2])[0]


def _called(kind: str) -> Sequence[str]:
    return ("skill",) if kind == "skill" else ("mcp", "server", "connector")


def file_naming(name: str) -> re.Pattern[str]:
    """What names a file in a text."""
    return re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", re.IGNORECASE)


def first_naming(prompts: Iterable[Asked], pattern: re.Pattern[str], hint: str) -> int | None:
    """The first prompt that names it; `hint` must stand in it, which is quicker to see."""
    for prompt in prompts:
        if hint in prompt.text and pattern.search(prompt.text):
            return prompt.seq
    return None
