"""What a request cost: list prices, the model's name made out, and the arithmetic between them.

A cost is *derived*: measured tokens times the list price at the time of the request. Where the
price is not known for certain the cost is unknown, never a neighbour's price. The prices come with
the library genai-prices and are read offline; `library` is the only module that imports it, and it
is loaded when the first request is priced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.prices.stamp import library_version, version_stamp

if TYPE_CHECKING:
    from hansei.prices.book import PriceBook, PriceRow
    from hansei.prices.rates import Rates

__all__ = ["PriceBook", "PriceRow", "Rates", "library_version", "version_stamp"]


def __getattr__(name: str) -> object:
    """Load the book when it is first asked for: start-up needs only the stamp."""
    if name in __all__:
        from hansei.prices import book

        return getattr(book, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
