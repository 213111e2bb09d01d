"""Medians by resampling: the same as drawing every resample, only sooner."""

from __future__ import annotations

from time import perf_counter

import numpy as np
import pytest
from scipy import stats

from hansei.experiments.statistics.bootstrap import medians, resampled_medians


def amounts(count: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).lognormal(10, 1.2, count)


@pytest.mark.parametrize("sizes", [(25, 40), (101, 60), (500, 500), (1, 7), (2, 3)])
def test_resampled_medians_are_distributed_like_those_of_scipy(sizes: tuple[int, int]) -> None:
    control, treatment = amounts(sizes[0], 1), amounts(sizes[1], 2)
    if min(sizes) > 1:
        theirs = stats.bootstrap(
            (control, treatment),
            lambda one, other, axis: np.median(other, axis=axis) - np.median(one, axis=axis),
            n_resamples=10_000,
            vectorized=True,
            method="percentile",
            rng=np.random.default_rng(3),
        )
        drawn = theirs.bootstrap_distribution
    else:
        dice = np.random.default_rng(3)
        one, other = (
            np.median(it[dice.integers(0, len(it), (10_000, len(it)))], axis=1)
            for it in (control, treatment)
        )
        drawn = other - one
    dice = np.random.default_rng(4)
    ours = resampled_medians(treatment, 10_000, dice) - resampled_medians(
        np.asarray(control), 10_000, np.random.default_rng(5)
    )
    assert stats.ks_2samp(ours, drawn).statistic < 1.95 * np.sqrt(2 / 10_000)


def test_the_interval_agrees_with_that_of_scipy_within_what_dice_explain() -> None:
    control, treatment = amounts(500, 1), amounts(500, 2) * 0.7

    def theirs(seed: int) -> tuple[float, float]:
        found = stats.bootstrap(
            (control, treatment),
            lambda one, other, axis: np.median(other, axis=axis) / np.median(one, axis=axis),
            n_resamples=10_000,
            vectorized=True,
            method="percentile",
            batch=1_000,
            rng=np.random.default_rng(seed),
        ).confidence_interval
        return found.low, found.high

    spread = np.array([theirs(seed) for seed in range(6)])
    ours = np.array(
        [found.ratio for seed in range(6) if (found := medians(control, treatment, seed=seed))]
    )
    error = np.hypot(spread.std(axis=0, ddof=1), ours.std(axis=0, ddof=1)) / np.sqrt(6)
    assert np.all(np.abs(spread.mean(axis=0) - ours.mean(axis=0)) < 5 * error)


def test_ten_thousand_resamples_of_two_arms_of_500_take_less_than_three_tenths_of_a_second() -> (
    None
):
    control, treatment = amounts(500, 1), amounts(500, 2)
    took = []
    for _ in range(3):
        began = perf_counter()
        medians(control, treatment)
        took.append(perf_counter() - began)
    assert min(took) < 0.3


def test_the_same_seed_gives_the_same_interval() -> None:
    control, treatment = amounts(30, 1), amounts(30, 2)
    assert medians(control, treatment, seed=7) == medians(control, treatment, seed=7)
    assert medians(control, treatment, seed=7) != medians(control, treatment, seed=8)


def test_an_empty_arm_has_no_median_and_a_median_of_nothing_no_ratio() -> None:
    assert medians(np.array([]), amounts(3, 1)) is None
    found = medians(np.zeros(9), amounts(9, 1))
    assert found is not None
    assert found.ratio is None
    assert found.difference is not None
    assert found.difference.low > 0


def test_one_giant_session_hardly_moves_the_median() -> None:
    control, treatment = amounts(50, 1), amounts(50, 2)
    plain, with_giant = (medians(control, it) for it in (treatment, np.append(treatment[1:], 1e15)))
    assert plain is not None
    assert plain.difference is not None
    assert with_giant is not None
    assert with_giant.difference is not None
    assert with_giant.difference.high < 2 * abs(plain.difference.high) + plain.control


@pytest.mark.parametrize(("sizes", "told"), [((1, 40), False), ((40, 5), False), ((6, 6), True)])
def test_an_interval_of_few_numbers_is_not_told(sizes: tuple[int, int], told: bool) -> None:
    """Five numbers all lie on one side of the true median in one of 16 cases: more than 5%."""
    found = medians(amounts(sizes[0], 1), amounts(sizes[1], 2))
    assert found is not None
    assert (found.difference is not None) == told
    assert (found.ratio is not None) == told
    assert found.control == np.median(amounts(sizes[0], 1))


def test_less_confidence_takes_fewer_numbers() -> None:
    found = medians(amounts(3, 1), amounts(3, 2), confidence=0.75)
    assert found is not None
    assert found.difference is not None
