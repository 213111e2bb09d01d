"""What sessions took, summed so that every everyday question is one small query.

One row per session, quarter of an hour, model and branch: fine enough for days in any time zone.
Sessions whose log changed stand in `stale`; refreshing them and rebuilding everything give the same
rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.events.model import RequestUsage
from hansei.prices import PriceBook
from hansei.store.rows import json_list

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hansei.config import PriceOverride
    from hansei.prices.book import Asked
    from hansei.store.database import Store

QUARTER_MS = 15 * 60 * 1000
SESSIONS_AT_ONCE = 500

_PRICED_BY = ("key", "at", "model", "tier", "web_searches")
_FIELDS = ("input", "cache_read", "cache_write_5m", "cache_write_1h", "output", "reasoning")
_LIST = ", ".join((*_PRICED_BY, *_FIELDS))
_CHOSEN = "(SELECT value FROM json_each(?))"


def mark_all_stale(store: Store) -> None:
    """Have everything priced and summed again."""
    store.db.execute("DELETE FROM prices")
    store.db.execute("UPDATE requests SET cost = NULL")
    store.db.execute("INSERT OR IGNORE INTO stale SELECT id FROM sessions")


def refresh(store: Store, overrides: Mapping[str, PriceOverride]) -> int:
    """Price and sum the sessions that changed; returns how many there were."""
    kept = kept_prices(store)
    book = PriceBook(overrides, looked_up=kept)
    done = 0
    while True:
        with store.transaction() as db:
            rows = db.execute(
                "SELECT session FROM stale ORDER BY session LIMIT ?", (SESSIONS_AT_ONCE,)
            ).fetchall()
            sessions = json_list(session for (session,) in rows)
            _price(store, sessions, book)
            _sum(store, sessions)
            db.execute(f"DELETE FROM stale WHERE session IN {_CHOSEN}", (sessions,))
        done += len(rows)
        if not rows:
            break
    _keep_prices(store, book, kept)
    return done


def kept_prices(store: Store) -> dict[Asked, bytes]:
    """The prices that requests were billed by, own ones included, as a price book takes them."""
    rows = store.db.execute("SELECT model, tier, price FROM prices")
    return {(model, tier or None): price for model, tier, price in rows}


def _keep_prices(store: Store, book: PriceBook, kept: dict[Asked, bytes]) -> None:
    new = [(model, tier or "", it) for (model, tier), it in book.looked_up.items()]
    if len(new) > len(kept):
        with store.transaction() as db:
            db.executemany(
                "INSERT OR REPLACE INTO prices VALUES (?, ?, ?)", [it for it in new if it[0]]
            )


def _price(store: Store, sessions: str, book: PriceBook) -> None:
    rows = store.db.execute(
        f"SELECT {_LIST} FROM requests WHERE session IN {_CHOSEN} AND cost IS NULL", (sessions,)
    ).fetchall()
    names = (*_PRICED_BY, *_FIELDS)
    costs = []
    for row in rows:
        usage = RequestUsage(session="", **dict(zip(names, row, strict=True)))
        cost = book.cost(usage)
        if cost is not None:
            costs.append((cost, usage.key))
    store.db.executemany("UPDATE requests SET cost = ? WHERE key = ?", costs)


def _sum(store: Store, sessions: str) -> None:
    sums = ", ".join(f"sum({name})" for name in _FIELDS)
    store.db.execute(f"DELETE FROM spend WHERE session IN {_CHOSEN}", (sessions,))
    store.db.execute(
        f"INSERT INTO spend SELECT session, at / {QUARTER_MS}, model, branch, count(*), {sums},"
        " sum(input IS NULL AND output IS NULL), sum(cost IS NULL), sum(cost),"
        " sum(lines - 1), sum(repeated)"
        f" FROM requests WHERE session IN {_CHOSEN} GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4",
        (sessions,),
    )
    # Copies of another session's requests: no spend of their own, only a count of what was removed.
    store.db.execute(
        f"INSERT INTO spend SELECT session, at / {QUARTER_MS}, NULL, NULL, 0,"
        " NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, count(*), sum(tokens)"
        f" FROM replays WHERE session IN {_CHOSEN} AND tokens IS NOT NULL"
        " GROUP BY 1, 2 ORDER BY 1, 2",
        (sessions,),
    )
