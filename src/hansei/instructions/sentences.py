"""Instruction texts taken apart: by bullets, paragraphs and code blocks, and those by sentences.

Each piece knows the line it begins at. Headings, tables, comments and code hold no sentences.
Everything here is pure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from hansei.instructions.block import lines_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_BEGINS = re.compile(r"\s*(?:[-*+] |\d{1,9}[.)] |#{1,6} |\||>|<!--)")
_HEADING = re.compile(r"\s{0,3}#{1,6} ")
SILENT = re.compile(r"\s*(?:#{1,6} |\||<!--|`{3,}|~{3,})")
"""Headings, tables, comments and code: no sentences."""
MARK = re.compile(r"^\s*(?:[-*+] |\d{1,9}[.)] |> ?)(?:\[[ xX]\] )?")
_ENDS = re.compile(r"(?<=[.!?;])\s+(?=[A-Z`*_\"(])")
HEADER = re.compile(r"\ufeff?---\r?\n(.*?\n)---\r?(?:\n|$)", re.DOTALL)
"""The fields that a skill or a rule begins with."""


class Part(NamedTuple):
    """A bullet, paragraph, heading or code block."""

    line: int
    text: str


class Said(NamedTuple):
    """One sentence and where it stands."""

    path: str
    line: int
    text: str


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
        if SILENT.match(part.text):
            continue
        for line, words in sentence_spans(part):
            yield Said(path, line, words)


def sentence_spans(part: Part) -> Iterator[tuple[int, str]]:
    """The sentences of a part and the lines they begin at."""
    start = 0
    for end in [*(it.end() for it in _ENDS.finditer(part.text)), len(part.text)]:
        words = " ".join(MARK.sub("", part.text[start:end]).split())
        if words:
            yield part.line + part.text.count("\n", 0, start), words
        start = end
