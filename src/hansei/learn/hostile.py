"""Texts that would fool a reader or an agent: what is not seen, what gives orders, what escapes.

Colour codes and stray marks are cleaned away. Whatever has no honest use in a skill makes it
refused: text nobody sees, words that talk an agent out of its instructions, what an agent program
would run or fetch while it reads.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from hansei.events.model import MARKER
from hansei.instructions.block import CLOSE
from hansei.learn.labels import LOOK_ALIKES, without_code
from hansei.learn.overrides import orders

if TYPE_CHECKING:
    from collections.abc import Iterator


class Finding(NamedTuple):
    """A rule, why it speaks against a text, and the line, from 1."""

    rule: str
    message: str
    line: int


_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_ESCAPE = re.compile(
    r"\x1b\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)|\x1b\[[0-?]*[ -/]*[@-~]"
    r"|\x1b[@-Z\\-_]?|[\x9b\x9d\x90]"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x8f\x91-\x9a\x9c\x9e\x9f]")
_MARKS = re.compile("[\ufeff\u00ad\u200e\u200f\u2060\u180e]")
"""Without meaning where they are found most: at line beginnings and in words from web pages."""
_DIRECTION = re.compile("[\u202a-\u202e\u2066-\u2069]")
_TAGS = re.compile("[\U000e0000-\U000e007f\U000e0100-\U000e01ef\U0001bca0-\U0001bca3]")
_JOINERS = re.compile(
    "[\u200b-\u200d\u2061-\u2064\u206a-\u206f\ufff9-\ufffb\u115f\u1160\u3164\uffa0]"
)
_VARIANTS = re.compile("[\ufe00-\ufe0f]{2,}|(?<=[A-Za-z ])[\ufe00-\ufe0f]", re.MULTILINE)
"""Selectors of how a letter is drawn, where there is none that has variants."""
_WORDS = re.compile(r"[^\W\d_]+")
_JOINED = frozenset(("\u200c", "\u200d"))

_RUN_ON_LOAD = re.compile(r"(?:^|[\s(>])!`[^`\n]+`")
_COMMENT = re.compile(r"<!--(.*?)(?:-->|\Z)", re.DOTALL)
_SCRIPT = re.compile(
    r"(?<!\w)<(?:script|iframe|object|embed)\b|\bjavascript:|\bdata:text/html", re.IGNORECASE
)
_BLOB = re.compile(r"(?<![\w/+=-])[A-Za-z0-9+/]{160,}={0,2}(?![\w/+=-])")
_HEADER = re.compile(r"\A\s*---[ \t]*(?=\n|\Z)")
"""What a reader of YAML would take for the beginning of a second header."""


def cleaned(text: str) -> str:
    """A text without what a terminal made of it and what has no meaning."""
    plain = _MARKS.sub("", _COLOUR.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))
    whole = "".join(it for it in plain if not 0xD800 <= ord(it) <= 0xDFFF)
    return _HEADER.sub("***", whole)


def findings(text: str, *, code: bool = False) -> list[Finding]:
    """Everything hostile in a text, by line; `cleaned` comes first.

    Of code, which is shown as it is, only what nobody sees or what gives orders.
    """
    found = [*_unseen(text), *_ordering(text), *(() if code else _obeyed(text))]
    return sorted(dict.fromkeys(found), key=lambda it: (it.line, it.rule, it.message))


def _unseen(text: str) -> Iterator[Finding]:
    yield from _each(_ESCAPE, text, "terminal-escape", "it holds codes that drive a terminal")
    yield from _each(_CONTROL, text, "control-character", "it holds control characters")
    if text.isascii():
        return
    yield from _each(_DIRECTION, text, "hidden-unicode", "it changes the direction of the text")
    yield from _each(_TAGS, text, "hidden-unicode", "it holds letters that nobody sees")
    yield from _each(_VARIANTS, text, "hidden-unicode", "it holds letters that nobody sees")
    yield from _look_alikes(text)
    for match in _JOINERS.finditer(text):
        if not _joins(text, match.start()):
            line = text.count("\n", 0, match.start()) + 1
            yield Finding("hidden-unicode", "it holds characters without width", line)


def _look_alikes(text: str) -> Iterator[Finding]:
    """Words with letters of another alphabet where everybody reads Latin ones."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.isascii():
            continue
        words = _WORDS.findall(line)
        others = [it for it in words if not it.isascii()]
        # A line of Russian or Greek has letters that no Latin one looks like.
        alike = [it for it in others if it.translate(LOOK_ALIKES).isascii()]
        mixed = any(any(map(str.isascii, it)) for it in alike)
        whole = len(alike) == len(others) and any(map(str.isascii, words))
        if alike and (mixed or whole):
            yield Finding("look-alike", "it holds letters that only look like Latin ones", number)


def _joins(text: str, place: int) -> bool:
    """Whether a joiner does its work: in an emoji, or in a script that is written with it."""
    if text[place] not in _JOINED or not 0 < place < len(text) - 1:
        return False
    around = text[place - 1], text[place + 1]
    if all(unicodedata.category(it) in ("So", "Sk", "Mn") for it in around):
        return True
    return all(unicodedata.category(it)[0] in "LM" and ord(it) > 0x5FF for it in around)


def _ordering(text: str) -> Iterator[Finding]:
    for it in orders(text):
        said = "switches off what protects" if it.protects else "gives orders to the agent"
        yield Finding("override", f"it {said}: “{_short(it.words)}”", it.line)


def _obeyed(text: str) -> Iterator[Finding]:
    yield from _each(_RUN_ON_LOAD, text, "runs-on-load", "an agent would run this while it reads")
    yield from _each(_BLOB, text, "hidden-code", "it holds a long code that nobody can read")
    prose = without_code(text)
    yield from _each(_SCRIPT, prose, "markup", "it holds markup that a viewer would run")
    for match in _COMMENT.finditer(prose):
        line = prose.count("\n", 0, match.start()) + 1
        if match[0] in (MARKER, CLOSE):
            yield Finding("marker", "it holds a marker of hansei's own", line)
        else:
            yield Finding("comment", "it holds a comment that a reader of the page misses", line)


def _each(rule: re.Pattern[str], text: str, name: str, message: str) -> Iterator[Finding]:
    for match in rule.finditer(text):
        yield Finding(name, message, text.count("\n", 0, match.start()) + 1)


def _short(text: str) -> str:
    longest = 60
    words = " ".join(text.split())
    return words if len(words) <= longest else f"{words[: longest - 1]}…"
