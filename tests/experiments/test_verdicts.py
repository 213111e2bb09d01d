"""What is said of sessions, from observations to words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hansei.errors import UsageError
from hansei.experiments.model import Arm, Design, Observation, Why, Word
from hansei.experiments.selection import selection_free
from hansei.experiments.statistics.bootstrap import described
from hansei.experiments.statistics.power import power, power_of_weeks
from hansei.experiments.statistics.verdict import Metric, judge

COIN = Design(randomised=True)
WEEKS = Design(randomised=False)
TOKENS = Metric("tokens")


def arm(treated: bool) -> Arm:
    return Arm.TREATMENT if treated else Arm.CONTROL


def observed(
    treated: Iterable[object], hits: Iterable[object], *, a_day: int = 5, by_day: bool = False
) -> list[Observation]:
    return [
        Observation(
            session=f"s{place}",
            arm=arm(bool(one)),
            stratum="agent/model",
            day=place // a_day,
            block=f"d{place // a_day}" if by_day else f"s{place}",
            hit=bool(hit),
        )
        for place, (one, hit) in enumerate(zip(treated, hits, strict=True))
    ]


def coin_flips(
    before: float, after: float, *, sessions: int = 300, seed: int = 1
) -> list[Observation]:
    dice = np.random.default_rng(seed)
    treated = dice.random(sessions) < 0.5
    return observed(treated, dice.random(sessions) < np.where(treated, after, before))


def weeks(
    before: float, after: float, *, control: int = 280, since: int = 175
) -> list[Observation]:
    dice = np.random.default_rng(2)
    treated = np.arange(control + since) >= control
    return observed(treated, dice.random(len(treated)) < np.where(treated, after, before))


def spending(ratio: float, *, sessions: int = 400) -> list[Observation]:
    dice = np.random.default_rng(3)
    treated = dice.random(sessions) < 0.5
    amounts = 30_000 * np.exp(dice.normal(0, 1, sessions)) * np.where(treated, ratio, 1)
    return [
        replace(it, values={"tokens": float(amount)})
        for it, amount in zip(observed(treated, treated), amounts, strict=True)
    ]


def test_with_a_coin_fewer_failures_are_help_and_more_are_harm() -> None:
    assert judge(coin_flips(0.3, 0.05), COIN).word is Word.HELPED
    assert judge(coin_flips(0.05, 0.3), COIN).word is Word.HARMED


def test_without_a_coin_nothing_is_ever_said_to_help_or_harm() -> None:
    assert judge(weeks(0.4, 0.05), WEEKS).word is Word.LOWER
    assert judge(weeks(0.05, 0.4), WEEKS).word is Word.HIGHER
    same = judge(weeks(0.1, 0.1, since=420), replace(WEEKS, margin=0.2))
    assert same.word is Word.NO_CHANGE


def test_no_effect_is_said_only_inside_the_margin() -> None:
    sessions = coin_flips(0.1, 0.1, sessions=1200)
    found = judge(sessions, replace(COIN, margin=0.15))
    assert found.word is Word.NO_EFFECT
    assert judge(sessions, replace(COIN, margin=0.01)).word is Word.INCONCLUSIVE
    assert found.interval is not None
    assert -0.15 < found.interval.low < found.interval.high < 0.15


def test_fewer_tokens_are_help_and_a_giant_session_is_no_harm() -> None:
    sessions = spending(0.4)
    assert judge(sessions, COIN, TOKENS).word is Word.HELPED
    place = next(place for place, it in enumerate(sessions) if it.arm == "treatment")
    sessions[place] = replace(sessions[place], values={"tokens": 1e14})
    assert judge(sessions, COIN, TOKENS).word is Word.HELPED
    assert judge(sessions, COIN, TOKENS._replace(better="higher")).word is Word.HARMED
    found = judge(sessions, COIN, TOKENS)
    assert found.difference == pytest.approx(np.log(0.4), abs=0.25)


def test_medians_of_a_metric_leave_out_what_is_unknown() -> None:
    sessions = spending(0.4)
    sessions[0] = replace(sessions[0], values={"tokens": None})
    sessions[1] = replace(sessions[1], values={})
    found = described(sessions, "tokens", resamples=2_000)
    assert found is not None
    assert found.ratio is not None
    assert found.ratio.low < 0.4 < found.ratio.high < 1
    assert described(sessions, "minutes") is None


def test_a_verdict_says_what_it_rests_on() -> None:
    sessions = [replace(it, opportunities=2) for it in coin_flips(0.3, 0.05)]
    found = judge(sessions, COIN)
    assert found.control.sessions + found.treatment.sessions == 300
    assert found.control.hits is not None
    assert found.control.opportunities == 2 * found.control.known
    assert found.decided_by in found.steps
    step = found.steps.index(found.decided_by)
    assert found.lower[step] >= found.bar == 40
    assert max(found.lower[:step]) < found.bar
    assert found.interval is not None
    assert found.interval.low < -0.25 < found.interval.high


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([(0.4, 0.05), (0.5, 0.3), (0.1, 0.4)]))
def test_a_verdict_once_reached_stands(seed: int, shares: tuple[float, float]) -> None:
    sessions = coin_flips(*shares, sessions=200, seed=seed)
    found = judge(sessions, COIN)
    if found.decided_by is None:
        assert all(judge(sessions[:upto], COIN).decided_by is None for upto in (50, 100, 150))
        return
    end = next(place for place, it in enumerate(sessions) if it.session == found.decided_by)
    assert judge(sessions[:end], COIN).word is Word.INCONCLUSIVE
    for upto in (end + 1, (end + 201) // 2, 200):
        assert judge(sessions[:upto], COIN).word is found.word


def test_a_verdict_of_weeks_once_reached_stands() -> None:
    sessions = weeks(0.4, 0.05)
    words = [judge(sessions[:upto], WEEKS).word for upto in range(281, len(sessions), 9)]
    first = words.index(Word.LOWER)
    assert set(words[:first]) == {Word.INCONCLUSIVE}
    assert set(words[first:]) == {Word.LOWER}


@pytest.mark.parametrize("by_day", [False, True])
def test_calling_control_treatment_turns_help_into_harm(by_day: bool) -> None:
    sessions = coin_flips(0.5, 0.1)
    if by_day:
        sessions = observed(
            [place // 5 % 3 == 1 for place in range(400)],
            [place % 2 == 0 and place // 5 % 3 != 1 for place in range(400)],
            by_day=True,
        )
    design = replace(COIN, unit="day" if by_day else "session", share=1 / 3 if by_day else 0.5)
    turned = [replace(it, arm=arm(it.arm == "control")) for it in sessions]
    one, other = judge(sessions, design), judge(turned, replace(design, share=1 - design.share))
    assert (one.word, other.word) == (Word.HELPED, Word.HARMED)
    assert one.lower == pytest.approx(other.higher)


def test_the_day_of_a_switchback_counts_once_it_is_over() -> None:
    sessions = observed([True] * 5 + [False] * 5, [False] * 5 + [True] * 5, by_day=True)
    found = judge(sessions, replace(COIN, unit="day"))
    assert found.steps == ("s4",)


def test_inconclusive_says_how_many_sessions_and_days_are_still_needed() -> None:
    found = judge(coin_flips(0.3, 0.1, sessions=40), COIN)
    assert found.word is Word.INCONCLUSIVE
    assert found.why is Why.MORE
    assert found.needed is not None
    assert 10 <= found.needed <= 300
    assert found.days == pytest.approx(found.needed / 5, abs=1)


def test_weeks_say_how_many_more_sessions_with_the_change_they_need() -> None:
    found = judge(weeks(0.4, 0.05, since=50), WEEKS)
    assert found.why is Why.MORE
    assert found.needed is not None
    assert 30 <= found.needed <= 150
    assert found.left_out > 0


def test_far_too_few_sessions_foretell_nothing() -> None:
    found = judge(coin_flips(0.3, 0.1, sessions=12), COIN)
    assert (found.word, found.needed, found.days) == (Word.INCONCLUSIVE, None, None)


@pytest.mark.parametrize("design", [COIN, WEEKS, replace(COIN, unit="day")])
@pytest.mark.parametrize("metric", [Metric(), TOKENS])
def test_nothing_to_compare_is_said_and_never_a_crash(design: Design, metric: Metric) -> None:
    some = observed([True] * 30, [False] * 30)
    unknown = [replace(it, hit=None, values={"tokens": float("nan")}) for it in some]
    for sessions in ([], some[:1], some, unknown, [replace(it, arm=Arm.CONTROL) for it in some]):
        found = judge(sessions, design, metric)
        assert (found.word, found.why) == (Word.INCONCLUSIVE, Why.EMPTY)


def test_two_weeks_before_the_change_are_no_history() -> None:
    found = judge(weeks(0.4, 0.05, control=70), WEEKS)
    assert (found.word, found.why) == (Word.INCONCLUSIVE, Why.NO_HISTORY)


def test_arms_that_the_coin_would_not_make_withhold_every_verdict() -> None:
    """Half of the treated sessions that failed are lost, which looks like help."""
    dice = np.random.default_rng(5)
    kept = [
        it
        for it in coin_flips(0.5, 0.5, sessions=800)
        if it.arm == "control" or not it.hit or dice.random() < 0.2
    ]
    found = judge(kept, COIN)
    assert (found.word, found.why) == (Word.INCONCLUSIVE, Why.UNBALANCED)


def test_arms_of_the_size_that_the_design_wanted_are_fine() -> None:
    dice = np.random.default_rng(6)
    treated = dice.random(400) < 0.2
    sessions = observed(treated, dice.random(400) < np.where(treated, 0.05, 0.4))
    assert judge(sessions, replace(COIN, share=0.2)).word is Word.HELPED
    assert judge(sessions, COIN).why is Why.UNBALANCED


def test_sessions_that_cannot_tell_count_for_neither_arm() -> None:
    sessions = coin_flips(0.3, 0.05)
    mixed = [
        it
        for pair in sessions
        for it in (
            pair,
            replace(pair, session=pair.session + "?", block=pair.block + "?", hit=None),
        )
    ]
    plain, found = judge(sessions, COIN), judge(mixed, COIN)
    assert found.lower == plain.lower
    assert found.control.sessions == 2 * found.control.known


def test_a_shift_to_a_better_model_is_not_taken_for_the_change() -> None:
    """Before, nearly all sessions ran on a model that fails; since, on one that does not."""
    dice = np.random.default_rng(7)
    sessions = []
    for it in weeks(0.5, 0.5, control=420, since=420):
        new = dice.random() < (0.9 if it.arm == "treatment" else 0.3)
        hit = bool(dice.random() < (0.1 if new else 0.6))
        sessions.append(replace(it, stratum="new" if new else "old", hit=hit))
    assert judge(sessions, WEEKS).word is not Word.LOWER
    mixed = [replace(it, stratum="one") for it in sessions]
    assert judge(mixed, WEEKS).word is Word.LOWER


def test_fewer_sessions_a_week_are_not_taken_for_lower_weeks() -> None:
    """A small week strays further: with a tenth of the sessions, zero is nothing special."""
    false = 0
    for seed in range(40):
        dice = np.random.default_rng(seed)
        day = np.append(np.arange(420) // 7, 60 + np.arange(90) // 1.2)
        sessions = [
            replace(it, day=int(when))
            for it, when in zip(
                observed(np.arange(510) >= 420, dice.random(510) < 0.08), day, strict=True
            )
        ]
        false += judge(sessions, WEEKS).word in (Word.LOWER, Word.HIGHER)
    assert false <= 6


def test_the_days_that_made_the_bet_are_no_control() -> None:
    sessions = weeks(0.3, 0.3, control=50, since=10)
    found = selection_free(sessions, 4, 11)
    assert found.excluded == 30
    assert {it.day for it in found.observations} == {0, 1, 2, 3, 10, 11}
    assert all(it.arm == "treatment" for it in found.observations if it.day >= 10)


@pytest.mark.parametrize(
    "wrong", [{"share": 0.0}, {"share": 1.0}, {"alpha": 0.0}, {"margin": 0.0}, {"ratio": 1.0}]
)
def test_a_design_that_cannot_be_judged_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        replace(COIN, **wrong)  # type: ignore[arg-type]  # every field named here is a float


def test_power_tells_the_sessions_that_a_difference_takes() -> None:
    large = power(0.3, 0.05, COIN, sessions=400, runs=100)
    small = power(0.3, 0.2, COIN, sessions=400, runs=100)
    assert large.words[Word.HELPED] >= 0.95
    assert large.half is not None
    assert large.half <= 90
    assert small.words.get(Word.HELPED, 0) < large.words[Word.HELPED]
    assert small.most is None
    assert power(0.3, 0.05, COIN, sessions=400, runs=100) == large


def test_power_of_weeks_grows_with_history() -> None:
    def found(weeks_before: int) -> float:
        played = power_of_weeks(
            *(0.3, 0.05, WEEKS),
            weeks_before=weeks_before,
            weeks_since=5,
            sessions_a_week=20,
            runs=60,
        )
        return played.words.get(Word.LOWER, 0.0)

    assert found(2) == 0
    assert found(4) < found(10)
