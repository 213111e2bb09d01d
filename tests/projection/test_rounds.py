"""What calls took is the bill with them, less the bill without them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from hansei.projection.rounds import rounds
from made_window import Told, bill, listing, read, seq_of, window_of

CALLS = some.builds(lambda size: read("a.py", size), some.integers(1, 5_000))
STORIES = some.lists(some.lists(CALLS, max_size=3), min_size=1, max_size=6)


@given(STORIES, some.data())
def test_what_calls_took_is_what_the_bill_would_have_been_lower(
    told: Told, data: some.DataObject
) -> None:
    places = [(number, place) for number, it in enumerate(told) for place in range(len(it))]
    left_out = frozenset(data.draw(some.sets(some.sampled_from(places)))) if places else frozenset()
    spared = window_of({1: told}).rounds[1].spared({seq_of(told, *it) for it in left_out})
    assert sum(spared.values()) == bill(told) - bill(told, left_out)


@given(STORIES, some.data())
def test_leaving_out_one_more_call_never_spares_less(told: Told, data: some.DataObject) -> None:
    calls = [seq_of(told, n, place) for n, it in enumerate(told) for place in range(len(it))]
    some_of_them = data.draw(some.sets(some.sampled_from(calls))) if calls else set()
    found = window_of({1: told}).rounds[1]
    assert sum(found.spared(some_of_them).values()) <= sum(found.spared(set(calls)).values())


def test_a_request_that_did_something_else_too_is_not_spared() -> None:
    alone = [[listing("./", 400)], [read("a.py")]]
    shared = [[listing("./", 400), read("a.py")], []]
    took = [
        sum(window_of({1: it}).rounds[1].spared({seq_of(it, 0, 0)}).values())
        for it in (alone, shared)
    ]
    assert took[0] - took[1] >= 5_000


def test_of_a_session_that_tells_no_context_nothing_is_known() -> None:
    window = window_of({1: [[read("a.py")]]})
    calls = [call for _, call in window.calls]
    assert rounds([], calls).spared({calls[0].seq}) == {}
