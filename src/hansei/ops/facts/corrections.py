"""What people had to tell agents more than once, and what reviewers said of what agents wrote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.projection.corrections import RULES, clusters, matched
from hansei.projection.corrections.matching import Wrote
from hansei.projection.facts.folds import CORRECTIONS, HUNKS, REVIEWS
from hansei.projection.outcomes import unpacked
from hansei.store.reviews import imported

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.events.reviews import Review
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


@dataclass(frozen=True)
class ReviewLine:
    """A remark on lines that an agent wrote."""

    words: str
    author: str | None
    bot: bool
    path: str | None
    line: int | None
    at: int | None
    edit: str
    """The edit that wrote them."""


@dataclass(frozen=True)
class Corrections:
    lines: list[CorrectionLine]
    reviews: list[ReviewLine]
    reviews_seen: int
    """Remarks that were imported or shown to an agent, about agents' lines or not."""


def corrections(chosen: Chosen) -> Corrections:
    """What was said against what agents did."""
    told = {(it.source, it.id): it for it in _reviews(chosen)}
    wrote = (
        Wrote(str(session), unpacked(row))
        for session, row in (chosen.rows(HUNKS) if any(it.hunk for it in told.values()) else ())
    )
    by_id = {review.id: review for review in told.values()}
    found = [(by_id[it.review], it) for it in matched(told.values(), wrote)]
    lines = [
        ReviewLine(
            words=review.text,
            author=review.author,
            bot=review.bot,
            path=review.path,
            line=review.line,
            at=review.at,
            edit=chosen.place(int(it.session), it.seq),
        )
        for review, it in sorted(found, key=lambda pair: (-(pair[0].at or 0), pair[0].id))
    ]
    return Corrections(clustered(chosen), lines, len(told))


def _reviews(chosen: Chosen) -> Iterator[Review]:
    """Those shown to agents, then those a person imported, which tell more."""
    for _, review in chosen.rows(REVIEWS):
        yield review
    for workspace in sorted(set(chosen.homes.values())):
        yield from imported(chosen.store, workspace)


def clustered(chosen: Chosen) -> list[CorrectionLine]:
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
