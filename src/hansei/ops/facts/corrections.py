"""What people had to tell agents more than once, and everything else they corrected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.projection.corrections import RULES, clusters
from hansei.projection.facts.folds import CORRECTIONS

if TYPE_CHECKING:
    from hansei.ops.facts.chosen import Chosen


@dataclass(frozen=True)
class CorrectionLine:
    """One correction, or several that say the same."""

    words: str
    kind: str
    basis: str
    """Why it counts as one, in a sentence."""
    times: int
    sessions: int
    last_at: int | None
    about: str
    """The event it speaks of."""
    about_path: str | None
    evidence: list[str]


def corrections(chosen: Chosen) -> list[CorrectionLine]:
    """Those said in most sessions first, then the newest."""
    rows = {(str(s), row.seq): (s, row) for s, row in chosen.rows(CORRECTIONS)}
    lines = []
    for cluster in clusters((session, row) for (session, _), (_, row) in rows.items()):
        members = [_split(member) for member in cluster.members]
        session, first = rows[members[0]]
        lines.append(
            CorrectionLine(
                words=cluster.words,
                kind=first.kind,
                basis=RULES[first.basis],
                times=len(members),
                sessions=cluster.sessions,
                last_at=cluster.last,
                about=chosen.place(session, first.about),
                about_path=first.about_path,
                evidence=chosen.newest((int(it), seq) for it, seq in members),
            )
        )
    return sorted(lines, key=lambda it: (-it.sessions, -it.times, -(it.last_at or 0), it.words))


def _split(member: str) -> tuple[str, int]:
    session, _, seq = member.rpartition("#")
    return session, int(seq)
