"""What each request took.

`token_count` tells the thread's running total and the last request's share of it. The same count is
told again and again; a request is new when the total has moved. Later versions also write a
`token_usage_record` for each response, just before its count. Copies may lack the records but keep
the counts, so a request is known by its turn and the total, and a record is given the total that
its count will show.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from hansei.events.model import RequestUsage
from hansei.sources.agents.codex.thread import Spent, key_of

if TYPE_CHECKING:
    from hansei.sources.agents.codex.records import Payload, Usage
    from hansei.sources.agents.codex.thread import Reader

MOST = 2**53
"""A number of tokens beyond this, or below zero, is a fault in the line."""


def token_count(reader: Reader, payload: Payload) -> None:
    info = payload.info
    if info is None or info.total_token_usage is None:
        return  # limits only
    totals, spent = _figures(info.total_token_usage), reader.state.spent
    last = info.last_token_usage
    if spent is not None and spent.awaited:
        if totals == _before(spent):
            return  # the count of the request before, told again
        spent.totals, spent.awaited = totals, False
        _tell_again(reader, spent, last)
    elif spent is not None and spent.totals == totals:
        _tell_again(reader, spent, last)
    else:
        counts = _counts(last) if last else _difference(totals, spent)
        if any(counts):
            _tell_new(reader, Spent(_key(reader, None, totals), totals, counts))
        elif spent is not None:
            spent.totals = totals


def token_usage_record(reader: Reader, payload: Payload) -> None:
    usage, spent = payload.usage, reader.state.spent
    if usage is None:
        reader.unrecognised("token_usage_record without usage")
        return
    counts = _counts(usage)
    thread = _figures(payload.thread_token_usage or usage)
    if spent is not None and not spent.recorded and spent.totals == thread:
        spent.recorded = True
        _tell_again(reader, spent, usage, payload.response_id)
    elif any(counts):
        own = _figures(usage)
        totals = [a + b for a, b in zip(spent.totals, own, strict=True)] if spent else thread
        key = _key(reader, payload.turn_id, totals)
        told = Spent(key, totals, counts, recorded=True, awaited=True)
        _tell_new(reader, told, payload.response_id)


def _key(reader: Reader, turn: str | None, totals: list[int]) -> int:
    return key_of("request", reader.thread(turn), str(totals))


def _tell_new(reader: Reader, spent: Spent, response: str | None = None) -> None:
    settle(reader)
    reader.state.spent = spent
    spent.told = _billed(spent)
    if not reader.state.turn:
        reader.forget_texts()
    _tell(reader, spent, response)


def _tell_again(
    reader: Reader, spent: Spent, usage: Usage | None, response: str | None = None
) -> None:
    """Count one more line. What it says may be an estimate of something else: only its sum."""
    spent.lines += 1
    if usage is not None:
        spent.told += (_sound(usage.input_tokens) or 0) + (_sound(usage.output_tokens) or 0)
    if response or spent.key not in reader.events:
        _tell(reader, spent, response)


def _tell(reader: Reader, spent: Spent, response: str | None) -> None:
    uncached, cached, written, output, reasoning = spent.counts
    event = RequestUsage(
        key=spent.key,
        model=reader.model,
        message=response,
        tier=reader.state.tier,
        input=uncached,
        cache_read=cached,
        cache_write_5m=written,
        output=output,
        reasoning=reasoning,
        lines=spent.lines,
        repeated=spent.told - _billed(spent),
        **reader.where,
    )
    reader.emit(event)


def settle(reader: Reader) -> None:
    """Write into the last request what the lines since its first have said."""
    spent = reader.state.spent
    if spent is None or spent.lines == 1:
        return
    event = reader.events.get(spent.key)
    if isinstance(event, RequestUsage) and spent.lines > event.lines:
        repeated = spent.told - _billed(spent)
        reader.events[spent.key] = msgspec.structs.replace(
            event, lines=spent.lines, repeated=repeated
        )


# --- arithmetic -----------------------------------------------------------------------------------


def _figures(usage: Usage) -> list[int]:
    """The numbers that every version tells; cache writes came later and old copies lack them."""
    numbers = [
        usage.input_tokens or 0,
        usage.cached_input_tokens or 0,
        usage.output_tokens or 0,
        usage.reasoning_output_tokens or 0,
        usage.total_tokens or 0,
    ]
    if min(numbers) < 0 or max(numbers) > MOST:
        return [min(max(number, 0), MOST) for number in numbers]
    return numbers


def _counts(usage: Usage) -> list[int | None]:
    """Disjoint fields, and the reasoning: cached input is inside the input as it is told."""
    whole, cached = _sound(usage.input_tokens), _sound(usage.cached_input_tokens)
    written = _sound(usage.cache_write_input_tokens)
    rest = None if whole is None else max(whole - (cached or 0) - (written or 0), 0)
    return [
        rest,
        cached,
        written,
        _sound(usage.output_tokens),
        _sound(usage.reasoning_output_tokens),
    ]


def _billed(spent: Spent) -> int:
    uncached, cached, written, output, _ = spent.counts
    return (uncached or 0) + (cached or 0) + (written or 0) + (output or 0)


def _sound(number: int | None) -> int | None:
    return number if number is not None and 0 <= number <= MOST else None


def _difference(now: list[int], spent: Spent | None) -> list[int | None]:
    """The last request's share where it is not told; a total that fell has begun anew."""
    before = spent.totals if spent else [0] * len(now)
    if any(a < b for a, b in zip(now, before, strict=True)):
        before = [0] * len(now)
    whole, cached, output, reasoning, _ = (a - b for a, b in zip(now, before, strict=True))
    return [max(whole - cached, 0), cached, None, output, reasoning]


def _before(spent: Spent) -> list[int]:
    """The running total before the request."""
    uncached, cached, written, output, reasoning = (count or 0 for count in spent.counts)
    whole = uncached + cached + written
    own = (whole, cached, output, reasoning, whole + output)
    return [a - b for a, b in zip(spent.totals, own, strict=True)]
