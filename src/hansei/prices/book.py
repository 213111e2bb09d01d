"""The price book: what each request cost, and which prices that rests on."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from hansei.errors import ConfigError
from hansei.prices.names import NO_MODEL, plain_name
from hansei.prices.rates import MILLION, NANO, Period, Rates, charge, in_force
from hansei.prices.stamp import LIBRARY, library_version, version_stamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import date

    from hansei.config import PriceOverride
    from hansei.events.model import RequestUsage

STANDARD_TIERS = {None, "", "standard", "default"}
"""How agents write that a request was served at the ordinary price."""

OWN_PRICES = "config.toml"


class Price(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """What a model costs, and who says so."""

    provider: str | None
    model: str
    source: str
    periods: tuple[Period, ...]


class Unknown(msgspec.Struct, frozen=True, tag=True):
    """Why a model has no price."""

    reason: str


Asked: TypeAlias = tuple[str | None, str | None]
"""A model and a tier, as requests name them; None for the standard tier."""

_found: msgspec.json.Decoder[Price | Unknown] = msgspec.json.Decoder(Price | Unknown)


class PriceRow(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a price list: a model, over one span of time, for one size of request."""

    model: str
    """As seen in the transcript."""
    resolved: str | None = None
    """The listed model it was taken for."""
    provider: str | None = None
    since: str | None = None
    """The first day of this price, where it is not the first one."""
    hours: str | None = None
    """The time of day at which it holds, in UTC."""
    above: int = 0
    """It holds for requests with more input tokens than this."""
    input: float | None = None
    """Dollars per million tokens, like the four that follow."""
    cache_read: float | None = None
    cache_write_5m: float | None = None
    cache_write_1h: float | None = None
    output: float | None = None
    web_search: float | None = None
    """Dollars per thousand searches."""
    source: str | None = None
    reason: str | None = None
    """Why the price is unknown; None where it is known."""


class PriceBook:
    """Prices requests at your own prices, else at the list price of their time."""

    def __init__(
        self,
        overrides: Mapping[str, PriceOverride] | None = None,
        *,
        looked_up: Mapping[Asked, bytes] | None = None,
    ) -> None:
        """Start from what `looked_up` of a book with the same version told earlier, if given."""
        self._overrides = dict(overrides or {})
        self._own = {name.lower(): own_rates(name, it) for name, it in self._overrides.items()}
        self._prices = {asked: _found.decode(it) for asked, it in (looked_up or {}).items()}

    @property
    def looked_up(self) -> dict[Asked, bytes]:
        """Every price asked for so far, to be kept: finding one means importing the library."""
        return {asked: msgspec.json.encode(price) for asked, price in self._prices.items()}

    @property
    def version(self) -> str:
        """Equal to `version_stamp` of the same overrides."""
        return version_stamp(self._overrides)

    @property
    def library_version(self) -> str:
        return library_version()

    @property
    def data_date(self) -> date | None:
        """The newest day on which the price list says one of its prices was checked."""
        from hansei.prices import library

        return library.data_date()

    def cost(self, usage: RequestUsage) -> int | None:
        """Nano-dollars for one request, None where it cannot be known."""
        price = self._price(usage.model, usage.tier)
        if isinstance(price, Unknown):
            return None
        ladder = in_force(price.periods, usage.at)
        return None if ladder is None else charge(ladder, usage)

    def known(self, models: Iterable[str]) -> list[PriceRow]:
        """The standard prices of models, in the order given, and why there is none where so."""
        return [row for model in dict.fromkeys(models) for row in self._rows(model)]

    def _price(self, model: str | None, tier: str | None) -> Price | Unknown:
        key = (model, None if tier in STANDARD_TIERS else tier)
        price = self._prices.get(key)
        if price is None:
            price = self._prices[key] = self._look_up(*key)
        return price

    def _look_up(self, model: str | None, tier: str | None) -> Price | Unknown:
        if model is None:
            return Unknown("the transcript names no model")
        if model == NO_MODEL:
            return Unknown("no model: the agent wrote this reply itself")
        return self._own_price(model, tier) or self._list_price(model, tier)

    def _list_price(self, model: str, tier: str | None) -> Price | Unknown:
        # The library takes 0.4 s to import: only a process that prices something pays for it.
        from hansei.prices import library

        found = library.find(model, tier)
        if isinstance(found, str):
            return Unknown(found)
        checked = f", checked {self.data_date}" if self.data_date else ""
        return self._own_price(found.model, tier) or Price(
            provider=found.provider,
            model=found.model,
            source=f"{LIBRARY} {self.library_version}{checked}",
            periods=found.periods,
        )

    def _own_price(self, model: str, tier: str | None) -> Price | Unknown | None:
        """What config.toml says of a model, None where it says nothing."""
        names = (model.strip().lower(), plain_name(model))
        name = next((name for name in names if name in self._own), None)
        if name is None:
            return None
        if tier is not None:
            return Unknown(f"{OWN_PRICES} has no price for tier {tier!r}")
        periods = (Period(ladder=(self._own[name],)),)
        return Price(provider=None, model=name, source=OWN_PRICES, periods=periods)

    def _rows(self, model: str) -> Iterator[PriceRow]:
        price = self._price(model, None)
        if isinstance(price, Unknown):
            yield PriceRow(model=model, reason=price.reason)
            return
        for period in price.periods:
            for rates in period.ladder:
                yield price_row(model, price, period, rates)


def own_rates(name: str, override: PriceOverride) -> Rates:
    """A person's own prices; raises ConfigError for what cannot be one."""
    for field, price in msgspec.structs.asdict(override).items():
        if price is not None and not (math.isfinite(price) and price >= 0):
            raise ConfigError(
                f"prices.{name}.{field} in {OWN_PRICES} is {price}",
                hint="A price is a number of dollars per million tokens, zero or more.",
            )
    return Rates(
        input=nano_dollars(override.input),
        cache_read=nano_dollars(override.cache_read),
        cache_write_5m=nano_dollars(override.cache_write_5m),
        cache_write_1h=nano_dollars(override.cache_write_1h),
        output=nano_dollars(override.output),
    )


def nano_dollars(price: float | None) -> int | None:
    # By way of its shortest text: a person who writes 0.3 means three tenths.
    return None if price is None else round(Decimal(repr(price)) * NANO)


def price_row(model: str, price: Price, period: Period, rates: Rates) -> PriceRow:
    unlisted = rates.input is None and rates.output is None
    return PriceRow(
        model=model,
        resolved=price.model,
        provider=price.provider,
        since=None if period.since is None else day(period.since),
        hours=None if period.daily is None else "–".join(clock(time) for time in period.daily),
        above=rates.above,
        input=dollars(rates.input),
        cache_read=dollars(rates.cache_read),
        cache_write_5m=dollars(rates.cache_write_5m),
        cache_write_1h=dollars(rates.cache_write_1h),
        output=dollars(rates.output),
        web_search=dollars(rates.web_search, per=1000),
        source=price.source,
        reason="no price is listed for requests of this size" if unlisted else None,
    )


def dollars(rate: int | None, per: int = MILLION) -> float | None:
    return None if rate is None else rate * per / MILLION / NANO


def day(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds // 1000, UTC).date().isoformat()


def clock(milliseconds: int) -> str:
    minutes = milliseconds // 60_000
    return f"{minutes // 60:02}:{minutes % 60:02}"
