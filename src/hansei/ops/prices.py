"""Which prices the costs rest on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.prices import PriceBook, PriceRow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hansei.config import Config
    from hansei.store.database import Store


@dataclass(frozen=True)
class PriceList:
    """Prices of the models met in transcripts, or of those asked for."""

    library: str
    checked: str | None
    rows: list[PriceRow]
    requests: dict[str, int]
    """How often each model was used."""


def prices(store: Store, config: Config, models: Sequence[str] = ()) -> PriceList:
    """What is known of the prices of models; without names, of every model ever used."""
    used = dict(
        store.db.execute(
            "SELECT model, count(*) FROM requests WHERE model IS NOT NULL"
            " GROUP BY 1 ORDER BY 2 DESC, 1"
        ).fetchall()
    )
    book = PriceBook(config.settings.prices)
    checked = book.data_date
    return PriceList(
        library=f"genai-prices {book.library_version}",
        checked=checked.isoformat() if checked else None,
        rows=book.known(models or used),
        requests=used,
    )
