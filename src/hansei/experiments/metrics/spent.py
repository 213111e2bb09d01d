"""What a session took: tokens, money, requests, and how often its context was cut down."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from hansei.projection.provenance.pieces import Kind
from hansei.store.rows import json_list

if TYPE_CHECKING:
    from hansei.projection.window import Window

NANODOLLARS = 1_000_000_000


def tokens(window: Window) -> dict[int, float]:
    """Billed, input and output; sessions whose agent does not tell are left out."""
    return {it.number: it.tokens for it in window.sessions.values() if it.tokens is not None}


def cost(window: Window) -> dict[int, float]:
    """In dollars; sessions with a request that has no price are left out."""
    rows = window.store.db.execute(
        "SELECT session, sum(cost) FROM spend WHERE requests > 0 AND session IN"
        " (SELECT value FROM json_each(?)) GROUP BY session"
        " HAVING sum(unpriced) = 0 AND sum(unmeasured) = 0 AND count(cost) = count(*)",
        (json_list(window.sessions),),
    )
    return {session: spent / NANODOLLARS for session, spent in rows}


def requests(window: Window) -> dict[int, float]:
    """Requests to the model."""
    return {it.number: it.requests for it in window.sessions.values() if it.requests}


def compactions(window: Window) -> dict[int, float]:
    """How often the context was replaced by a summary; only where the context is known."""
    known = {session for session, _ in window.pieces}
    told = Counter(session for session, it in window.pieces if it.kind is Kind.SUMMARY)
    return {session: told[session] for session in sorted(known)}
