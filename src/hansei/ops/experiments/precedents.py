"""Changes of the past that are like one somebody has in mind, and what came of them.

Experiments say what their change did; bets that a person refused or took back say why not. A change
is like another if it is the same bet, is about the same file, or says about the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from hansei.bets.model import State
from hansei.ops.experiments import shelf
from hansei.ops.experiments.reports import report
from hansei.projection.failures.likeness import Known
from hansei.store import bets as memory

if TYPE_CHECKING:
    from pathlib import Path

    from hansei.experiments.experiment import Experiment
    from hansei.experiments.model import Verdict
    from hansei.store.bets import Kept
    from hansei.store.database import Store

DECIDED: Final = frozenset((State.DISMISSED, State.REVERTED, State.KEPT))


class Precedent(msgspec.Struct, frozen=True):
    """One change and what came of it."""

    id: str
    kind: str
    """`experiment` or `bet`."""
    what: str
    stage: str
    verdict: str | None
    """In the words of the report; None where there is none."""
    randomised: bool
    sessions: tuple[int, int] | None
    """Compared, without and with the change."""
    at: int | None
    reason: str | None
    """Why a person decided as they did."""
    likeness: float
    """1 where nothing was asked for."""


def precedents(
    store: Store, workspace: int, here: Path, now: int, about: str = ""
) -> list[Precedent]:
    """Changes of a workspace, the likest first; without `about` all of them, the newest first."""
    tried = shelf.listed(store, workspace)
    decided = [
        it
        for it in memory.known(store, [workspace]).values()
        if it.state in DECIDED and it.claim is not None
    ]
    texts = [*map(_text, tried), *(f"{it.claim} {it.reason or ''}" for it in decided)]
    shares = _shares(texts, about)
    told = [
        *(
            (share, _tried(store, it, here, now, share))
            for it, share in zip(tried, shares, strict=False)
            if share is not None
        ),
        *(
            (share, _decided(it, share))
            for it, share in zip(decided, shares[len(tried) :], strict=True)
            if share is not None
        ),
    ]
    told.sort(key=lambda it: (-it[0], -(it[1].at or 0), it[1].id))
    return [it for _, it in told]


def _text(it: Experiment) -> str:
    parts = (it.id, it.bet, it.hypothesis, it.subject, it.terms.path, it.terms.text)
    return " ".join(part for part in parts if part)


def _shares(texts: list[str], about: str) -> list[float | None]:
    if not about.strip():
        return [1.0] * len(texts)
    found = dict(Known(texts).like(about))
    exact = about.strip()
    return [1.0 if exact in text else found.get(place) for place, text in enumerate(texts)]


def _tried(store: Store, it: Experiment, here: Path, now: int, share: float) -> Precedent:
    told = report(store, it, here, now, resamples=1).report if it.started_at else None
    return Precedent(
        id=shelf.short(it),
        kind="experiment",
        what=it.hypothesis,
        stage=it.stage,
        verdict=None if told is None else told.verdict.word,
        randomised=told is not None and told.randomised,
        sessions=None if told is None else _compared(told.verdict),
        at=it.started_at or it.created_at,
        reason=None,
        likeness=round(share, 2),
    )


def _compared(verdict: Verdict) -> tuple[int, int]:
    return verdict.control.sessions, verdict.treatment.sessions


def _decided(it: Kept, share: float) -> Precedent:
    return Precedent(
        id=it.id,
        kind="bet",
        what=it.claim or "",
        stage=it.state,
        verdict=None,
        randomised=False,
        sessions=None,
        at=it.decided_at,
        reason=it.reason,
        likeness=round(share, 2),
    )
