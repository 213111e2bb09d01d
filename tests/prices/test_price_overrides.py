"""Your own prices win over the list."""

from __future__ import annotations

import math

import pytest

from hansei.config import PriceOverride
from hansei.errors import ConfigError
from hansei.events.model import RequestUsage
from hansei.prices import PriceBook, version_stamp


def cost(overrides: dict[str, PriceOverride], model: str, tier: str | None = None) -> int | None:
    usage = RequestUsage(key=1, session="s", model=model, tier=tier, at=0, input=10, output=1)
    return PriceBook(overrides).cost(usage)


MINE = PriceOverride(input=1.0, output=2.0)
MINE_COSTS = 10 * 1_000 + 2_000


@pytest.mark.parametrize(
    ("key", "seen"),
    [
        ("my-model", "my-model"),
        ("My-Model", "my-model"),
        ("my-model", "my-model[1m]"),
        ("acme/my-model", "acme/my-model"),
        ("claude-sonnet-4-5", "claude-sonnet-4-5"),
        ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929"),
        ("claude-sonnet-4-5", "anthropic/claude-sonnet-4.5"),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5-20250929"),
        ("glm-4.5", "zai/glm-4.5"),
        ("glm-4.7", "glm-4.7"),
    ],
)
def test_an_override_is_found_by_name_or_by_what_the_name_means(key: str, seen: str) -> None:
    assert cost({key: MINE}, seen) == MINE_COSTS


def test_the_exact_name_goes_before_what_it_means() -> None:
    other = PriceOverride(input=7.0, output=7.0)
    overrides = {"claude-opus-4-8": other, "claude-opus-4-8[1m]": MINE}
    assert cost(overrides, "claude-opus-4-8[1m]") == MINE_COSTS
    assert cost(overrides, "claude-opus-4-8") == 77_000


def test_an_override_of_one_date_leaves_the_others_alone() -> None:
    overrides = {"claude-sonnet-4-5-20250929": MINE}
    assert cost(overrides, "claude-sonnet-4-5") == 10 * 3_000 + 15_000


def test_what_an_override_leaves_out_is_unknown_not_listed() -> None:
    book = PriceBook({"claude-opus-4-8": MINE})
    cached = RequestUsage(key=1, session="s", model="claude-opus-4-8", at=0, cache_read=1)
    searched = RequestUsage(
        key=1, session="s", model="claude-opus-4-8", at=0, input=1, web_searches=1
    )
    assert book.cost(cached) is None
    assert book.cost(searched) is None


def test_every_field_of_an_override_is_charged() -> None:
    full = PriceOverride(input=1, output=2, cache_read=3, cache_write_5m=4, cache_write_1h=5)
    usage = RequestUsage(
        key=1,
        session="s",
        model="my-model",
        input=1,
        output=10,
        cache_read=100,
        cache_write_5m=1_000,
        cache_write_1h=10_000,
    )
    expected = 1_000 + 20_000 + 300_000 + 4_000_000 + 50_000_000
    assert PriceBook({"my-model": full}).cost(usage) == expected


def test_a_free_model_costs_nothing_which_is_known() -> None:
    assert cost({"my-model": PriceOverride(input=0, output=0)}, "my-model") == 0


def test_an_override_says_nothing_of_other_tiers() -> None:
    assert cost({"gpt-5.2": MINE}, "gpt-5.2", tier="fast") is None
    assert cost({"gpt-5.2": MINE}, "gpt-5.2", tier="standard") == MINE_COSTS


def test_a_decimal_price_means_what_it_says() -> None:
    tenth = PriceOverride(input=0.1, output=0.0)
    assert cost({"my-model": tenth}, "my-model") == 1_000


@pytest.mark.parametrize("price", [-1.0, math.nan, math.inf])
def test_what_cannot_be_a_price_is_refused_by_name(price: float) -> None:
    with pytest.raises(ConfigError, match=r"prices\.my-model\.cache_read"):
        PriceBook({"my-model": PriceOverride(input=1, output=1, cache_read=price)})


class TestVersion:
    def test_the_stamp_is_the_books_version(self) -> None:
        for overrides in ({}, {"my-model": MINE}):
            assert PriceBook(overrides).version == version_stamp(overrides)

    def test_any_change_of_an_override_changes_it(self) -> None:
        stamps = {
            version_stamp(overrides)
            for overrides in (
                {},
                {"a": MINE},
                {"b": MINE},
                {"a": MINE, "b": MINE},
                {"a": PriceOverride(input=1.0, output=2.5)},
                {"a": PriceOverride(input=1.0, output=2.0, cache_read=0.0)},
            )
        }
        assert len(stamps) == 6

    def test_the_order_of_overrides_does_not_matter(self) -> None:
        assert version_stamp({"a": MINE, "b": MINE}) == version_stamp({"b": MINE, "a": MINE})
