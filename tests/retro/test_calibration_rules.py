"""Where the past is cut, and how sure a share is."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from hansei.bets.counting import share_interval
from hansei.retro.calibration import FIRST, SPANS, Standing, Trial, cuts, scores

DAYS = st.sets(st.integers(0, 400), min_size=1, max_size=120)


@given(DAYS)
def test_no_day_tests_two_cuts_and_none_is_known_before(days: set[int]) -> None:
    found = cuts(days)
    for one in found:
        assert one.since < one.day < one.until
        assert any(one.day <= day < one.until for day in days)
    for one, following in pairwise(found):
        assert one.until == following.day


@given(DAYS, st.integers(1, 30))
def test_days_that_come_later_move_no_cut(days: set[int], more: int) -> None:
    last = max(days)
    found = cuts(days)
    assert found[-1:] == [it for it in cuts({*days, last + more}) if it in found][-1:]


def test_five_days_a_week_are_tested_by_the_five_of_the_next() -> None:
    work = [day for day in range(70) if day % 7 < 5]
    lengths = [sum(one.day <= day < one.until for day in work) for one in cuts(work)]
    assert lengths[-4:] == [5, 5, 5, 5]
    assert len(lengths) <= SPANS


def test_too_few_days_are_not_cut() -> None:
    assert cuts(range(FIRST)) == []
    assert cuts([]) == []


@given(st.integers(1, 60), st.data())
def test_the_interval_is_that_of_clopper_and_pearson(of: int, data: st.DataObject) -> None:
    times = data.draw(st.integers(0, of))
    exact = binomtest(times, of).proportion_ci(confidence_level=0.8, method="exact")
    assert share_interval(times, of) == pytest.approx((exact.low, exact.high), abs=1e-6)


def trial(cut: int, *, recurred: bool, confidence: float = 0.8) -> Trial:
    return Trial("toy", f"{cut}", cut, cut + 5, confidence, None, recurred, None)


@given(st.lists(st.booleans(), min_size=1, max_size=40), st.floats(0.01, 1))
def test_trust_is_lost_only_by_what_does_not_predict(came: list[bool], said: float) -> None:
    (one,) = scores(trial(n, recurred=it, confidence=said) for n, it in enumerate(came))
    assert (one.trust < 1) == (one.standing is Standing.FAILS) == bool(one.reason)
    if one.standing is Standing.FAILS:
        assert one.trust <= 0.5
    if all(came) and len(came) >= 6:
        assert one.standing is Standing.PREDICTS


def test_three_weeks_are_needed_however_many_bets_there_were() -> None:
    (two,) = scores(trial(week, recurred=False) for week in (0, 1) for _ in range(20))
    (three,) = scores(trial(week, recurred=False) for week in (0, 1, 2) for _ in range(20))
    assert (two.standing, three.standing) == (Standing.FEW, Standing.FAILS)
