"""The price library's data as our own values. Nothing else imports genai-prices.

Importing this module takes 0.4 s (pydantic, an HTTP client, 1.5 MB of data), so only `PriceBook`
does, inside its methods. The bundled data are read directly: the library's updater is never started
and a snapshot that someone else fetched is never used, so prices are the same on every machine.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time
from functools import cache
from typing import TYPE_CHECKING

import msgspec
from genai_prices.data import providers
from genai_prices.types import (
    ClauseAnd,
    ClauseContains,
    ClauseEndsWith,
    ClauseEquals,
    ClauseOr,
    ClauseRegex,
    ClauseStartsWith,
    ModelPrice,
    StartDateConstraint,
    TieredPrices,
)

from hansei.config import DAY_MS
from hansei.prices.names import is_release_of, plain_name, read_name, spellings
from hansei.prices.rates import MILLION, NANO, Period, Rates

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal

    from genai_prices.types import MatchLogic, ModelInfo, Provider, TimeOfDateConstraint

    from hansei.prices.rates import Ladder

SAME_MAKER = {"zhipuai": "zai"}
"""Two price lists of one company: in China, and abroad."""

UNCOUNTED = {"requests_kcount", "output_reasoning_mtok", "output_citation_mtok"}
"""Charges for things that transcripts do not tell apart; with one of them, no cost is certain."""

STRETCHED = re.compile(r"claude-(?:sonnet-4|4-sonnet)")
LONG_WINDOW = 1_000_000
"""Sonnet 4 and 4.5 could be asked for with a window this long, at a surcharge."""

CHECKED = re.compile(r"(?:checked|verified|as of)(?: on)? (20\d{2}-\d{2}-\d{2})")


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """One model in one seller's price list."""

    provider: str
    model: str
    periods: tuple[Period, ...]


@cache
def find(seen: str, tier: str | None = None) -> Listing | str:
    """The listing a name means, or why there is none."""
    sellers, name = sellers_of(seen)
    if not sellers:
        return "no price list is known for this name"
    found = [listing(seller, name, tier) for seller in sellers]
    listings = [entry for entry in found if entry is not None]
    if not listings:
        return f"not in the price list of {' or '.join(seller.id for seller in sellers)}"
    if not listings[0].periods:
        kind = f"for tier {tier!r}" if tier else "by the token"
        return f"the price list has no price {kind}"
    if any(other.periods != listings[0].periods for other in listings):
        return f"{' and '.join(entry.provider for entry in listings)} ask different prices for it"
    return listings[0]


def sellers_of(seen: str) -> tuple[list[Provider], str]:
    """Whose price list applies, and the name to look up in it.

    The seller that the name tells, else the maker of models so called.
    """
    by_id = {provider.id: provider for provider in providers}
    reference = read_name(seen)
    if reference.seller in by_id:
        return [by_id[reference.seller]], reference.name
    name = plain_name(seen)
    makers = [each for each in providers if each.model_match and each.model_match.is_match(name)]
    twins = [SAME_MAKER[maker.id] for maker in makers if maker.id in SAME_MAKER]
    return makers + [by_id[twin] for twin in twins if twin in by_id], name


def listing(seller: Provider, name: str, tier: str | None) -> Listing | None:
    """What a seller asks for the model a name means; without periods where not by the token.

    Some take over another's prices, though not those of its tiers.
    """
    lenders = (seller.fallback_model_providers or []) if tier is None else []
    for owner in (seller, *(each for each in providers if each.id in lenders)):
        model = model_of(owner, name)
        if model is not None:
            periods = tuple(standard_periods(model) if tier is None else tier_periods(model, tier))
            sold = any(rates.input is not None for each in periods for rates in each.ladder)
            return Listing(provider=owner.id, model=model.id, periods=periods if sold else ())
    return None


def model_of(owner: Provider, name: str) -> ModelInfo | None:
    for spelling in spellings(name):
        for model in owner.models:
            if model.is_match(spelling) and means(spelling, model, owner.id):
                return model
    return None


def means(name: str, model: ModelInfo, seller: str) -> bool:
    """Whether a name that the list would match is about that very model."""
    return is_release_of(name, model.id, seller) or proves(model.match, name, seller)


