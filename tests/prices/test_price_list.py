"""The rows that `hansei prices` prints."""

from __future__ import annotations

from hansei.config import PriceOverride
from hansei.prices import PriceBook
from hansei.prices.book import PriceRow


def test_a_row_gives_dollars_and_says_where_they_come_from() -> None:
    book = PriceBook()
    [row] = book.known(["claude-opus-4-8"])
    assert row == PriceRow(
        model="claude-opus-4-8",
        resolved="claude-opus-4-8",
        provider="anthropic",
        input=5.0,
        cache_read=0.5,
        cache_write_5m=6.25,
        cache_write_1h=10.0,
        output=25.0,
        web_search=10.0,
        source=f"genai-prices {book.library_version}, checked {book.data_date}",
    )


def test_every_size_and_every_time_has_its_row() -> None:
    rows = PriceBook().known(["claude-opus-4-6"])
    assert [(row.since, row.above, row.input) for row in rows] == [
        (None, 0, 5.0),
        (None, 200_000, 10.0),
        ("2026-03-13", 0, 5.0),
    ]


def test_hours_of_the_day_are_shown() -> None:
    rows = PriceBook().known(["deepseek-chat"])
    assert [(row.hours, row.input) for row in rows] == [(None, 0.135), ("00:30–16:30", 0.27)]


def test_an_unlisted_size_says_so() -> None:
    ordinary, beyond = PriceBook().known(["claude-sonnet-4-20250514"])
    assert (ordinary.above, ordinary.input, ordinary.reason) == (0, 3.0, None)
    assert (beyond.above, beyond.input) == (200_000, None)
    assert beyond.reason == "no price is listed for requests of this size"


def test_an_unknown_model_gives_its_reason() -> None:
    rows = PriceBook().known(["my-model", "claude-opus-4-10", "<synthetic>"])
    assert [row.reason for row in rows] == [
        "no price list is known for this name",
        "not in the price list of anthropic",
        "no model: the agent wrote this reply itself",
    ]
    assert not any(row.source for row in rows)


def test_models_keep_their_order_and_come_once() -> None:
    rows = PriceBook().known(["my-model", "claude-opus-4-8", "my-model"])
    assert [row.model for row in rows] == ["my-model", "claude-opus-4-8"]


def test_your_own_price_names_config_as_its_source() -> None:
    book = PriceBook({"my-model": PriceOverride(input=0.3, output=1.2)})
    [row] = book.known(["my-model"])
    assert row == PriceRow(
        model="my-model", resolved="my-model", input=0.3, output=1.2, source="config.toml"
    )
