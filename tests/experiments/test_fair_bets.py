"""No evidence out of nothing, exactly: every fall of the coin and order of the weeks is played."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hansei.experiments.statistics import means, periods, recurrence, sequence
from hansei.experiments.statistics.arrays import Columns, by_block
from hansei.experiments.statistics.balance import imbalance
from hansei.experiments.statistics.periods import Period

LENGTH = 7
shares = st.sampled_from([0.2, 0.5, 0.7])
bits = st.lists(st.booleans(), min_size=LENGTH, max_size=LENGTH)


def table(
    treated: np.ndarray, number: np.ndarray, stratum: list[bool], joined: list[bool]
) -> Columns:
    """Sessions of which some share a block with the one before."""
    starts = ~np.array([False, *joined[1:]])
    return Columns(
        sessions=tuple(map(str, range(LENGTH))),
        treated=treated[np.cumsum(starts) - 1],
        number=number,
        stratum=np.array(stratum, dtype=np.int64),
        day=np.arange(LENGTH),
        closes=np.flatnonzero(np.append(starts[1:], True)),
    )


def throws(share: float, blocks: int) -> list[tuple[np.ndarray, float]]:
    """Every fall of so many coins, with its chance."""
    falls = [np.array(it) for it in product((False, True), repeat=blocks)]
    return [(it, float(np.prod(np.where(it, share, 1 - share)))) for it in falls]


@settings(max_examples=20)
@given(bits, bits, bits, shares)
def test_a_change_that_does_nothing_earns_nothing_whatever_the_sessions_were(
    hits: list[bool], stratum: list[bool], joined: list[bool], share: float
) -> None:
    number = np.array(hits, dtype=float)
    blocks = 1 + sum(not it for it in joined[1:])
    expected = np.zeros((2, blocks))
    for fall, chance in throws(share, blocks):
        found = recurrence.evidence(table(fall, number, stratum, joined), share)
        expected += chance * np.exp([found.fewer, found.more])
    assert expected == pytest.approx(np.ones((2, blocks)))


@settings(max_examples=20)
@given(bits, bits, bits, bits, shares)
def test_an_interval_misses_the_mean_effect_no_more_often_than_it_says(
    untreated: list[bool],
    treated: list[bool],
    stratum: list[bool],
    joined: list[bool],
    share: float,
) -> None:
    """For every pair of things that could have happened to each session."""
    blocks = 1 + sum(not it for it in joined[1:])
    one, other = np.array(untreated, dtype=float), np.array(treated, dtype=float)
    gain = np.zeros((2, blocks))
    for fall, chance in throws(share, blocks):
        arms = table(fall, one, stratum, joined)
        data = table(fall, np.where(arms.treated, other, one), stratum, joined)
        effects = by_block(other - one, data.closes) / data.sizes
        truth = np.cumsum(effects) / np.arange(1, blocks + 1)
        seen = sequence.sums(
            recurrence.scores(data, share), bound=1 / min(share, 1 - share), effect=1.0
        )
        for row, sign in enumerate((1, -1)):
            short = [sequence.against(seen, it, sign)[place] for place, it in enumerate(truth)]
            gain[row] += chance * np.exp(short)
    assert gain.max() <= 1 + 1e-9


@settings(max_examples=20)
@given(
    st.lists(st.floats(0, 1e12), min_size=LENGTH, max_size=LENGTH),
    st.lists(st.floats(0, 1e12), min_size=LENGTH, max_size=LENGTH),
    shares,
)
def test_amounts_of_any_size_earn_nothing_without_an_effect(
    amounts: list[float], others: list[float], share: float
) -> None:
    number = np.array(amounts) * np.array(others)
    bets, intervals = np.zeros((2, LENGTH)), np.zeros((2, LENGTH))
    for fall, chance in throws(share, LENGTH):
        data = table(fall, number, [False] * LENGTH, [False] * LENGTH)
        guesses = means.scores(data, share, 1.0)
        seen = means.typical(guesses, share)
        bets += chance * np.exp(means.evidence(guesses, share))
        misses = [sequence.against(seen, 0.0, 1), sequence.against(seen, 0.0, -1)]
        intervals += chance * np.exp(misses)
    assert bets == pytest.approx(np.ones((2, LENGTH)))
    assert intervals.max() <= 1 + 1e-9


@pytest.mark.parametrize("arms", ["CCCTTT", "CCCCTT", "CCCTCT", "TCCCTC"])
@pytest.mark.parametrize("sign", [1, -1])
def test_weeks_that_could_change_places_earn_nothing(arms: str, sign: int) -> None:
    stakes = [
        np.exp(
            periods.evidence(
                [
                    Period(arm == "T", amount, place)
                    for place, (arm, amount) in enumerate(zip(arms, order, strict=True))
                ],
                sign,
            )[0]
        )
        for order in permutations([0.0, 0.1, 0.2, 0.3, 0.4, 0.5])
    ]
    assert np.mean(stakes, axis=0) == pytest.approx(np.ones(6))


@settings(max_examples=20)
@given(shares)
def test_a_fair_coin_earns_no_suspicion(share: float) -> None:
    expected = sum(
        chance * np.exp(imbalance(fall, share)) for fall, chance in throws(share, LENGTH)
    )
    assert expected == pytest.approx(np.ones(LENGTH))
