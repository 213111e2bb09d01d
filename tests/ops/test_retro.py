"""The look back: which sessions it is about, and what it remembers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from findings import DAY, Planted
from hansei.bets.model import State
from hansei.errors import NotFound, UsageError
from hansei.ops.decisions import decide, find, remember, restate
from hansei.ops.retro import Retrospect, retro
from hansei.ops.scope import Scope
from hansei.store.database import Store
from worked_days import MINUTE, work

WEEK = 7 * DAY


def look(
    store: Store, now: int, told: dict[str, list[str]], since: int | None = None
) -> Retrospect:
    return retro(store, Scope(since=since), now, [Planted(told)])


def keys(found: Retrospect) -> list[str]:
    return [it.metric.subject for it in found.offers]


def test_where_nobody_names_a_time_it_is_the_four_weeks_up_to_the_last_session(
    store: Store, now: int
) -> None:
    names = work(store, now, [300, 301, *range(310, 320), 327, 328, 400])
    found = look(store, now, {"x": names})
    assert found.sessions == found.offers[0].sessions == 13
    assert (found.last_at, found.asked) == (now - 300 * DAY + MINUTE, False)


def test_it_reaches_as_far_back_as_seven_active_days_take(store: Store, now: int) -> None:
    work(store, now, range(0, 300, 20))
    found = look(store, now, {})
    assert (found.sessions, found.active_days) == (7, 7)


def test_a_named_time_is_taken_as_it_is(store: Store, now: int) -> None:
    work(store, now, range(0, 300, 20))
    found = look(store, now, {}, since=now - 50 * DAY)
    assert (found.sessions, found.asked) == (3, True)


def test_every_workspace_is_counted_by_itself(store: Store, now: int) -> None:
    here = work(store, now, range(8))
    there = work(store, now, range(8), cwd="/work/lib")
    found = look(store, now, {"x": [*here[:4], *there]})
    assert [(it.workspace, it.sessions, it.of_sessions) for it in found.offers] == [
        ("lib", 8, 8),
        ("app", 4, 8),
    ]
    assert len({it.id for it in found.offers}) == 2


def test_tokens_of_the_heading_are_those_of_its_sessions(store: Store, now: int) -> None:
    work(store, now, range(8))
    found = look(store, now, {}, since=now - 3 * DAY - 1)
    assert (found.sessions, found.tokens, found.requests) == (4, 4000, 4)


def test_a_dismissed_bet_comes_back_when_its_evidence_has_doubled(store: Store, now: int) -> None:
    names = work(store, now, range(20, 30, 2))
    told = {"x": names, "y": names[:4]}
    found = look(store, now, told)
    dismissed = find(found, "1")
    decide(store, dismissed, State.DISMISSED, now - 18 * DAY, reason="CI needs it")

    after = look(store, now, told)
    assert keys(after) == ["y"]
    assert [(it.state, it.reason) for it in after.put_aside] == [(State.DISMISSED, "CI needs it")]

    told["x"] = [*names, *work(store, now, range(4))]
    assert keys(look(store, now, told)) == ["y"]

    told["x"] += work(store, now, [5])
    back = look(store, now, told)
    assert keys(back) == ["x", "y"]
    assert (back.offers[0].state, back.offers[0].returned) == (State.PROPOSED, True)


def both(store: Store, now: int, names: list[str]) -> Retrospect:
    """What two heuristics say of the same places."""
    told = [
        Planted({"good": names}, name="one", tokens=900),
        Planted({"weak": names}, name="two"),
    ]
    return retro(store, Scope(), now, told)


def test_of_two_bets_about_the_same_places_a_dismissed_one_hides_none(
    store: Store, now: int
) -> None:
    names = work(store, now, range(10))
    assert keys(both(store, now, names)) == ["good"]
    decide(store, both(store, now, names).offers[0], State.DISMISSED, now)
    after = both(store, now, names)
    assert keys(after) == ["weak"]
    assert [it.metric.subject for it in after.put_aside] == ["good"]


@pytest.mark.parametrize("state", [State.APPLIED, State.KEPT])
def test_a_change_in_place_answers_for_its_places(store: Store, now: int, state: State) -> None:
    names = work(store, now, range(10))
    decide(store, both(store, now, names).offers[0], state, now)
    assert keys(both(store, now, names)) == []


def test_a_bet_that_came_back_stays(store: Store, now: int) -> None:
    names = work(store, now, range(10))
    found = look(store, now, {"x": names})
    decide(store, found.offers[0], State.DISMISSED, now - 60 * DAY)
    with store.transaction() as db:
        db.execute("UPDATE bets SET evidence = '[\"old\"]'")
    back = look(store, now, {"x": names})
    assert back.offers[0].returned
    remember(store, back, back.offers, now)
    again = look(store, now, {"x": names})
    assert again.offers == tuple(replace(it, first_shown=now - 60 * DAY) for it in back.offers)


def test_an_older_session_is_no_new_evidence(store: Store, now: int) -> None:
    """A wider look finds more of it, but not since it was dismissed."""
    names = work(store, now, range(1, 41))
    found = look(store, now, {"x": names}, since=now - 5 * DAY)
    decide(store, found.offers[0], State.DISMISSED, now)
    assert keys(look(store, now, {"x": names}, since=0)) == []


@pytest.mark.parametrize("state", [State.APPLIED, State.KEPT])
def test_what_is_in_place_is_not_proposed(store: Store, now: int, state: State) -> None:
    names = work(store, now, range(10))
    found = look(store, now, {"x": names})
    decide(store, found.offers[0], state, now)
    after = look(store, now, {"x": names})
    assert not after.offers
    assert after.put_aside[0].state is state


def test_an_accepted_bet_stays_in_the_list(store: Store, now: int) -> None:
    names = work(store, now, range(10))
    decide(store, look(store, now, {"x": names}).offers[0], State.ACCEPTED, now)
    assert look(store, now, {"x": names}).offers[0].state is State.ACCEPTED


def test_it_is_remembered_since_when_a_bet_was_shown(store: Store, now: int) -> None:
    names = work(store, now, range(10))
    first = look(store, now, {"x": names})
    assert first.offers[0].first_shown is None
    remember(store, first, first.offers, now)
    later = look(store, now + WEEK, {"x": names, "y": names[:5]})
    remember(store, later, later.offers, now + WEEK)
    last = look(store, now + 2 * WEEK, {"x": names, "y": names[:5]})
    assert [it.first_shown for it in last.offers] == [now, now + WEEK]
    assert last.shown_before == now


def test_a_bet_keeps_its_id_when_its_workspace_gets_another_name(store: Store, now: int) -> None:
    names = work(store, now, range(10))
    found = look(store, now, {"x": names})
    remember(store, found, found.offers, now)
    store.db.execute("UPDATE workspaces SET identity = 'remote' WHERE name = 'app'")
    assert look(store, now, {"x": names}).offers[0].id == found.offers[0].id


def test_numbers_mean_the_list_that_was_seen_last(store: Store, now: int) -> None:
    names = work(store, now, range(10))
    found = look(store, now, {"x": names, "y": names[:5]})
    seen = [found.offers[1].id, found.offers[0].id]
    assert find(found, "1", seen) == found.offers[1]
    assert find(found, "1") == found.offers[0]
    assert find(found, found.offers[1].id[:4]) == found.offers[1]
    with pytest.raises(NotFound, match="number 3"):
        find(found, "3", seen)
    with pytest.raises(NotFound, match="any more"):
        find(found, "1", ["00000000"])
    with pytest.raises(UsageError, match="neither"):
        find(found, "abc")


def test_what_was_applied_can_be_taken_back_though_nothing_shows_it_any_more(
    store: Store, now: int
) -> None:
    names = work(store, now, range(10))
    offer = look(store, now, {"x": names}).offers[0]
    decide(store, offer, State.APPLIED, now)
    restate(store, offer.id, State.PROPOSED, now + DAY)
    again = look(store, now, {"x": names})
    assert [(it.state, it.returned) for it in again.offers] == [(State.PROPOSED, False)]
    with pytest.raises(NotFound, match="nothing is remembered"):
        restate(store, "ffffffff", State.KEPT, now)


def test_two_looks_are_the_same(store: Store, now: int) -> None:
    names = work(store, now, range(10))
    told = {f"{number}": names[number:] for number in range(5)}
    assert look(store, now, told) == look(store, now, told)
