"""The numbers of a bet are what their rules say."""

from __future__ import annotations

import random
from math import exp
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findings import each, finding, frame
from hansei.bets.counting import (
    RULES,
    about,
    confidence,
    count,
    identity,
    least_share,
    rank,
    spread,
)
from hansei.bets.model import Occurrence

FOUR_WEEKS = range(28)


def test_a_week_is_the_total_times_seven_by_the_days_looked_at() -> None:
    bet = count(finding(each([0, 9, 20])), frame(FOUR_WEEKS), of_sessions=28, rent_tokens=None)
    assert bet.total == 300
    assert bet.weekly is not None
    assert bet.weekly.middle == pytest.approx(300 * 7 / 28)
    assert bet.net == 75


def test_days_without_a_session_count_as_long_as_they_lie_between_sessions() -> None:
    seldom = frame([0, 5, 10, 15, 20, 25, 30, 34])
    bet = count(finding(each([0, 7])), seldom, of_sessions=8, rent_tokens=None)
    assert bet.weekly is not None
    assert bet.weekly.middle == pytest.approx(200 / 5)


def test_six_active_days_tell_no_week() -> None:
    bet = count(finding(each([0, 1, 2])), frame(range(0, 60, 10)), of_sessions=6, rent_tokens=None)
    assert bet.weekly is None
    assert (bet.total, bet.net) == (300, 300)


def test_what_no_agent_tells_is_in_no_sum_and_is_counted() -> None:
    some = [*each([0, 1]), *each([2], None)]
    bet = count(finding(some), frame(FOUR_WEEKS), of_sessions=28, rent_tokens=None)
    assert (bet.total, bet.untold, bet.sessions) == (200, 1, 3)
    none = count(finding(each([0, 1], None)), frame(FOUR_WEEKS), of_sessions=28, rent_tokens=None)
    assert (none.total, none.weekly, none.net, none.score) == (None, None, None, 0)
    assert none.confidence > 0
    worthless = count(finding(each([0], 0)), frame(FOUR_WEEKS), of_sessions=28, rent_tokens=5)
    assert rank(bet) < rank(none)
    assert rank(none) < rank(worthless)


def test_the_added_line_is_paid_for_by_every_request() -> None:
    looked = frame(FOUR_WEEKS, requests=400)
    bet = count(finding(each(range(28), 100)), looked, of_sessions=28, rent_tokens=5)
    assert (bet.rent, bet.net) == (500, 200)
    dear = count(finding(each(range(28), 100)), looked, of_sessions=28, rent_tokens=50)
    assert dear.net == 700 - 5000
    assert dear.score == 0


def test_subagents_of_one_session_are_no_evidence_of_their_own() -> None:
    apart = count(finding(each(range(8))), frame(range(8)), of_sessions=8, rent_tokens=None)
    family = frame(range(8), family=dict.fromkeys(range(1, 8), 0))
    together = count(finding(each(range(8))), family, of_sessions=8, rent_tokens=None)
    assert apart.weekly is not None
    assert together.weekly is not None
    assert together.weekly.middle == apart.weekly.middle
    assert together.weekly.low < apart.weekly.low
    assert together.weekly.high > apart.weekly.high


def _poisson(dice: random.Random, mean: float) -> int:
    limit, product, times = exp(-mean), dice.random(), 0
    while product > limit:
        product *= dice.random()
        times += 1
    return times


@pytest.mark.parametrize("mean", [6, 15, 40])
@pytest.mark.parametrize("skew", [0.0, 0.7, 1.0])
def test_the_interval_holds_the_true_amount_four_times_out_of_five(mean: int, skew: float) -> None:
    """Sessions come at random, each takes a random amount: 2,000 histories with at least three.

    Equal amounts can only sum up to whole numbers of them, which makes the interval hold more.
    """
    dice = random.Random(f"{mean} {skew}")
    true = mean * exp(skew * skew / 2) / 4
    held = tried = 0
    while tried < 2000:
        amounts = [dice.lognormvariate(0, skew) for _ in range(_poisson(dice, mean))]
        if len(amounts) >= 3:
            tried += 1
            found = spread(amounts, 4)
            held += found.low <= true <= found.high
    assert 0.77 <= held / tried <= (0.90 if skew else 0.95)


def test_confidence_is_a_lower_bound_four_times_out_of_five() -> None:
    """Of things that happen on a share of days, that share is at least what we say."""
    for true in (0.05, 0.2, 0.5, 0.9):
        dice = random.Random(f"days {true}")
        times = [sum(dice.random() < true for _ in range(20)) for _ in range(2000)]
        right = sum(it == 0 or least_share(it, 20) <= true for it in times)
        assert right / len(times) >= 0.79


@given(st.sets(st.integers(0, 26), max_size=20), st.integers(0, 26))
def test_another_day_with_it_never_makes_it_less_sure(days: set[int], more: int) -> None:
    """As long as the last day that shows it stays the same one."""
    looked = frame(FOUR_WEEKS)
    before = confidence({*days, 27}, looked)
    assert confidence({*days, more, 27}, looked) >= before


@given(st.sets(st.integers(0, 20), min_size=1), st.integers(0, 10), st.integers(1, 10))
def test_the_longer_it_is_silent_the_less_sure(days: set[int], silent: int, more: int) -> None:
    """With as many active days looked at, it lies further back."""
    length = max(days) + 1 + silent + more
    looked = frame(range(length))
    late = confidence({day + more for day in days}, looked)
    assert confidence(days, looked) <= late
    assert 0 <= confidence(days, looked) <= 1


def test_what_ended_long_ago_fades_away() -> None:
    looked = frame(range(60))
    assert confidence(range(10), looked) < 0.02
    assert confidence(range(50, 60), looked) > 0.5


def test_days_off_are_no_silence() -> None:
    """Nobody worked for a month: that says nothing about whether it still happens."""
    weeks = [*range(14), *range(60, 74)]
    rested = confidence(range(14), frame(range(14)))
    assert confidence(range(28), frame(weeks)) > 0.9
    assert rested > 0.9


def test_without_dates_sessions_stand_for_days() -> None:
    undated = frame([])
    assert confidence([], undated) == 0
    looked = type(undated)("here", dict.fromkeys(range(20)))
    assert 0 < confidence([1], looked) < confidence(range(9), looked) <= 1


def test_a_bet_is_the_same_one_next_week() -> None:
    one = finding([Occurrence(1, 2, 3)])
    later = finding([Occurrence(7, 8, 9), Occurrence(8, 1, None)])
    assert identity(one, "here") == identity(later, "here")
    assert identity(one, "here") != identity(one, "there")
    assert about(one) == about(later) != about(finding([], key="other"))


def test_the_page_about_bets_says_the_rules_in_the_same_words() -> None:
    page = Path(__file__).parents[2] / "docs" / "concepts" / "bets.md"
    words = " ".join(page.read_text(encoding="utf-8").split())
    assert [name for name, rule in RULES.items() if rule not in words] == []
