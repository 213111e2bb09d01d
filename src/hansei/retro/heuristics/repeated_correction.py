"""The same correction typed by a person in several sessions: their words, made into an instruction.

Nothing is put into their mouth: what only answers the agent ("no,", "I said", "please") is taken
off, and the rest stays as it was typed. What the corrected work took is counted from requests:
those after the one that asked for the corrected call, up to and with the first one after the
correction that asked for a call again.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hansei.bets.model import Category, Change, Design, Finding, Metric
from hansei.projection.corrections import Rule, clusters
from hansei.retro.costs import Span, occurrences
from hansei.retro.wording import counted, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.projection.corrections import Cluster, Correction
    from hansei.retro.window import Window

_OPENING: Final = re.compile(
    r"^(?:(?:no+|nope|nah|wait|stop|hey|ok(?:ay)?|oh|hm+|well|sorry|actually|again|please|pls|so"
    r"|and|but|nein|non|não|нет)\b(?!-)[\s,.!:;–—-]*"
    r"|(?:as )?i(?:'ve| have)?(?: already| just)? (?:said|told you|asked(?: you)?|wrote)"
    r"(?: (?:before|already|that|to|you|twice|again))*[\s,.!:;–—-]*"
    r"|(?:can|could|would|will) you(?: please)? |i(?: would|'d)? (?:want|like|need) you to "
    r"|you (?:should|must|need to|have to|ought to) |(?:let's|lets) |once more[\s,.!:;–—-]*"
    r"|how (?:often|many times) do i have to (?:say|tell you)(?: that| to)?[\s,.!:;–—-]*)",
    re.IGNORECASE,
)
_ENDING: Final = re.compile(
    r"[\s,]*(?:please|pls|thanks|thank you|again)?[\s.!?…]*$", re.IGNORECASE
)
_BLAME: Final = re.compile(
    r"(?:you|it|that|this|the|they|there|these|those|why|what|still|wrong)\b|\w+'s\b", re.IGNORECASE
)
"""How a sentence begins that says what was wrong and not what to do."""
_LEAST_WORDS: Final = 3
"""Words that a sentence needs to say something to somebody who was not there."""
_LONGEST: Final = 200
"""Characters of an instruction: a longer one costs more than it says."""


@dataclass(frozen=True)
class RepeatedCorrection:
    """Knobs."""

    name: str = "repeated-correction"
    sessions: int = 2
    """Sessions it was typed in: a person who says a thing twice means it."""

    def find(self, window: Window) -> Iterator[Finding]:
        rows = {
            f"{session}#{row.seq}": (session, row)
            for session, row in window.corrections
            if window.sessions[session].is_persons and row.basis is not Rule.SAME_REQUEST
        }
        told = [(str(session), row) for session, row in rows.values()]
        for cluster in sorted(clusters(told), key=lambda it: it.name):
            if cluster.sessions >= self.sessions and says_something(cluster.words):
                yield self._finding(window, cluster, [rows[it] for it in cluster.members])

    def _finding(
        self, window: Window, cluster: Cluster, said: list[tuple[int, Correction]]
    ) -> Finding:
        line = instruction(cluster.words)
        paths = sorted({row.about_path for _, row in said if row.about_path})
        because = [f"typed in {counted(cluster.sessions, 'session')}: “{one_line(cluster.words)}”"]
        if len(paths) == 1:
            because.append(f"about {one_line(paths[0])}")
        return Finding(
            heuristic=self.name,
            key=cluster.name,
            claim=f"People keep telling agents: {one_line(line)}",
            because=tuple(because),
            occurrences=occurrences(window, [_span(window, *it) for it in said]),
            change=Change(Design.LINE, line),
            category=Category.FIX,
            effort=2,
            disproof="nobody has to say it again in sessions that were not told",
            metric=Metric("corrections", cluster.name),
        )


def instruction(sentence: str) -> str:
    """A person's sentence as a line for the instruction file, in the same words."""
    text = one_line(sentence, _LONGEST)
    before = None
    while before != text:
        before, text = text, _OPENING.sub("", text, count=1)
    text = _ENDING.sub("", text) or one_line(sentence, _LONGEST)
    if _BLAME.match(text):
        return f"People had to say: “{text}”. Do not make them say it again."
    return f"{text[0].upper()}{text[1:]}."


def says_something(sentence: str) -> bool:
    """Whether a sentence means anything without what came before it."""
    text, before = one_line(sentence), None
    while before != text:
        before, text = text, _OPENING.sub("", text, count=1)
    words = re.findall(r"\w+", text)
    wide = sum(ord(sign) > 0x2E80 for sign in text)
    return len(words) >= _LEAST_WORDS or wide > 2 * _LEAST_WORDS


def _span(window: Window, session: int, row: Correction) -> Span:
    """From the call it speaks of to the first call after it."""
    calls = [seq for it in window.requests.get(session, ()) for seq in it.calls]
    place = bisect_right(calls, row.seq)
    again = calls[place] if place < len(calls) else row.seq
    return Span(session, row.about, again)
