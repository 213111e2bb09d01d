"""One text over many sessions: how often it was there, how far it got, what it took."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.hook.places import SERVER, SKILL
from hansei.projection.funnel.model import Sum

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hansei.projection.funnel.model import Use


def summed(rows: Iterable[Use]) -> list[Sum]:
    """Rows of many sessions by text, the dearest first, then by kind and name.

    Skills and servers are known by their names; files by their paths, as recorded.
    """
    texts: dict[tuple[str, str], list[Use]] = {}
    for row in rows:
        texts.setdefault(text_of(row), []).append(row)
    found = [_sum(uses) for uses in texts.values()]
    return sorted(found, key=lambda it: (-(it.rent or 0), it.kind, it.name, it.path or ""))


def text_of(row: Use | Sum) -> tuple[str, str]:
    """What a text is known by across sessions."""
    by_name = row.kind in (SKILL, SERVER) or row.path is None
    return row.kind, row.name if by_name else row.path or ""


def _sum(uses: list[Use]) -> Sum:
    tokens = [it.tokens for it in uses if it.tokens is not None]
    rents = [it.rent for it in uses if it.rent is not None]
    steps = [[it.matched for it in uses], [it.fired for it in uses], [it.followed for it in uses]]
    (matched, m), (fired, f), (followed, w) = (
        (sum(it is True for it in step), sum(it is not None for it in step)) for step in steps
    )
    return Sum(
        kind=uses[0].kind,
        name=uses[0].name,
        path=min((it.path for it in uses if it.path is not None), default=None),
        sessions=len(uses),
        matched=matched,
        matched_known=m,
        fired=fired,
        fired_known=f,
        followed=followed,
        followed_known=w,
        calls=sum(it.calls for it in uses),
        failed=sum(it.failed for it in uses),
        tokens=round(sum(tokens) / len(tokens)) if tokens else None,
        rent=sum(rents) if rents else None,
    )
