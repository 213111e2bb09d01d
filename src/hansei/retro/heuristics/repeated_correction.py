"""The same correction of people in several sessions: their words, made into an instruction.

They type it in a prompt, or say it in review of lines that a session wrote. Nothing is put into
their mouth: what only answers the agent ("no,", "I said", "please") is taken off, and the rest
stays as it was typed. What the corrected work took is counted from requests: those after the one
that asked for the corrected call (where that only looked at a file, the edit of that file before
it), up to and with the first one after the correction that asked for a call again. What is said in
review comes after the session: what it takes is people's time, and no tokens.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.bets.model import Category, Change, Design, Finding, Metric, Occurrence
from hansei.bets.recurring import Fact
from hansei.projection.corrections import Rule
from hansei.projection.corrections.rules import instruction
from hansei.projection.files import LOOKS
from hansei.projection.remarks import remarks
from hansei.projection.wording import counted, one_line
from hansei.retro.costs import Span, occurrences

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.projection.corrections import Cluster, Correction
    from hansei.projection.window import Window


@dataclass(frozen=True)
class RepeatedCorrection:
    """Knobs."""

    name: str = "repeated-correction"
    sessions: int = 2
    """Sessions it was said about: a person who says a thing twice means it."""

    def find(self, window: Window) -> Iterator[Finding]:
        for cluster, said in remarks(window):
            if len({session for session, _ in said}) < self.sessions:
                continue
            line = instruction(said[0][1].remark or said[0][1].words)
            if line is not None:
                yield self._finding(window, cluster, said, line)

    def _finding(
        self, window: Window, cluster: Cluster, said: list[tuple[int, Correction]], line: str
    ) -> Finding:
        remark = one_line(said[0][1].remark or said[0][1].words)
        paths = sorted({row.about_path for _, row in said if row.about_path})
        because = _where(said)
        if len(paths) == 1:
            because.append(f"about {one_line(paths[0])}")
        return Finding(
            heuristic=self.name,
            key=cluster.name,
            claim=f"People keep {_how(said)}: “{remark}”",
            because=tuple(because),
            occurrences=_occurrences(window, said),
            change=Change(Design.LINE, line),
            category=Category.FIX,
            effort=2,
            disproof="at the places named people meant different things, or one task only",
            metric=Metric(Fact.CORRECTIONS, cluster.name),
        )


def _is_review(row: Correction) -> bool:
    return row.basis is Rule.REVIEW


def _how(said: list[tuple[int, Correction]]) -> str:
    reviews = all(_is_review(row) for _, row in said)
    return "saying in review of what agents wrote" if reviews else "telling agents"


def _where(said: list[tuple[int, Correction]]) -> list[str]:
    """In how many sessions it was typed, and about how many it was said in review."""
    typed = {session for session, row in said if not _is_review(row)}
    reviews = {session for session, row in said if _is_review(row)}
    found = [f"typed in {counted(len(typed), 'session')}"] * bool(typed)
    about = f"said in review of lines that {counted(len(reviews), 'session')} wrote"
    return found + [about] * bool(reviews)


def _occurrences(window: Window, said: list[tuple[int, Correction]]) -> tuple[Occurrence, ...]:
    """Prompts with what the corrected work took, and reviews without."""
    typed = occurrences(window, [_span(window, *it) for it in said if not _is_review(it[1])])
    reviews = {(session, row.seq) for session, row in said if _is_review(row)}
    return tuple(sorted([*typed, *(Occurrence(*it, None) for it in reviews)]))


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
