"""What became of the code that sessions wrote, session by session."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.projection.facts.folds import OUTCOMES, TURNED
from hansei.projection.outcomes import By, Fate, Later, session_result

if TYPE_CHECKING:
    from hansei.ops.facts.chosen import Chosen
    from hansei.projection.outcomes import Outcome, Turned


@dataclass(frozen=True)
class SessionOutcome:
    """One session that wrote something, or in which tests turned."""

    session: str
    started_at: int | None
    hunks: int
    landed: int
    not_committed: int
    waiting: int
    """Not committed so far, and written less than a week ago."""
    taken_back: int
    """Taken back or written over by the session itself."""
    reverted: int
    reworked: int
    """Landed, and then changed by a person."""
    alive_30: int | None
    """Landed lines that were still there a month later; None while no month has passed."""
    unknown: int
    labels: list[str]
    basis: list[str]
    """What each label rests on."""


@dataclass(frozen=True)
class Outcomes:
    lines: list[SessionOutcome]
    reasons: dict[str, int]
    """Why hunks are unknown, and how many for each reason."""


def outcomes(chosen: Chosen) -> Outcomes:
    """Sessions that wrote something, newest first."""
    hunks: dict[int, list[Outcome]] = defaultdict(list)
    turned: dict[int, list[Turned]] = defaultdict(list)
    for session, row in chosen.rows(OUTCOMES):
        hunks[session].append(row)
    for session, turn in chosen.rows(TURNED):
        turned[session].append(turn)
    lines = [
        _line(chosen, session, hunks[session], turned[session])
        for session in sorted(
            hunks.keys() | turned.keys(), key=lambda it: (-(chosen.started[it] or 0), it)
        )
    ]
    unknown = Counter(
        row.reason for rows in hunks.values() for row in rows if row.fate is Fate.UNKNOWN
    )
    reasons = dict(sorted(unknown.items(), key=lambda it: (-it[1], it[0])))
    return Outcomes(lines, reasons)


def _line(
    chosen: Chosen, session: int, rows: list[Outcome], turned: list[Turned]
) -> SessionOutcome:
    fates = Counter(row.fate for row in rows)
    alive = [row.alive_30 for row in rows if row.alive_30 is not None]
    results = session_result(rows, turned)
    return SessionOutcome(
        session=chosen.names[session],
        started_at=chosen.started[session],
        hunks=len(rows),
        landed=fates[Fate.LANDED] + fates[Fate.PARTLY],
        not_committed=fates[Fate.NOT_COMMITTED],
        waiting=fates[Fate.WAITING],
        taken_back=fates[Fate.TAKEN_BACK] + fates[Fate.REPLACED],
        reverted=sum(row.later is Later.REVERTED for row in rows),
        reworked=sum(row.later is Later.REWORKED and row.later_by is By.PERSON for row in rows),
        alive_30=sum(alive) if alive else None,
        unknown=fates[Fate.UNKNOWN],
        labels=[it.label for it in results],
        basis=[it.basis for it in results],
    )
