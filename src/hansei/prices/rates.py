"""Prices as values, and what a request costs at them.

All arithmetic is on whole numbers: rates are nano-dollars per million units, which holds a list
price to the billionth of a dollar per million tokens, and a request is rounded once, at its end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import msgspec

from hansei.config import DAY_MS

if TYPE_CHECKING:
    from hansei.events.model import RequestUsage

MILLION = 1_000_000
NANO = 1_000_000_000


class Rates(msgspec.Struct, frozen=True, kw_only=True):
    """Nano-dollars per million of each kind, None where no price is known.

    The fields stand in the order in which `charge` counts.
    """

    input: int | None = None
    cache_read: int | None = None
    cache_write_5m: int | None = None
    cache_write_1h: int | None = None
    output: int | None = None
    web_search: int | None = None
    above: int = 0
    """Holds for requests with more input tokens than this, cached ones included."""


Ladder: TypeAlias = tuple[Rates, ...]
"""The rates of one moment, ascending by `above`; the first holds where no other does."""


class Period(msgspec.Struct, frozen=True, kw_only=True):
    """When a ladder is in force: from a day on, or between two times of every day, in UTC."""

    since: int | None = None
    """Milliseconds since 1970."""
    daily: tuple[int, int] | None = None
    """Milliseconds since midnight, start included and end not; the end may lie past midnight."""
    ladder: Ladder

    def holds(self, at: int) -> bool:
        if self.since is not None and at < self.since:
            return False
        if self.daily is None:
            return True
        start, end = self.daily
        time = at % DAY_MS
        return start <= time < end if start <= end else time >= start or time < end


def in_force(periods: tuple[Period, ...], at: int | None) -> Ladder | None:
    """The ladder at a moment: the last period that holds.

    Where the moment is unknown there is an answer only if the price never changed.
    """
    if at is None:
        ladders = {period.ladder for period in periods}
        always = any(period.since is None and period.daily is None for period in periods)
        return ladders.pop() if len(ladders) == 1 and always else None
    for period in reversed(periods):
        if period.holds(at):
            return period.ladder
    return None


def charge(ladder: Ladder, usage: RequestUsage) -> int | None:
    """Nano-dollars for one request; None where something that was used has no price."""
    inputs = (usage.input, usage.cache_read, usage.cache_write_5m, usage.cache_write_1h)
    if usage.output is None and all(count is None for count in inputs):
        return None
    rates = step(ladder, sum(filter(None, inputs)))
    counts = (*inputs, usage.output, usage.web_searches)
    total = 0
    for count, rate in zip(counts, msgspec.structs.astuple(rates), strict=False):
        if count:
            if rate is None or count < 0:
                return None
            total += count * rate
    return divide_half_even(total, MILLION)


def step(ladder: Ladder, input_tokens: int) -> Rates:
    """The rates for a request of this size; crossing a threshold reprices the whole request."""
    for rates in reversed(ladder):
        if input_tokens > rates.above:
            return rates
    return ladder[0]


def divide_half_even(amount: int, divisor: int) -> int:
    quotient, rest = divmod(amount, divisor)
    return quotient + (2 * rest > divisor or (2 * rest == divisor and quotient % 2 == 1))
