"""Arithmetic of one request's tokens.

A request is often told several times: streamed lines, copies in forked files, a subagent's line
inside its parent. Two tellings merge into the largest value of each count, so the order in which
they are read does not matter to any sum. What is not counted stays as it was told first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from hansei.events.model import RequestUsage

TOKENS = ("input", "cache_read", "cache_write_5m", "cache_write_1h", "output")
"""Disjoint fields; their sum is what the request took."""

LARGEST_STAYS = (*TOKENS, "reasoning", "web_searches", "lines", "repeated")
FIRST_STAYS = ("at", "model", "branch", "tier", "message", "request", "cwd")


def total(usage: RequestUsage) -> int:
    """All tokens of a request."""
    return sum(getattr(usage, name) or 0 for name in TOKENS)


def context_tokens(usage: RequestUsage) -> int | None:
    """What the model read: all input, cached or not; None where it is not known of one request."""
    if usage.sums:
        return None
    parts = (usage.input, usage.cache_read, usage.cache_write_5m, usage.cache_write_1h)
    known = [part for part in parts if part is not None]
    return sum(known) if known else None


def numbers(usage: RequestUsage) -> tuple[int | None, ...]:
    """Everything counted in a telling."""
    return tuple(getattr(usage, name) for name in LARGEST_STAYS)


def merge(first: RequestUsage, second: RequestUsage) -> RequestUsage:
    """Two tellings of one request as one."""
    values: dict[str, object] = {
        name: _largest(getattr(first, name), getattr(second, name)) for name in LARGEST_STAYS
    }
    for name in FIRST_STAYS:
        own = getattr(first, name)
        values[name] = getattr(second, name) if own is None else own
    values["sums"] = first.sums or second.sums
    return msgspec.structs.replace(first, **values)


def _largest(first: int | None, second: int | None) -> int | None:
    if first is None or second is None:
        return second if first is None else first
    return max(first, second)
