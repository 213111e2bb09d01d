"""How often a verdict is wrong for somebody who looks after every session, and when it is right.

Small and with fixed seeds here; `make prove` plays each 2,000 times. The table that stands in
docs/concepts/verdicts.md is printed by `pytest -m prove -s tests/experiments`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from experiment_worlds import (
    BURSTY,
    COIN,
    INDEPENDENT,
    LONG,
    RARE,
    SWITCHBACK,
    WEEKS,
    Nature,
    bad_fortnight,
    before_and_since,
    looked_at_by_a_plain_test,
    said,
    spent,
    with_coin,
)
from hansei.experiments.model import Design, Word
from hansei.experiments.statistics.arrays import Columns
from hansei.experiments.statistics.verdict import RECURRENCE, Metric, follow

NATURES = {"independent": INDEPENDENT, "bursty": BURSTY, "rare": RARE, "ten bad days": LONG}
HALVES = Nature(calm=0.5, bad=0.5, echo=0.0)
BURSTY_HALVES = Nature(calm=0.35, bad=0.95)
TOKENS = Metric("tokens")
FALSE = (Word.HELPED, Word.HARMED, Word.LOWER, Word.HIGHER)
FEW, MANY = 120, 2_000
FEW_FALSE = 14
"""More than that in 120 happen less than one time in a thousand if 5% are allowed."""

Make = Callable[[int], Columns]


def verdicts(make: Make, design: Design, runs: int, metric: Metric = RECURRENCE) -> Counter[Word]:
    found = (said(make(seed), design, metric)[0] for seed in range(runs))
    return Counter(it for it in found if it is not None)


def shown(name: str, count: int, runs: int) -> float:
    """The share, printed with its 95% interval."""
    between = stats.binomtest(count, runs).proportion_ci(method="exact")
    print(f"\n{name}: {count / runs:.2%} ({between.low:.2%} to {between.high:.2%})", end="")
    return count / runs


def null_designs(nature: Nature) -> dict[str, tuple[Make, Design]]:
    """Experiments in which nothing changes, 200 sessions an arm."""
    return {
        "coin": (lambda seed: with_coin(nature, seed), COIN),
        "switchback": (lambda seed: with_coin(nature, seed, by_day=True), SWITCHBACK),
        "weeks": (lambda seed: before_and_since(nature, seed), WEEKS),
        "long weeks": (lambda seed: before_and_since(nature, seed, before=420, since=420), WEEKS),
    }


@pytest.mark.parametrize("design", ["coin", "switchback", "weeks"])
@pytest.mark.parametrize("nature", ["independent", "bursty"])
def test_where_nothing_changed_hardly_anybody_hears_that_something_did(
    nature: str, design: str
) -> None:
    make, how = null_designs(NATURES[nature])[design]
    found = verdicts(make, how, FEW)
    assert sum(found[it] for it in FALSE) <= FEW_FALSE


@pytest.mark.parametrize("nature", ["independent", "bursty"])
def test_a_plain_test_looked_at_as_often_cries_wolf(nature: str) -> None:
    """So these worlds are hard enough to be worth passing."""
    false = sum(looked_at_by_a_plain_test(with_coin(NATURES[nature], seed)) for seed in range(FEW))
    assert false / FEW > 0.2


def test_a_plain_test_takes_the_end_of_a_bad_fortnight_for_a_success() -> None:
    made = (bad_fortnight(BURSTY, seed, excluded="all but it") for seed in range(FEW))
    assert sum(looked_at_by_a_plain_test(it, end_only=True) for it in made) / FEW > 0.5


@pytest.mark.parametrize("nature", ["bursty", "rare"])
def test_the_end_of_a_bad_fortnight_is_not_taken_for_a_success(nature: str) -> None:
    found = verdicts(
        lambda seed: bad_fortnight(NATURES[nature], seed, excluded="window"), WEEKS, FEW
    )
    assert found[Word.LOWER] <= FEW_FALSE


def test_from_30_to_5_in_100_is_seen_within_45_sessions_an_arm() -> None:
    stops = [
        stop / 2 for seed in range(FEW) if (stop := stops_at(INDEPENDENT, seed, -5 / 6)) is not None
    ]
    assert len(stops) >= 0.95 * FEW
    assert np.median(stops) <= 45


def stops_at(nature: Nature, seed: int, effect: float) -> int | None:
    word, stop = said(with_coin(nature, seed, effect=effect), COIN)
    return stop if word is Word.HELPED else None


def test_harm_is_seen_and_never_called_help() -> None:
    found = verdicts(lambda seed: with_coin(BURSTY, seed, effect=0.5), COIN, FEW)
    assert found[Word.HARMED] >= 0.95 * FEW
    assert not found[Word.HELPED]


@pytest.mark.prove
@pytest.mark.parametrize("design", ["coin", "switchback", "weeks", "long weeks"])
@pytest.mark.parametrize("nature", NATURES)
def test_false_alarms_are_no_more_than_five_in_a_hundred(nature: str, design: str) -> None:
    make, how = null_designs(NATURES[nature])[design]
    found = verdicts(make, how, MANY)
    rates = {
        it: shown(f"A/A {design}, {nature}: {it}", found[it], MANY) for it in FALSE if found[it]
    }
    assert all(it <= 0.05 for it in rates.values())


@pytest.mark.prove
@pytest.mark.parametrize("effect", [-0.2, 0.2])
@pytest.mark.parametrize("nature", ["independent", "bursty"])
@pytest.mark.parametrize("coin", [True, False])
def test_an_effect_as_large_as_the_margin_is_not_called_none(
    nature: str, effect: float, coin: bool
) -> None:
    how = replace(COIN if coin else WEEKS, margin=abs(effect))
    chance = effect / (0.3 if effect < 0 else 0.7)
    false = 0
    for seed in range(MANY):
        world = NATURES[nature]
        data = (
            with_coin(world, seed, effect=chance, sessions=800)
            if coin
            else before_and_since(world, seed, effect=chance, before=420, since=420)
        )
        false += bool(follow(data, how, RECURRENCE).same.any())
    assert shown(f"no effect though {effect}, coin {coin}, {nature}", false, MANY) <= 0.05


@pytest.mark.prove
@pytest.mark.parametrize("excluded", ["window", "evidence"])
@pytest.mark.parametrize("nature", ["bursty", "rare", "ten bad days"])
def test_loops_without_a_change_after_a_bad_fortnight(nature: str, excluded: str) -> None:
    found = verdicts(
        lambda seed: bad_fortnight(NATURES[nature], seed, excluded=excluded), WEEKS, MANY
    )
    shown(f"null loop, {nature}, without the {excluded}: higher since", found[Word.HIGHER], MANY)
    name = f"null loop, {nature}, without the {excluded}: lower since"
    assert shown(name, found[Word.LOWER], MANY) <= 0.05


@pytest.mark.prove
@pytest.mark.parametrize("nature", ["bursty", "rare", "ten bad days"])
def test_loops_without_a_change_with_a_coin_after_a_bad_fortnight(nature: str) -> None:
    found = verdicts(
        lambda seed: bad_fortnight(NATURES[nature], seed, excluded="coin", since=400), COIN, MANY
    )
    assert shown(f"null loop, {nature}, coin: helped", found[Word.HELPED], MANY) <= 0.05


@pytest.mark.prove
@pytest.mark.parametrize(
    ("name", "nature", "effect", "power", "stop"),
    [
        ("30 to 5, independent", INDEPENDENT, -5 / 6, 0.95, 45),
        ("30 to 5, bursty", BURSTY, -5 / 6, 0.95, 45),
        ("50 to 25, independent", HALVES, -0.5, 0.9, 200),
        ("50 to 25, bursty", BURSTY_HALVES, -0.5, 0.9, 200),
    ],
)
def test_power_with_a_coin(
    name: str, nature: Nature, effect: float, power: float, stop: float
) -> None:
    stops = [it / 2 for seed in range(MANY) if (it := stops_at(nature, seed, effect)) is not None]
    assert shown(f"power, {name}", len(stops), MANY) >= power
    middle = np.median(stops + [np.inf] * (MANY - len(stops)))
    print(f", median {middle} an arm", end="")
    assert middle <= stop


@pytest.mark.prove
@pytest.mark.parametrize("before", [200, 400])
@pytest.mark.parametrize(
    ("name", "nature", "effect"),
    [
        ("30 to 5, independent", INDEPENDENT, -5 / 6),
        ("30 to 5, bursty", BURSTY, -5 / 6),
        ("50 to 25, independent", HALVES, -0.5),
        ("50 to 25, bursty", BURSTY_HALVES, -0.5),
    ],
)
def test_power_without_a_coin_is_told(
    name: str, nature: Nature, effect: float, before: int
) -> None:
    """There is no promise here but one: what is found points the right way."""
    found = verdicts(
        lambda seed: before_and_since(nature, seed, effect=effect, before=before), WEEKS, MANY
    )
    shown(f"{before} sessions before, {name}: lower since", found[Word.LOWER], MANY)
    assert found[Word.LOWER] > 5 * found[Word.HIGHER]


@pytest.mark.prove
@pytest.mark.parametrize("bursts", [False, True])
def test_heavy_tails_raise_no_false_alarms(bursts: bool) -> None:
    found = verdicts(lambda seed: spent(seed, bursts=bursts), COIN, MANY, TOKENS)
    for word in (Word.HELPED, Word.HARMED):
        name = f"A/A tokens, bursts {bursts}: {word}"
        assert shown(name, found[word], MANY) <= 0.05


@pytest.mark.prove
def test_half_the_tokens_are_seen() -> None:
    found = verdicts(lambda seed: spent(seed, bursts=True, ratio=0.5), COIN, MANY, TOKENS)
    assert shown("power, half the tokens, 200 an arm", found[Word.HELPED], MANY) >= 0.9