def proves(clause: MatchLogic, name: str, seller: str) -> bool:
    match clause:
        case ClauseOr(or_=parts) | ClauseAnd(and_=parts):
            return any(proves(part, name, seller) for part in parts)
        case ClauseEquals(equals=text):
            return name == text.lower()
        case ClauseRegex(regex=pattern):
            return re.fullmatch(pattern, name) is not None
        case (
            ClauseStartsWith(starts_with=text)
            | ClauseEndsWith(ends_with=text)
            | ClauseContains(contains=text)
        ):
            return is_release_of(name, text, seller)


def standard_periods(model: ModelInfo) -> Iterator[Period]:
    """Every price of a model, oldest first; the first holds wherever no later one does."""
    if isinstance(model.prices, ModelPrice):
        yield Period(ladder=ladder(model, model.prices))
        return
    for index, conditional in enumerate(model.prices):
        constraint = conditional.constraint if index else None
        yield period(constraint, ladder(model, conditional.prices))


def tier_periods(model: ModelInfo, tier: str) -> Iterator[Period]:
    """The prices of a service tier, so far as the list has them.

    A tier's own prices only: what the list leaves out is not taken from the standard price. The
    library uses the first variant that holds and we the last period, hence the reversal.
    """
    wanted = ({"service_tier": tier}, {"processing": tier})
    for variant in reversed(model.price_variants or []):
        if variant.when in wanted:
            yield period(variant.constraint, ladder(model, variant.prices))


def period(constraint: StartDateConstraint | TimeOfDateConstraint | None, ladder: Ladder) -> Period:
    if constraint is None:
        return Period(ladder=ladder)
    if isinstance(constraint, StartDateConstraint):
        midnight = datetime.combine(constraint.start_date, time(), UTC)
        return Period(since=int(midnight.timestamp()) * 1000, ladder=ladder)
    daily = (time_of_day(constraint.start_time), time_of_day(constraint.end_time))
    return Period(daily=daily, ladder=ladder)


def time_of_day(value: time) -> int:
    """Milliseconds since midnight in UTC, which a time without a zone is taken to be in."""
    seconds = value.hour * 3600 + value.minute * 60 + value.second
    offset = value.utcoffset()
    return (seconds - int(offset.total_seconds() if offset else 0)) * 1000 % DAY_MS


def ladder(model: ModelInfo, price: ModelPrice) -> Ladder:
    """A price as rates by size of request.

    Where a model was also sold with a longer window at a surcharge and the list gives only the
    ordinary price, requests beyond the ordinary window have none.
    """
    if any(value is not None for key, value in vars(price).items() if key in UNCOUNTED):
        return (Rates(),)
    tiered = [value for value in vars(price).values() if isinstance(value, TieredPrices)]
    thresholds = sorted({tier.start for value in tiered for tier in value.tiers})
    steps = tuple(rates(price, above) for above in (0, *thresholds))
    window = model.context_window or LONG_WINDOW
    if STRETCHED.search(model.id) and window < LONG_WINDOW and not thresholds:
        return (*steps, Rates(above=window))
    return steps


def rates(price: ModelPrice, above: int) -> Rates:
    """A price for requests just larger than a threshold.

    The list's cache-write price without a lifetime is that of the short-lived cache; an hour costs
    more wherever it is sold, so without its own price it has none.
    """
    short_write = price.cache_write_5m_mtok
    if short_write is None:
        short_write = price.cache_write_mtok
    return Rates(
        input=nano(price.input_mtok, above),
        cache_read=nano(price.cache_read_mtok, above),
        cache_write_5m=nano(short_write, above),
        cache_write_1h=nano(price.cache_write_1h_mtok, above),
        output=nano(price.output_mtok, above),
        web_search=nano(price.web_searches_kcount, above, per=1000),
        above=above,
    )


def nano(price: Decimal | TieredPrices | None, above: int, per: int = MILLION) -> int | None:
    """Dollars `per` units as nano-dollars per million units."""
    if price is None:
        return None
    if isinstance(price, TieredPrices):
        reached = [tier.price for tier in price.tiers if 0 < above >= tier.start]
        price = reached[-1] if reached else price.base
    return round(price * NANO * (MILLION // per))


@cache
def data_date() -> date | None:
    """The newest day on which the price list itself says that a price was checked."""
    comments = [seller.price_comments for seller in providers]
    comments += [model.price_comments for seller in providers for model in seller.models]
    days = [day for comment in comments for day in CHECKED.findall(comment or "")]
    return date.fromisoformat(max(days)) if days else None
