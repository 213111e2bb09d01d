"""One row per request to a model: the part of the log that every sum is made from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.events.model import RequestUsage
from hansei.events.usage import LARGEST_STAYS

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

_STORED = ("key", "at", "model", "branch", "tier", *LARGEST_STAYS)
_LIST = ", ".join(_STORED)


def load(db: sqlite3.Connection, key: int, session: str) -> RequestUsage | None:
    """A stored request, as far as its row tells."""
    row = db.execute(f"SELECT {_LIST} FROM requests WHERE key = ?", (key,)).fetchone()
    if row is None:
        return None
    return RequestUsage(session=session, **dict(zip(_STORED, row, strict=True)))


def save(db: sqlite3.Connection, usages: Iterable[tuple[int, RequestUsage]]) -> None:
    """Write requests under the session that owns them; their price is worked out anew."""
    places = ", ".join("?" * (len(_STORED) + 1))
    db.executemany(
        f"INSERT OR REPLACE INTO requests (session, {_LIST}) VALUES ({places})",
        [(session, *(getattr(usage, name) for name in _STORED)) for session, usage in usages],
    )
