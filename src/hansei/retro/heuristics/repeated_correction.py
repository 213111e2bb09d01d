"""The same correction typed by a person in several sessions: their words, made into an instruction.

Nothing is put into their mouth: what only answers the agent ("no,", "I said", "please") is taken
off, and the rest stays as it was typed. What the corrected work took is counted from requests:
those after the one that asked for the corrected call (where that only looked at a file, the edit of
that file before it), up to and with the first one after the correction that asked for a call again.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.bets.model import Category, Change, Design, Finding, Metric
from hansei.bets.recurring import Fact
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
    """Sessions it was typed in: a person who says a thing twice means it."""

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
        because = [f"typed in {counted(len({it for it, _ in said}), 'session')}"]
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
            disproof="at the places named people meant different things, or one task only",
            metric=Metric(Fact.CORRECTIONS, cluster.name),
        )


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
