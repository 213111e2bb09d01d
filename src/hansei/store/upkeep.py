"""What waits to be done to the store, told from a few rows and without heavy imports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.config import DAY_MS

if TYPE_CHECKING:
    from hansei.store.database import Store


def sealing_due(store: Store, now: int) -> bool:
    """Whether a day has passed since the last sealing."""
    last = store.meta("sealed_at")
    return last is None or now - int(last) >= DAY_MS


def sums_due(store: Store) -> bool:
    """Whether sessions have changed since they were summed."""
    return store.db.execute("SELECT 1 FROM stale LIMIT 1").fetchone() is not None


def exposure_due(store: Store) -> bool:
    """Whether sessions have changed since it was worked out which texts were in force in them."""
    return store.db.execute("SELECT 1 FROM unexposed LIMIT 1").fetchone() is not None
