"""Requests whose context had to be written to the cache again, and what had happened before.

A provider keeps what it read for some minutes, and only as long as nothing in front of it changes:
the model, the tools, the instructions. Then the next request pays for the whole context as if it
were new. How much is told by the request itself: what it did not read from the cache although the
request before had carried it. A compaction makes a new context, which is not the cache's fault.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.projection.facts.paid import SERVERS_CHANGED, TOOLS_CHANGED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hansei.projection.facts.paid import Paid
    from hansei.projection.window import Window

LEAST: Final = 20_000
"""Tokens of a context: smaller ones are cheap to write, and often fall below what is cached."""
COLD: Final = 0.25
"""Of the context before: whoever reads less than this from the cache lost it. System prompts are
shared by many sessions and stay warm, so nothing is rarely read."""
MINUTE: Final = 60_000
SHORT: Final = 5 * MINUTE
"""How long a cache is kept at least, by all providers that say so."""
LONG: Final = 60 * MINUTE
"""How long one that was written for an hour is."""

_GOES_ON: Final = re.compile(
    r"\s*(?:ok(?:ay)?|yes|please|and|now)?\W*"
    r"(?:(?:keep|carry|go) (?:on|going|doing|working|it up)|go ahead|continue|proceed|resume|next"
    r"|finish|try again|retry|weiter|mach weiter|继续|続けて|계속)(?!\w)|\W*$",
    re.IGNORECASE,
)
"""Prompts that only say that the work goes on."""
_CHANGING: Final = frozenset(
    ("/mcp", "/plugin", "/plugins", "/agents", "/config", TOOLS_CHANGED, SERVERS_CHANGED)
)
"""What changes the tools or the instructions, which stand in front of everything."""


class Why(StrEnum):
    """What had happened."""

    IDLE = "idle"  # a pause longer than the cache is kept
    MODEL = "model"  # another model was asked
    TOOLS = "tools"  # servers or tools came or went
    UNKNOWN = "unknown"


class Cold(NamedTuple):
    """A request that found nothing in the cache."""

    session: int
    seq: int
    why: Why
    again: int
    """Tokens that had been carried by the request before and were billed as new."""
    gap: int | None
    """Milliseconds since that request."""
    hour: bool
    """Whether the cache had been written for an hour."""
    before: Paid
    paid: Paid
    prompt: str | None
    """What a person typed in between; None where nobody did."""


def cold(window: Window) -> list[Cold]:
    """Every request that lost the cache, by session and in order."""
    return [it for session in sorted(window.sessions) for it in _of(window, session)]


def _of(window: Window, session: int) -> Iterator[Cold]:
    rows = window.paid.get(session, [])
    if not any(_is_cached(it) for it in rows):
        return  # an agent that never reads from a cache has none to lose, or does not tell
    hour = False
    for place, row in enumerate(rows):
        before = _before(rows[:place], row)
        if before is not None and not row.compacted:
            lost = min(before.context, row.context) - (row.cache_read or 0)
            if (row.cache_read or 0) < COLD * before.context:
                gap = None if row.at is None or before.at is None else row.at - before.at
                why = _why(row, before, gap, hour=hour)
                prompt = _prompt(window, session, before.seq, row.seq)
                yield Cold(session, row.seq, why, lost, gap, hour, before, row, prompt)
        if row.written:
            hour = 2 * (row.cache_write_1h or 0) > row.written


def _prompt(window: Window, session: int, after: int, before: int) -> str | None:
    told = (it.text for it in window.said_in(session) if after < it.seq < before)
    return next(told, None)


def _is_cached(row: Paid) -> bool:
    return 0 < row.context <= 2 * (row.cache_read or 0)


def _before(rows: Sequence[Paid], row: Paid) -> Paid | None:
    """The request that carried the same conversation before: of about the same size."""
    if row.context < LEAST or row.cache_read is None:
        return None
    for it in reversed(rows[-3:]):  # one or two small ones in between are asides
        if 2 * it.context >= row.context:
            return it if 2 * row.context >= it.context and it.context >= LEAST else None
        if it.compacted:
            break
    return None


def _why(row: Paid, before: Paid, gap: int | None, *, hour: bool) -> Why:
    if row.model != before.model:
        return Why.MODEL
    if gap is not None and gap >= (LONG if hour else SHORT):
        return Why.IDLE
    return Why.UNKNOWN if _CHANGING.isdisjoint(row.since) else Why.TOOLS


def kind_of(it: Cold) -> str | None:
    """What makes it alike to others: the remedy is the same; None where nothing tells the cause."""
    if it.why is Why.UNKNOWN:
        return None
    if it.why is not Why.IDLE:
        return str(it.why)
    if it.gap is not None and it.gap >= LONG:
        # Who goes on with what was under way needs the old context.
        new = it.prompt is not None and not _GOES_ON.match(it.prompt)
        return "idle long" if new else None
    # Who tells of no writing has a cache that nobody here decides about.
    return "idle short" if it.paid.written and not it.hour else None
