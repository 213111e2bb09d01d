"""When two sentences say the same: words in their normal form, compared by shared pieces.

The measure is Jaccard's over single words and pairs of neighbours, so order matters a little; text
without spaces is compared by its characters. What a sentence negates is marked word by word, so
"use tabs" and "don't use tabs" have no piece in common.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Final

NEAR: Final = 0.6
"""Share of common pieces from which two sentences say the same.

Two sentences of eight words that differ in one word share 0.6 of their pieces or more.
"""
SAME: Final = 0.9
"""The same for a request that is made again: only slips of typing may differ."""
LONGEST_FORM: Final = 300
NEGATED: Final = "!"

_NOISE: Final = re.compile(r"\[secret:[^\]]*\]|https?://\S+|[`\"'’“”«»*_()\[\]]+")
_CLAUSE: Final = re.compile(
    r"[,;:.!?…–—]+(?:\s|$)|[。！？，；]|\s-+\s|\b(?:but|and then|sondern|mais)\b"
)
_WORD: Final = re.compile(r"[\w$#@%.+/\\-]*\w[\w()]*")
_INTERJECTION: Final = re.compile(
    r"\s*(?:no|nope|nah|nein|non|não|нет)(?:[,.!;:–—-]|(?=\s+(?:i|we|you|it|its|that|this|the|they"
    r"|those|dont|do|use|just|only|leave|keep|put|make|try|please|wait|lets|wrong|undo|revert)\b))"
)
_NEGATION: Final = frozenset(
    ("not", "no", "never", "dont", "doesnt", "didnt", "isnt", "arent", "wasnt", "cant", "cannot",
     "wont", "shouldnt", "mustnt", "without", "stop", "avoid", "nicht", "kein", "keine", "keinen",
     "nie", "niemals", "pas", "jamais", "nunca", "não", "нет", "не", "никогда")
)  # fmt: skip
_WIDE: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_WIDE_NEGATION: Final = re.compile(
    r"不|别|没|禁止|ない|ません|しないで|やめ|마(?:세요|라)?|않|말고"
)
_PARTICULAR: Final = re.compile(r"\S*\d\S*|\S+[/\\]\S+|`[^`\n]+`|\S+\.\w{1,5}\b|--\w[\w-]*")
_FILLER: Final = frozenset(
    ("a", "an", "the", "please", "pls", "plz", "just", "ok", "okay", "so", "and", "but", "hey",
     "oh", "well", "also", "very", "really", "again", "always", "as", "you", "i", "we", "it",
     "that", "this", "is", "are", "be", "to", "of", "for", "in", "on", "at", "do", "does", "did")
)  # fmt: skip


def normal_form(text: str) -> str:
    """Words in lower case without signs and fillers; what is negated is marked."""
    line = _NOISE.sub("", _INTERJECTION.sub(" ", text[: LONGEST_FORM * 4].lower(), 1))
    told: list[str] = []
    for clause in _CLAUSE.split(line):
        told += _marked(clause)
    return " ".join(told)[:LONGEST_FORM]


def _marked(clause: str) -> list[str]:
    """The words of a clause; all behind a negation carry its mark."""
    if _WIDE.search(clause):
        mark = NEGATED if _WIDE_NEGATION.search(clause) else ""
        return [f"{mark}{word}" for word in clause.split()]
    mark = ""
    words = []
    for word in _WORD.findall(clause):
        if word in _NEGATION:
            mark = NEGATED
        elif word not in _FILLER:
            words.append(mark + _singular(word))
    return words


def _singular(word: str) -> str:
    """A word without the s of the plural, so that one table and two are compared alike."""
    return word[:-1] if len(word) > 4 and word.endswith("s") and word[-2] not in "su" else word


def particulars(text: str) -> frozenset[str]:
    """What makes a request another one though all its words are the same: numbers, names, paths."""
    return frozenset(_PARTICULAR.findall(text[: LONGEST_FORM * 4]))


@lru_cache(maxsize=20_000)
def pieces(form: str) -> frozenset[str]:
    """What two forms are compared by."""
    words = form.split()
    if _WIDE.search(form):
        words = [
            f"{NEGATED if word[0] == NEGATED else ''}{sign}"
            for word in words
            for sign in word.lstrip(NEGATED)
        ]
    return frozenset([*words, *(f"{one} {other}" for one, other in pairwise(words))])


def near(one: str, other: str) -> bool:
    """Whether two normal forms say the same, and neither denies what the other demands."""
    if one == other:
        return True
    return likeness(pieces(one), pieces(other)) >= NEAR and not _at_odds(one, other)


def same(one: str, other: str) -> bool:
    """Whether two normal forms are one request typed twice."""
    return one == other or likeness(pieces(one), pieces(other)) >= SAME


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of pieces that two sentences have in common."""
    common = len(one & other)
    return common / (len(one) + len(other) - common) if common else 0.0


def _at_odds(one: str, other: str) -> bool:
    """Whether a word is denied in one form and not in the other."""
    (denied, said), (other_denied, other_said) = _sides(one), _sides(other)
    return bool((denied - said) & (other_said - other_denied)) or bool(
        (other_denied - other_said) & (said - denied)
    )


def _sides(form: str) -> tuple[set[str], set[str]]:
    words = form.split()
    denied = {word[1:] for word in words if word[0] == NEGATED}
    return denied, {word for word in words if word[0] != NEGATED}
