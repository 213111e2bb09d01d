"""The same correction typed by a person in several sessions: their words, made into an instruction.

Nothing is put into their mouth: what only answers the agent ("no,", "I said", "please") is taken
off, and the rest stays as it was typed. What the corrected work took is counted from requests:
those after the one that asked for the corrected call (where that only looked at a file, the edit of
that file before it), up to and with the first one after the correction that asked for a call again.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hansei.bets.model import Category, Change, Design, Finding, Metric
from hansei.projection.corrections import Rule, clusters
from hansei.projection.corrections.words import sentences
from hansei.projection.files import LOOKS
from hansei.retro.costs import Span, occurrences
from hansei.retro.wording import counted, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.projection.corrections import Cluster, Correction
    from hansei.projection.window import Window

_OPENING: Final = re.compile(
    r"^(?:"
    # A bare "no" before a noun is part of what is said: "no print statements".
    r"(?:no+|nope|nah|wait|stop|again|nein|non|não|нет)\s*[,.!:;–—]+\s*"
    r"|(?:hey|ok(?:ay)?|oh|hm+|well|sorry|actually|please|pls|so|and|but)\b(?!-)[\s,.!:;–—-]*"
    r"|(?:as )?i(?:'ve| have)?(?: already| just)? (?:said|told you|asked(?: you)?|wrote)"
    r"(?: (?:before|already|that|to|you|twice|again))*[\s,.!:;–—-]*"
    r"|(?:can|could|would|will) you(?: please)? |i(?: would|'d)? (?:want|like|need) you to "
    r"|you (?:should|must|need to|have to|ought to) |(?:let's|lets) |once more[\s,.!:;–—-]*"
    r"|how (?:often|many times) do i have to (?:say|tell you)(?: that| to)?[\s,.!:;–—-]*"
    r")",
    re.IGNORECASE,
)
_ENDING: Final = re.compile(
    r"[\s,]*(?:please|pls|thanks|thank you|again)?[\s.!?…。！？]*$", re.IGNORECASE
)
_ONCE: Final = frozenset((Rule.SAME_REQUEST, Rule.STILL))
"""What is said about one task that was not done: no rule for the next one."""
_BLAME: Final = re.compile(
    r"(?:you|it|that|this|they|why|what|still|wrong)\b|\w+'s\b", re.IGNORECASE
)
"""How a sentence begins that says what was wrong and not what to do."""
_LEAST_WORDS: Final = 3
"""Words that a sentence needs to say something to somebody who was not there."""
_MOST_SENTENCES: Final = 4
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
            if window.sessions[session].is_persons and row.basis not in _ONCE
        }
        told = [(str(session), row) for session, row in rows.values()]
        for cluster in sorted(clusters(told), key=lambda it: it.name):
            said = [rows[it] for it in cluster.members]
            line = instruction(said[0][1].remark or cluster.words)
            if cluster.sessions >= self.sessions and line is not None:
                yield self._finding(window, cluster, said, line)

    def _finding(
        self, window: Window, cluster: Cluster, said: list[tuple[int, Correction]], line: str
    ) -> Finding:
        remark = one_line(said[0][1].remark or cluster.words)
        paths = sorted({row.about_path for _, row in said if row.about_path})
        because = [f"typed in {counted(cluster.sessions, 'session')}"]
        if len(paths) == 1:
            because.append(f"about {one_line(paths[0])}")
        return Finding(
            heuristic=self.name,
            key=cluster.name,
            claim=f"People keep telling agents: “{remark}”",
            because=tuple(because),
            occurrences=occurrences(window, [_span(window, *it) for it in said]),
            change=Change(Design.LINE, line),
            category=Category.FIX,
            effort=2,
            disproof="nobody says it again in later sessions, though nothing was changed",
            metric=Metric("corrections", cluster.name),
        )


def instruction(remark: str) -> str | None:
    """A person's remark as a line for the instruction file, in the same words.

    Sentences that say what to do come before those that say what was wrong; None where neither
    means anything to somebody who was not there.
    """
    said = sentences(one_line(remark, 4 * _LONGEST), _MOST_SENTENCES)
    told = [own for one in said if (own := _own(one))]
    tells = [it for it in told if not _BLAME.match(it) and _says_something(it)]
    if tells:
        return one_line(" ".join(f"{it}." for it in tells[:2]), _LONGEST)
    whole = ". ".join(told)
    if not _says_something(whole):
        return None
    return f"People had to say: “{one_line(whole, _LONGEST)}”. Do not make them say it again."


def _own(sentence: str) -> str:
    """A sentence without what only answers the agent."""
    text, before = sentence, ""
    while before != text:
        before, text = text, _OPENING.sub("", text, count=1)
    return _ENDING.sub("", text)


def _says_something(text: str) -> bool:
    wide = sum(sign > "\u2e80" for sign in text)
    return len(re.findall(r"\w+", text)) >= _LEAST_WORDS or wide > 2 * _LEAST_WORDS


def _span(window: Window, session: int, row: Correction) -> Span:
    """From the call that was wrong to the first call after the correction."""
    calls = [seq for it in window.requests.get(session, ()) for seq in it.calls]
    place = bisect_right(calls, row.seq)
    again = calls[place] if place < len(calls) else row.seq
    return Span(session, _wrong(window, session, row), again, shown=row.seq)


def _wrong(window: Window, session: int, row: Correction) -> int:
    """The call it speaks of; where that only looked at a file, the edit of that file before it."""
    looked = {it.path for it in window.touched_by.get((session, row.about), ()) if it.verb in LOOKS}
    edits = [
        call.seq
        for call in window.calls_of(session, 0, row.about)
        for it in window.touched_by.get((session, call.seq), ())
        if it.verb not in LOOKS and it.path in looked
    ]
    return edits[-1] if edits else row.about
