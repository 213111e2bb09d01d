"""What a session took: tokens, money, requests, and how often its context was cut down.

None is unknown. A session that cannot have such an amount is not in the table.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.projection.provenance.pieces import Kind
from hansei.store.rows import json_list

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.projection.window import Window

NANODOLLARS: Final = 1_000_000_000


class _Bill(NamedTuple):
    session: int
    requests: int
    unmeasured: int
    """Requests of which the agent does not tell the tokens."""
    unpriced: int
    tokens: int
    cost: int | None
    """In nanodollars, of the requests that have a price."""


def tokens(window: Window) -> dict[int, float | None]:
    """Billed, input and output; unknown where the agent does not tell them of every request."""
    return {it.session: None if it.unmeasured else it.tokens for it in _bills(window)}


def cost(window: Window) -> dict[int, float | None]:
    """In dollars; unknown where a request has no price."""
    return {
        it.session: None
        if it.unmeasured or it.unpriced or it.cost is None
        else it.cost / NANODOLLARS
        for it in _bills(window)
    }


def requests(window: Window) -> dict[int, float | None]:
    """Requests to the model."""
    return {it.session: it.requests for it in _bills(window)}


def compactions(window: Window) -> dict[int, float | None]:
    """How often the context was replaced by a summary; only where the context is known."""
    known = {session for session, _ in window.pieces}
    told = Counter(session for session, it in window.pieces if it.kind is Kind.SUMMARY)
    return {it: told[it] if it in known else None for it in sorted(window.sessions)}


def _bills(window: Window) -> Iterator[_Bill]:
    """The sum of each session that made a request."""
    rows = window.store.db.execute(
        "SELECT session, sum(requests), sum(unmeasured), sum(unpriced),"
        " sum(coalesce(input, 0) + coalesce(cache_read, 0) + coalesce(cache_write_5m, 0)"
        " + coalesce(cache_write_1h, 0) + coalesce(output, 0)), sum(cost)"
        " FROM spend WHERE requests > 0 AND session IN (SELECT value FROM json_each(?))"
        " GROUP BY session ORDER BY session",
        (json_list(window.sessions),),
    )
    return map(_Bill._make, rows)
