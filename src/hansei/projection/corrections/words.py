"""A prompt's own words: what was pasted into it is cut out, the rest is split into sentences.

People paste code, logs, stack traces, terminal output and files. Those hold every word that a
correction holds, so none of them is looked at.
"""

from __future__ import annotations

import re
from typing import Final

HEAD: Final = 4_000
TAIL: Final = 1_000
"""Characters at both ends of a prompt that are looked at: what lies between them was pasted."""
LONGEST_SENTENCE: Final = 300
"""Characters of a sentence that are kept for people to read."""
LONGEST_REMARK: Final = 900
"""Characters of own words above which a prompt is an assignment, not a remark."""
MOST_HEADINGS: Final = 1
"""Headings above which a prompt is a document."""

_IMAGE: Final = re.compile(r"\[(?:Image|image|Screenshot|Pasted text)[^\]\n]{0,40}\]")
_FENCE: Final = re.compile(r"(?:```|~~~).*?(?:```|~~~|\Z)", re.DOTALL)
_ELEMENT: Final = re.compile(r"<([a-zA-Z][\w-]{2,40})\b[^<>\n]{0,200}>.*?</\1>", re.DOTALL)
_QUOTED: Final = re.compile(
    r"\"[^\"\n]{18,2000}\"|“[^”\n]{12,2000}”|«[^»\n]{12,2000}»|「[^」\n]{6,2000}」"
)
_HEADING: Final = re.compile(r"^#{1,6} \S", re.MULTILINE)
_MENTION: Final = re.compile(r"^(?:@(?:\"[^\"\n]+\"|\S+)(?: \(\d+-\d+\))?\s*)+")

_PASTED: Final = re.compile(
    r"\s*(?:"
    r">"  # a quotation
    r"|[$%❯➜] |PS [A-Z]:\\|\([\w.-]+\) ?[\w.@~/➜-]+.*[$>➜%]|[\w.-]+@[\w.-]+[:~].{0,80}[$#>]"
    r"|[●⎿│┃╭╰├└|]|\+\+\+ |--- \S|@@ |[-+]{1}(?=[^\s-])|diff --git "
    r"|at \S+ ?\(|at \S+:\d+:\d+|File \".*\", line \d+|Traceback |Caused by: |\.\.\. \d+ more"
    r"|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d\b|#\d+ \d+\.\d+ "
    r"|\[?(?:ERROR|WARN(?:ING)?|INFO|DEBUG|TRACE|FATAL|FAIL(?:ED)?|PASS(?:ED)?)\b[\]: ]"
    r"|npm (?:ERR!|error|warn)|error(?:\[|: | TS\d)|warning: |fatal: |\w*(?:Error|Exception): "
    r"|[{}\[\]();]+,?\s*$|\"[\w-]+\"\s*:|from [\w.]+ import |import [\w{*][^ ]*(?: as | from |;|$)"
    r"|(?:const|let|var) \w+ ?[=:]|def \w+\(|class \w+ ?[({:]"
    r"|\d+\s*[|│:]|\S+:\d+(?::\d+)?[ :]|(?:GET|POST|PUT|HEAD|DELETE|PATCH) (?:/|http)"
    r"|<[/!a-zA-Z][^>]{0,300}>\s*$|https?://\S+\s*$|[-=*_─━⎯]{4,}|[\w.-]+\s*\|"
    r")"
)
_CODE_LINE: Final = re.compile(r"(?:    |\t)\s*\S")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?…])[\"')\]]*\s+|(?<=[。！？])|\s*[\r\n]+\s*")
_INLINE: Final = re.compile(r"`[^`\n]{1,200}`")
_STOPS: Final = str.maketrans({".": "\u2024", "!": "\u01c3", "?": "\u0294", ",": "\u201a"})
_STARTS: Final = str.maketrans({"\u2024": ".", "\u01c3": "!", "\u0294": "?", "\u201a": ","})
_LIST_MARK: Final = re.compile(r"^(?:[-*•]|\d{1,2}[.)])\s+")
_FROM_PROGRAM: Final = re.compile(r"\s*(?:\[(?!secret:)[^\]\n]{2,60}\]|<[a-z][\w-]*>)")


def own_words(text: str) -> str:
    """The prompt without what was pasted into it."""
    if len(text) > HEAD + TAIL:
        text = f"{text[:HEAD]}\n{text[-TAIL:]}"
    text = _IMAGE.sub(" ", text)
    for pasted in (_FENCE, _ELEMENT, _QUOTED):
        text = pasted.sub(" ", text)
    lines = text.split("\n")
    several = len(lines) > 2
    kept = [
        line
        for line in lines
        if not _PASTED.match(line) and not (several and _CODE_LINE.match(line))
    ]
    return _MENTION.sub("", "\n".join(kept).strip())


def is_template(text: str) -> bool:
    """Whether a prompt begins with a heading, as the text of a slash command does."""
    return _HEADING.match(text.lstrip()[:HEAD]) is not None


def is_remark(text: str, words: str) -> bool:
    """Whether a prompt is short enough to be one; else it is an assignment, or a document."""
    if len(words) > LONGEST_REMARK:
        return False
    return len(_HEADING.findall(text, 0, HEAD)) <= MOST_HEADINGS


def from_program(text: str) -> bool:
    """Whether a program typed the prompt: it begins with a sender or a mark in brackets."""
    return _FROM_PROGRAM.match(_IMAGE.sub(" ", text[:500])) is not None


def sentences(words: str, most: int) -> list[str]:
    """The first sentences of a remark; names in backquotes are never split."""
    shielded = _INLINE.sub(lambda found: found[0].translate(_STOPS), words[:LONGEST_REMARK])
    parts = (part.strip().translate(_STARTS) for part in _SENTENCE_END.split(shielded, most * 3))
    told = (_LIST_MARK.sub("", part) for part in parts)
    return [part for part in told if part.strip("-*• ")][:most]


def shortened(sentence: str) -> str:
    """A sentence at the length people read."""
    line = " ".join(sentence.split())
    return line if len(line) <= LONGEST_SENTENCE else line[: LONGEST_SENTENCE - 1].rstrip() + "…"
