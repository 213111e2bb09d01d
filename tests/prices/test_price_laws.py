"""Laws that any price must keep, and agreement with the library's own arithmetic."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

import genai_prices
from hypothesis import given
from hypothesis import strategies as st

from hansei.events.model import RequestUsage
from hansei.prices import PriceBook

BOOK = PriceBook()
FIELDS = ("input", "cache_read", "cache_write_5m", "cache_write_1h", "output")
MODELS = st.sampled_from(["claude-sonnet-4-5", "claude-opus-4-6", "claude-haiku-5-5"])
COUNTS = st.fixed_dictionaries({field: st.integers(0, 400_000) for field in FIELDS})
SMALL = st.fixed_dictionaries({field: st.integers(0, 10_000) for field in FIELDS})
MOMENTS = st.integers(1_750_000_000, 1_790_000_000)


def cost(model: str, counts: dict[str, Any], at: int = 1_780_000_000) -> int:
    nano = BOOK.cost(RequestUsage(key=1, session="s", model=model, at=at * 1000, **counts))
    assert nano is not None
    return nano


@given(st.sampled_from(["claude-sonnet-4-5", "claude-opus-4-6"]), SMALL)
def test_cost_is_the_sum_over_the_fields_below_a_threshold(
    model: str, counts: dict[str, int]
) -> None:
    alone = [cost(model, {field: count}) for field, count in counts.items()]
    assert cost(model, counts) == sum(alone)


@given(MODELS, COUNTS, st.sampled_from(FIELDS), st.integers(0, 300_000))
def test_more_tokens_never_cost_less(
    model: str, counts: dict[str, int], field: str, more: int
) -> None:
    assert cost(model, {**counts, field: counts[field] + more}) >= cost(model, counts)


@given(MODELS, COUNTS, MOMENTS)
def test_the_library_computes_the_same(model: str, counts: dict[str, int], at: int) -> None:
    writes = counts["cache_write_5m"] + counts["cache_write_1h"]
    theirs = genai_prices.calc_price(
        genai_prices.Usage(
            input_tokens=counts["input"] + counts["cache_read"] + writes,
            cache_read_tokens=counts["cache_read"],
            cache_write_tokens=writes,
            cache_write_1h_tokens=counts["cache_write_1h"],
            output_tokens=counts["output"],
        ),
        model,
        provider_id="anthropic",
        genai_request_timestamp=datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=at),
    )
    nano = (theirs.total_price * 1_000_000_000).quantize(Decimal(1), ROUND_HALF_EVEN)
    assert cost(model, counts, at) == nano


@given(st.integers(0, 86_399))
def test_the_library_sees_the_same_hours(second: int) -> None:
    midnight = 1_780_272_000
    theirs = genai_prices.calc_price(
        genai_prices.Usage(input_tokens=1_000),
        "deepseek-chat",
        provider_id="deepseek",
        genai_request_timestamp=datetime.fromtimestamp(midnight + second, UTC),
    )
    assert cost("deepseek-chat", {"input": 1_000}, midnight + second) == theirs.total_price * 10**9
