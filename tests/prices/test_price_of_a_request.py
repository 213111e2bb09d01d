"""Costs worked out by hand from the public price lists, in nano-dollars.

One dollar per million tokens is a thousand nano-dollars per token.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from hansei.events.model import RequestUsage
from hansei.prices import PriceBook

BOOK = PriceBook()


def moment(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1000


def cost(model: str | None, at: str | None = "2026-06-01T12:00", **counts: Any) -> int | None:
    when = moment(at) if at else None
    return BOOK.cost(RequestUsage(key=1, session="s", model=model, at=when, **counts))


@pytest.mark.parametrize(
    ("model", "counts", "nano"),
    [
        # Sonnet 4.5: 3, read 0.30, write 3.75 and 6, output 15
        ("claude-sonnet-4-5", {"input": 10}, 10 * 3_000),
        ("claude-sonnet-4-5", {"cache_read": 1_000}, 1_000 * 300),
        ("claude-sonnet-4-5", {"cache_write_5m": 100}, 100 * 3_750),
        ("claude-sonnet-4-5", {"cache_write_1h": 100}, 100 * 6_000),
        ("claude-sonnet-4-5", {"output": 7}, 7 * 15_000),
        (
            "claude-sonnet-4-5",
            {"input": 10, "cache_read": 1_000, "cache_write_5m": 100, "output": 7},
            30_000 + 300_000 + 375_000 + 105_000,
        ),
        # Opus 4.1: 15, read 1.50, write 18.75 and 30, output 75
        ("claude-opus-4-1", {"input": 2, "output": 3}, 2 * 15_000 + 3 * 75_000),
        ("claude-opus-4-1", {"cache_write_5m": 4, "cache_write_1h": 5}, 4 * 18_750 + 5 * 30_000),
        # Haiku 4.5: 1, read 0.10, write 1.25 and 2, output 5
        ("claude-haiku-4-5", {"cache_read": 30, "cache_write_1h": 3}, 30 * 100 + 3 * 2_000),
        # GPT-5.2: 1.75, cached 0.175, output 14
        (
            "gpt-5.2-codex",
            {"input": 100, "cache_read": 200, "output": 10},
            175_000 + 35_000 + 140_000,
        ),
        # GLM-4.5 at Z.ai: 0.60, cached 0.11, output 2.20
        ("glm-4.5", {"input": 1_000, "cache_read": 10, "output": 5}, 600_000 + 1_100 + 11_000),
        # MiniMax M2.7: 0.30, read 0.06, write 0.375, output 1.20
        ("minimax-m2.7", {"input": 10, "cache_read": 10, "cache_write_5m": 8}, 3_000 + 600 + 3_000),
        # Ten dollars per thousand searches
        ("claude-sonnet-4-5", {"input": 1, "web_searches": 2}, 3_000 + 2 * 10_000_000),
    ],
)
def test_each_kind_of_token_has_its_own_price(
    model: str, counts: dict[str, Any], nano: int
) -> None:
    assert cost(model, **counts) == nano


@pytest.mark.parametrize(
    ("model", "base"), [("claude-sonnet-4-5", 3_000), ("claude-opus-4-8", 5_000)]
)
def test_a_cache_write_costs_a_quarter_more_and_for_an_hour_twice_the_input(
    model: str, base: int
) -> None:
    assert cost(model, cache_write_5m=4) == 5 * base
    assert cost(model, cache_write_1h=4) == 8 * base


def test_reasoning_is_part_of_the_output_and_not_charged_again() -> None:
    assert cost("gpt-5.2", output=100, reasoning=80) == cost("gpt-5.2", output=100)


def test_a_half_is_rounded_to_the_even_neighbour_once_per_request() -> None:
    # 0.003625 dollars per million is 3.625 nano-dollars per token: 14.5, 43.5 and 58 for these
    counts = (4, 12, 16)
    costs = [cost("deepseek-v4-pro", "2026-07-01T12:00", cache_read=count) for count in counts]
    assert costs == [14, 44, 58]


class TestLongRequests:
    def test_crossing_the_threshold_reprices_the_whole_request(self) -> None:
        assert cost("claude-sonnet-4-5", input=200_000, output=10) == 200_000 * 3_000 + 10 * 15_000
        assert cost("claude-sonnet-4-5", input=200_001, output=10) == 200_001 * 6_000 + 10 * 22_500

    def test_cached_tokens_count_towards_the_size(self) -> None:
        counts: dict[str, Any] = {"input": 1, "cache_read": 150_000, "cache_write_5m": 25_000}
        below = 3_000 + 150_000 * 300 + 25_000 * 3_750
        above = 6_000 + 150_000 * 600 + 25_000 * 7_500 + 25_000 * 12_000
        assert cost("claude-sonnet-4-5", **counts) == below
        assert cost("claude-sonnet-4-5", **counts, cache_write_1h=25_000) == above

    def test_output_does_not_count_towards_the_size(self) -> None:
        assert cost("claude-sonnet-4-5", input=1, output=300_000) == 3_000 + 300_000 * 15_000

    def test_a_surcharge_that_the_list_does_not_know_makes_the_cost_unknown(self) -> None:
        assert cost("claude-sonnet-4-20250514", input=200_000) == 200_000 * 3_000
        assert cost("claude-sonnet-4-20250514", input=200_001) is None

    def test_a_flat_price_holds_for_any_size(self) -> None:
        assert cost("claude-opus-4-8", input=900_000) == 900_000 * 5_000


class TestTime:
    def test_a_request_costs_what_the_price_was_on_its_day(self) -> None:
        assert cost("o3", at="2025-06-09T23:59", input=1) == 10_000
        assert cost("o3", at="2025-06-10T00:00", input=1) == 2_000

    def test_a_threshold_may_go_away(self) -> None:
        assert cost("claude-opus-4-6", at="2026-03-12T12:00", input=300_000) == 300_000 * 10_000
        assert cost("claude-opus-4-6", at="2026-03-13T12:00", input=300_000) == 300_000 * 5_000

    def test_a_price_may_depend_on_the_hour(self) -> None:
        assert cost("deepseek-chat", at="2026-06-01T00:29", input=2) == 2 * 135
        assert cost("deepseek-chat", at="2026-06-01T00:30", input=2) == 2 * 270
        assert cost("deepseek-chat", at="2026-06-01T16:30", input=2) == 2 * 135

    def test_without_a_time_only_a_price_that_never_changed_is_known(self) -> None:
        assert cost("claude-sonnet-4-5", at=None, input=1) == 3_000
        assert cost("o3", at=None, input=1) is None
        assert cost("deepseek-chat", at=None, input=1) is None


class TestTier:
    @pytest.mark.parametrize("tier", [None, "", "standard", "default"])
    def test_the_standard_tier_goes_by_several_names(self, tier: str | None) -> None:
        assert cost("gpt-5.2", input=10, tier=tier) == 17_500

    def test_a_tier_that_the_list_knows_has_its_own_price(self) -> None:
        when = "2026-11-01T12:00"
        assert cost("gpt-5.2", at=when, input=10, output=1, tier="priority") == 35_000 + 28_000
        assert cost("gpt-5.2", at=when, input=10, output=1, tier="flex") == 8_750 + 7_000
        assert cost("claude-opus-4-8", at=when, input=10, tier="batch") == 25_000

    def test_a_cloud_that_takes_over_prices_does_not_take_over_tiers(self) -> None:
        when = "2026-11-01T12:00"
        assert cost("azure/gpt-5.3-codex", at=when, input=4) == 7_000
        assert cost("gpt-5.3-codex", at=when, input=4, tier="priority") == 14_000
        assert cost("azure/gpt-5.3-codex", at=when, input=4, tier="priority") is None

    def test_a_tier_has_no_price_before_the_list_gives_one(self) -> None:
        assert cost("gpt-5.2", at="2026-10-11T12:00", input=10, tier="priority") is None
        assert cost("gpt-5.2", at=None, input=10, tier="priority") is None

    def test_fast_mode_without_a_listed_price_is_unknown(self) -> None:
        assert cost("claude-opus-4-6", input=10, tier="fast") is None

    def test_what_a_tier_leaves_out_is_not_taken_from_the_standard_price(self) -> None:
        when = "2026-11-01T12:00"
        assert cost("o3", at=when, cache_read=10) == 5_000
        assert cost("o3", at=when, input=10, tier="batch") == 10_000
        assert cost("o3", at=when, input=10, cache_read=10, tier="batch") is None


class TestUnknown:
    @pytest.mark.parametrize("model", ["my-model", "gpt-9-foo", "claude-opus-6", "", " ", "/"])
    def test_an_unknown_model_has_no_cost_even_for_nothing(self, model: str) -> None:
        assert cost(model, input=10, output=10) is None
        assert cost(model, input=0, output=0) is None

    def test_no_model_is_not_a_free_model(self) -> None:
        assert cost("<synthetic>", input=0, output=0) is None
        assert cost(None, input=10) is None

    def test_a_token_without_a_price_makes_the_request_unknown(self) -> None:
        assert cost("gpt-5.2", input=10, cache_write_5m=1) is None
        assert cost("glm-4.5", input=10, cache_write_1h=1) is None

    def test_an_hour_in_the_cache_is_never_charged_as_five_minutes(self) -> None:
        assert cost("minimax-m2.7", cache_write_5m=8) == 3_000
        assert cost("minimax-m2.7", cache_write_1h=8) is None

    def test_none_of_a_token_needs_no_price(self) -> None:
        assert cost("gpt-5.2", input=10, cache_write_5m=0, cache_write_1h=None) == 17_500

    def test_a_search_without_a_price_makes_the_request_unknown(self) -> None:
        assert cost("glm-4.5", input=10, web_searches=1) is None
        assert cost("glm-4.5", input=10, web_searches=0) == 6_000

    def test_unknown_counts_add_nothing_but_all_unknown_is_unknown(self) -> None:
        assert cost("claude-sonnet-4-5", output=1) == 15_000
        assert cost("claude-sonnet-4-5") is None
        assert cost("claude-sonnet-4-5", web_searches=1) is None
        assert cost("claude-sonnet-4-5", input=0) == 0

    def test_a_count_below_zero_is_no_measurement(self) -> None:
        assert cost("claude-sonnet-4-5", input=-5, output=10) is None

    def test_a_model_with_charges_that_transcripts_do_not_count_is_unknown(self) -> None:
        assert cost("perplexity/sonar", input=10, output=10) is None
