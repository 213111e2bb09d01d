"""Corrections of many sessions that say the same, put together.

Each row joins the earliest cluster whose first member it is near to, else it begins one. A cluster
is therefore as wide as one likeness and never a chain of them, and its name, which comes from its
first member, does not change when later rows come in.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from hashlib import blake2b
from math import ceil
from typing import TYPE_CHECKING

from hansei.projection.corrections.likeness import NEAR, near, pieces
from hansei.projection.corrections.model import Cluster, Correction

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Told = tuple[str, Correction]


def clusters(rows: Iterable[Told]) -> list[Cluster]:
    """Rows, each with its session's name, as clusters: those of most sessions first."""
    told = sorted(rows, key=_when)
    groups: dict[str, list[Told]] = {}
    for row, leader in zip(told, _leaders([row.normal for _, row in told]), strict=True):
        groups.setdefault(leader, []).append(row)
    made = [_cluster(leader, members) for leader, members in groups.items()]
    return sorted(made, key=lambda it: (-it.sessions, -len(it.members), it.name))


def _when(told: Told) -> tuple[bool, int, str, int]:
    session, row = told
    return row.at is None, row.at or 0, session, row.seq


def _leaders(forms: Sequence[str]) -> list[str]:
    """For each form, in order, the earliest form it is near to; itself where there is none.

    Forms that are near share one of their rarest pieces, so only those are looked up.
    """
    common = Counter(piece for form in set(forms) for piece in pieces(form))
    leaders: list[str] = []
    by_piece: dict[str, list[int]] = defaultdict(list)
    known: dict[str, str] = {}
    for form in forms:
        if form in known:
            continue
        rare = _rarest(form, common)
        candidates = sorted({number for piece in rare for number in by_piece[piece]})
        known[form] = next((leaders[it] for it in candidates if near(leaders[it], form)), form)
        if known[form] == form:
            for piece in rare:
                by_piece[piece].append(len(leaders))
            leaders.append(form)
    return [known[form] for form in forms]


def _rarest(form: str, common: Counter[str]) -> list[str]:
    """So many of the rarest pieces that a form near to this one must hold one of them."""
    ordered = sorted(pieces(form), key=lambda piece: (common[piece], piece))
    return ordered[: len(ordered) - ceil(NEAR * len(ordered)) + 1]


def _cluster(leader: str, members: list[Told]) -> Cluster:
    times = [row.at for _, row in members if row.at is not None]
    return Cluster(
        name=blake2b(leader.encode(), digest_size=6).hexdigest(),
        words=members[0][1].words,
        first=min(times, default=None),
        last=max(times, default=None),
        sessions=len({session for session, _ in members}),
        members=tuple(f"{session}#{row.seq}" for session, row in members),
    )
