"""How many sessions will tell, as a card says it, against experiments that are played."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hansei.experiments.model import Design, Word
from hansei.experiments.statistics.arrays import Columns
from hansei.experiments.statistics.foretelling import TOLD, sessions_to_tell
from hansei.experiments.statistics.power import drawn
from hansei.experiments.statistics.verdict import RECURRENCE, decided, follow

COIN = Design(randomised=True)


def played(share: float, dice: np.random.Generator, sessions: int) -> Columns:
    treated = dice.random(sessions) < COIN.share
    return drawn(
        treated, dice.random(sessions) < np.where(treated, share / 2, share), np.arange(sessions)
    )


def helped(share: float, runs: int, sessions: int) -> list[int]:
    """When each experiment said that halving it helped; none of those that never did."""
    dice = np.random.default_rng(7)
    stops = []
    for _ in range(runs):
        path = follow(played(share, dice, sessions), COIN, RECURRENCE)
        found = decided(path, COIN)
        if found is not None and found[0] is Word.HELPED:
            stops.append(int(path.ends[found[1]]) + 1)
    return sorted(stops)


@given(st.floats(0.1, 1), st.floats(0.1, 1))
def test_more_frequent_things_are_told_sooner(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert (sessions_to_tell(low) or 0) >= (sessions_to_tell(high) or 0)


@pytest.mark.parametrize("share", [0.0, 0.02, 0.099])
def test_what_is_seldom_is_never_told(share: float) -> None:
    assert sessions_to_tell(share) is None


def test_half_of_the_experiments_played_have_told_by_then() -> None:
    stops = helped(0.5, 60, 300)
    assert stops[29] == pytest.approx(sessions_to_tell(0.5), rel=0.3)


@pytest.mark.prove
@pytest.mark.parametrize(("share", "sessions"), TOLD)
def test_the_table_is_what_experiments_show(share: float, sessions: int) -> None:
    assert helped(share, 400, 4 * sessions)[199] == pytest.approx(sessions, rel=0.2)


@pytest.mark.prove
def test_less_than_half_of_the_experiments_find_a_seldom_thing_halved() -> None:
    assert len(helped(0.08, 400, 2_500)) < 200
