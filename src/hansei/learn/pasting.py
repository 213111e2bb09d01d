"""What of a prompt a person typed, and what they pasted.

No transcript tells the two apart, so the form decides, block by block: what programs print, what is
fenced or quoted, what stands under the name of its source, and what is longer than people type in
one go counts as pasted. Every block says why.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_LINES = 12
"""Lines of a block without a blank one between; people who type make paragraphs."""
MOST_LETTERS = 1_200
"""Of a block; five minutes of typing without a paragraph."""
LONG_PROMPT = 6_000
"""Letters of a prompt; what is longer was written elsewhere and pasted as a whole."""

_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
_PRINTED = re.compile(
    r"^\s*(?:"
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d"  # a log
    r"|Traceback \(most recent|File \"[^\"]+\", line \d+|at [\w.$<>]+ ?\(.*\)"
    r"|\w*(?:Error|Exception): "
    r"|(?:npm|yarn|pnpm) (?:ERR!|error|warn)|error(?:\[\w+\])?: |warning: |FAIL(?:ED)?\b|E {2,}"
    r"|[$❯➜%] \S|[\w.-]+@[\w.-]+[:~][^$#]*[$#] |PS [A-Z]:\\"  # a terminal
    r"|@@ -\d|diff --git |[-+]{3} [ab]/|index [0-9a-f]{7,}\.\."  # a difference
    r"|[-\w./\\]+\.\w{1,5}:\d+(?::\d+)?[: ]"
    r"|<[a-zA-Z!/][^>]*>\s*$|[{}\[\]]\s*,?\s*$|\"[\w$-]+\"\s*:"  # a page, data
    r")"
)
_QUOTED = re.compile(r"^\s*> ")
_WHO = (
    r"(?:docs?|documentation|readme|page|site|website|article|blog|post|forum|thread|issue|ticket"
    r"|wiki|changelog|guide|tutorial|manual|answer|comment|reddit|stack ?overflow|slack|e?-?mail"
    r"|message|chat ?gpt|gpt|gemini|copilot|snippet|log|output|error|they|he|she|someone|somebody)"
)
_SOURCE = re.compile(
    rf"\b(?:from|in|on|per|according to|via|the|this|an?|my|our|their)\s+(?:[\w'-]+\s+){{0,3}}?"
    rf"{_WHO}\b"
    r"|\b(?:found|copied|pasted|pasting|quoting|quote|came across|got this)\b|https?://",
    re.IGNORECASE,
)
"""Words that name where a text is from."""
_SAYS = re.compile(
    rf"\b{_WHO}\s+(?:also\s+)?"
    r"(?:says?|said|suggests?|recommends?|wrote|writes|states?|told (?:me|us))\b"
    r"(?:\s+(?:to|that))?[:,]?\s+",
    re.IGNORECASE,
)
_QUOTES = re.compile(r"(?<![\w\"])[\"“](?=\S)([^\"“”\n]{19,}\S)[\"”](?![\w\"])")
"""What stands in quotation marks and is longer than a name."""
_HELD = re.compile(r"^\[Pasted text #\d+")


class Block(NamedTuple):
    """A part of a prompt."""

    text: str
    pasted: bool
    why: str


def blocks(prompt: str) -> list[Block]:
    """A prompt in parts, in order."""
    if len(prompt) > LONG_PROMPT:
        return [Block(prompt, True, f"a prompt of {len(prompt):,} letters")]
    return [Block(text, bool(why), why or "typed") for text, why in _told(prompt)]


def _told(prompt: str) -> Iterator[tuple[str, str]]:
    introduced = False
    for lines, fenced in _parts(prompt):
        text = "\n".join(lines)
        if not text.strip():
            continue
        why = _reason(lines, text, fenced=fenced)
        if why or introduced:
            yield text, why or "it stands under the name of its source"
            introduced = False
        else:
            yield from _attributed(lines)
            introduced = _introduces(lines[-1])


def _introduces(line: str) -> bool:
    """Whether a line says where the text that follows is from."""
    return line.rstrip().endswith(":") and _SOURCE.search(line) is not None


def _attributed(lines: list[str]) -> Iterator[tuple[str, str]]:
    """A paragraph that a person typed, without what they say is somebody else's."""
    for number, line in enumerate(lines):
        own, others = _apart(line)
        yield own, ""
        if others:
            yield others, "they say whose words it is"
        rest = "\n".join(lines[number + 1 :])
        if rest.strip() and _introduces(line):
            yield rest, "it stands under the name of its source"
            return


def _apart(line: str) -> tuple[str, str]:
    """What of a line a person says themselves, and what they say that somebody else says."""
    quoted = [it[1] for it in _QUOTES.finditer(line)]
    own = _QUOTES.sub(" ", line)
    says = _SAYS.search(own)
    head, colon, tail = own.partition(": ")
    if says is not None:
        quoted.append(own[says.end() :])
        own = own[: says.end()]
    elif colon and tail.strip() and _SOURCE.search(head):
        quoted.append(tail)
        own = head
    return own, "\n".join(quoted)


def _reason(lines: list[str], text: str, *, fenced: bool) -> str:
    """Why a block was pasted; empty if nothing says so."""
    if fenced and len(lines) > 3:
        return f"a fenced block of {len(lines)} lines"
    if _HELD.match(text):
        return "the agent's own mark for pasted text"
    if len(lines) > MOST_LINES:
        return f"a block of {len(lines)} lines"
    if len(text) > MOST_LETTERS:
        return f"a block of {len(text):,} letters"
    printed = sum(1 for line in lines if _PRINTED.match(line))
    if printed >= 2 and printed * 2 >= len(lines):
        return "it looks like what a program prints"
    if len(lines) > 1 and all(map(_QUOTED.match, lines)):
        return "a quotation"
    return ""


def _parts(prompt: str) -> Iterator[tuple[list[str], bool]]:
    """Paragraphs and fenced blocks."""
    lines: list[str] = []
    fence = ""
    for line in prompt.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            lines.append(line)
            if mark and mark[1].startswith(fence):
                yield lines, True
                lines, fence = [], ""
        elif mark:
            yield lines, False
            lines, fence = [line], mark[1]
        elif line.strip():
            lines.append(line)
        else:
            yield lines, False
            lines = []
    yield lines, bool(fence)
