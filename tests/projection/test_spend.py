"""Sums can be thrown away and derived again."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hansei.config import PriceOverride
from hansei.projection import spend
from hansei.store import log
from hansei.store.database import Store, open_store
from pieces import derived, piece, request

PRICES = {"claude-sonnet-4-5": PriceOverride(input=1.0, output=2.0, cache_read=0.1)}
steps = st.lists(
    st.tuples(
        st.sampled_from("abc"), st.integers(0, 5), st.integers(0, 10**9), st.integers(0, 10**6)
    ),
    min_size=1,
    max_size=15,
)


@settings(max_examples=30)
@given(steps)
def test_refreshing_equals_rebuilding(
    tmp_path_factory: pytest.TempPathFactory, told: list[tuple[str, int, int, int]]
) -> None:
    store = open_store(tmp_path_factory.mktemp("sums"), now=0)
    try:
        for session, message, at, tokens in told:
            usage = request(session, f"m{message}", at, input=tokens, output=tokens // 3)
            log.commit(store, [piece([usage], path=session)], now=1, seal_before=0)
            spend.refresh(store, PRICES)
        refreshed = derived(store)
        with store.transaction():
            spend.mark_all_stale(store)
        spend.refresh(store, PRICES)
        assert derived(store) == refreshed
    finally:
        store.close()


def test_a_request_of_unknown_price_costs_unknown(store: Store, now: int) -> None:
    usage = request("a", "m", now, input=5, output=5)
    log.commit(store, [piece([usage])], now=now, seal_before=0)
    spend.refresh(store, {})
    known = store.db.execute("SELECT unpriced, cost FROM spend").fetchone()
    assert known[0] == 0
    assert known[1] > 0
    store.db.execute("UPDATE requests SET model = 'nobody-knows-this-model'")
    spend.mark_all_stale(store)
    spend.refresh(store, {})
    assert store.db.execute("SELECT unpriced, cost FROM spend").fetchone() == (1, None)


def test_new_prices_change_what_was_summed_before(store: Store, now: int) -> None:
    usage = request("a", "m", now, input=1_000_000, output=0)
    log.commit(store, [piece([usage])], now=now, seal_before=0)
    spend.refresh(store, PRICES)
    assert store.db.execute("SELECT sum(cost) FROM spend").fetchone() == (1_000_000_000,)
    dearer = {"claude-sonnet-4-5": PriceOverride(input=3.0, output=2.0)}
    spend.mark_all_stale(store)
    spend.refresh(store, dearer)
    assert store.db.execute("SELECT sum(cost) FROM spend").fetchone() == (3_000_000_000,)


def test_copies_are_no_spend_of_their_own(store: Store, now: int) -> None:
    log.commit(store, [piece([request("a", "m", now, input=9)])], now=now, seal_before=0)
    log.commit(
        store, [piece([request("b", "m", now, input=9)], path="/two")], now=now, seal_before=0
    )
    spend.refresh(store, {})
    rows = store.db.execute(
        "SELECT s.native, p.requests, p.input, p.copies, p.removed FROM spend p"
        " JOIN sessions s ON s.id = p.session ORDER BY 1"
    ).fetchall()
    assert rows == [("a", 1, 9, 0, 0), ("b", 0, None, 1, 9)]
