"""Whoever acts on the best bet and changes nothing by it hardly ever hears that it helped.

A bet is made after a bad time and the next one is better whatever you do: here that is played with
every part of the loop. Small and with fixed seeds; `make prove` goes round 2,000 times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import stats

from experiment_worlds import BURSTY, LONG, RARE, looked_at_by_a_plain_test, said
from hansei.bets.counting import USUAL_DAYS
from hansei.experiments.model import Arm, Design, Observation, Word
from hansei.experiments.statistics.arrays import columns
from hansei.experiments.statistics.verdict import judge
from null_loops import BEFORE, HABITS, Loop, loop

A_DAY = 1.6
"""Sessions a day besides the first: a look back at four weeks sees some seventy."""
NATURES = {
    name: replace(nature, a_day=A_DAY)
    for name, nature in {"bursty": BURSTY, "rare": RARE, "ten bad days": LONG}.items()
}
FEW, MANY = 16, 2_000
FEW_HABITS = 4
Seen = tuple[Sequence[Observation], Design]


@cache
def few() -> tuple[Loop, ...]:
    return tuple(loops("bursty", FEW, FEW_HABITS))


def loops(nature: str, count: int, habits: int = len(HABITS)) -> Iterator[Loop]:
    """So many times round; who finds nothing worth a bet does not count."""
    seed = found = 0
    while found < count:
        once = loop(NATURES[nature], seed, habits)
        seed += 1
        if once is not None:
            found += 1
            yield once


def word(seen: Seen) -> Word | None:
    """What somebody hears who looks after every session."""
    observations, design = seen
    return said(columns(observations, unit=design.unit), design)[0]


def looked_at_each_time(seen: Seen) -> Word | None:
    """The same by looking, until it is more than inconclusive."""
    observations, design = seen
    first = next(place for place, it in enumerate(observations) if it.arm is Arm.TREATMENT)
    for upto in range(first + 1, len(observations) + 1):
        verdict = judge(observations[:upto], design)
        if verdict.word is not Word.INCONCLUSIVE:
            return verdict.word
    return None


def test_the_habits_that_people_bet_on_are_many_and_counted_as_they_struck() -> None:
    metrics = set()
    for it in few():
        metrics.add(it.bet.finding.metric)
        assert (it.work.struck == it.hits[:, None]).all(axis=0).sum() == 1
    assert len(metrics) == FEW_HABITS


def test_bets_are_made_after_a_bad_time() -> None:
    """So there is something for the next weeks to be better than."""
    worse = [it.hits[it.looked_at].mean() - it.hits[~it.looked_at].mean() for it in few()]
    assert np.mean(worse) > 0.08


def test_what_the_bet_was_made_from_is_no_control() -> None:
    for it in few():
        observations, design = it.applied()
        control = [one.day for one in observations if one.arm is Arm.CONTROL]
        assert not design.randomised
        assert max(control) <= BEFORE  # days are counted from 1
        assert it.acted - BEFORE == USUAL_DAYS


def test_a_coin_is_thrown_for_sessions_since_and_for_no_other() -> None:
    for it in few():
        observations, design = it.exposed()
        assert design.randomised
        assert len(observations) == (it.work.day >= it.acted).sum()


def test_somebody_who_changed_nothing_hardly_ever_hears_of_a_success() -> None:
    applied = Counter(word(it.applied()) for it in few())
    exposed = Counter(word(it.exposed()) for it in few())
    # Four of 16 happen less than once in a hundred times if 5% are allowed.
    assert applied[Word.LOWER] <= 3
    assert exposed[Word.HELPED] <= 3


def test_looking_after_every_session_is_what_is_played() -> None:
    it = few()[0]
    observations, design = it.exposed()
    short = observations[:40], design
    assert looked_at_each_time(short) == word(short)


@pytest.mark.prove
@pytest.mark.parametrize("nature", NATURES)
def test_2000_loops_without_a_change_say_helped_or_lower_in_no_more_than_five_of_a_hundred(
    nature: str,
) -> None:
    applied: Counter[Word | None] = Counter()
    exposed: Counter[Word | None] = Counter()
    bets: Counter[str] = Counter()
    for it in loops(nature, MANY):
        bets[it.bet.finding.heuristic] += 1
        applied[word(it.applied())] += 1
        exposed[word(it.exposed())] += 1
    print(f"\n{nature}: {dict(bets)}", end="")
    for name, found in ("applied", applied), ("coin", exposed):
        for one in filter(None, found):
            between = stats.binomtest(found[one], MANY).proportion_ci(method="exact")
            rate = f"{found[one] / MANY:.2%} ({between.low:.2%} to {between.high:.2%})"
            print(f"\nwhole loop, {nature}, {name}: {one} {rate}", end="")
    assert applied[Word.LOWER] <= 0.05 * MANY
    assert exposed[Word.HELPED] <= 0.05 * MANY


@pytest.mark.prove
@pytest.mark.timeout(1200)
def test_three_people_who_look_after_every_session_hear_what_was_played() -> None:
    for it in few()[:3]:
        for seen in (it.applied(), it.exposed()):
            assert looked_at_each_time(seen) == word(seen)


def test_a_plain_test_takes_those_loops_for_successes() -> None:
    """With the sessions that led to the bet as its control; so these loops are hard enough."""
    fooled = 0
    for it in few():
        observations, _ = it.applied()
        since = columns([one for one in observations if one.arm is Arm.TREATMENT])
        looked_at = it.hits[it.looked_at]
        joined = replace(
            since,
            treated=np.append(np.zeros(len(looked_at), bool), since.treated),
            number=np.append(looked_at.astype(float), since.number),
        )
        fooled += looked_at_by_a_plain_test(joined)
    assert fooled >= FEW / 2
