"""Which of several prices is in force, where today's price list has no example."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from genai_prices.types import (
    ClauseEquals,
    ModelInfo,
    ModelPrice,
    PriceVariant,
    StartDateConstraint,
)

from hansei.prices.library import tier_periods
from hansei.prices.rates import Period, Rates, in_force

HOUR = 3_600_000
DAY = 24 * HOUR
USUAL = (Rates(input=1),)
NIGHT = (Rates(input=2),)


def test_hours_may_run_past_midnight() -> None:
    periods = (Period(ladder=USUAL), Period(daily=(23 * HOUR, HOUR), ladder=NIGHT))
    hours = [DAY + 22 * HOUR, DAY + 23 * HOUR, 2 * DAY, 2 * DAY + HOUR]
    assert [in_force(periods, at) for at in hours] == [USUAL, NIGHT, NIGHT, USUAL]


def test_before_its_first_day_a_price_does_not_hold() -> None:
    periods = (Period(since=DAY, ladder=USUAL),)
    assert in_force(periods, DAY - 1) is None
    assert in_force(periods, DAY) == USUAL


def test_a_price_that_once_was_not_is_unknown_without_a_time() -> None:
    assert in_force((Period(since=DAY, ladder=USUAL),), None) is None
    same = (Period(ladder=USUAL), Period(since=DAY, ladder=USUAL))
    assert in_force(same, None) == USUAL


def test_of_two_prices_for_a_tier_the_first_listed_holds() -> None:
    variants = [
        PriceVariant(
            when={"service_tier": "fast"},
            prices=ModelPrice(input_mtok=Decimal(price)),
            constraint=StartDateConstraint(date(2026, 1, day)),
        )
        for price, day in ((7, 2), (5, 1))
    ]
    model = ModelInfo(id="m", match=ClauseEquals("m"), price_variants=variants)
    periods = tuple(tier_periods(model, "fast"))
    ladders = [in_force(periods, 1_767_225_600_000 + day * DAY) for day in (-1, 0, 1)]
    assert [ladder and ladder[0].input for ladder in ladders] == [None, 5 * 10**9, 7 * 10**9]
