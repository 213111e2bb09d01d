"""Earlier bets against what happened next: replayed once, kept, and what it does to the ranking."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import click
import msgspec
import pytest

from findings import DAY, Planted
from hansei.bets.counting import WEEK_DAYS
from hansei.bets.model import Finding, Metric, State
from hansei.cli import bet_cards
from hansei.experiments.experiment import Bind, Experiment, Stage
from hansei.experiments.model import Word
from hansei.ops import calibration
from hansei.ops.calibration import Calibration, calibrations
from hansei.ops.decisions import decide, find
from hansei.ops.experiments import shelf
from hansei.ops.retro import Retrospect, retro
from hansei.ops.scope import Scope
from hansei.projection.window import Window
from hansei.retro.calibration import Score, Standing, cuts
from hansei.retro.contract import Heuristic
from hansei.store import replayed
from hansei.store.database import Store
from hansei.store.removal import forget
from worked_days import work

LONG = 60
"""Days of a history in which there is a session every day."""


def never(window: Window, metric: Metric) -> bool:
    """No experiment would count anything: the heuristic alone says what came up."""
    return False


def told(
    store: Store, now: int, *heuristics: Heuristic, happened: calibration.CameUp = never
) -> Calibration:
    (found,) = calibrations(store, Scope(), now, heuristics, happened=happened)
    return found


def score(found: Calibration, name: str) -> Score:
    one = found.of(name)
    assert one is not None
    return one


def fads(names: Sequence[str], name: str = "fads") -> Planted:
    """Things that fill the days before somebody looks, and never happen again; newest first."""
    oldest_first = names[::-1]
    ends = [it.day for it in cuts(range(len(names))) if it.until - it.day == WEEK_DAYS]
    those = {f"fad {end}{one}": oldest_first[end - 4 : end] for end in ends for one in "ab"}
    return Planted(those, name=name)


def habit(names: Iterable[str], name: str = "habit") -> Planted:
    return Planted({"habit": list(names)}, name=name)


def test_a_heuristic_that_predicts_is_told_from_one_that_does_not(store: Store, now: int) -> None:
    names = work(store, now, range(LONG))
    found = told(store, now, habit(names[::2]), fads(names))
    good, bad = score(found, "habit"), score(found, "fads")
    assert (good.standing, bad.standing) == (Standing.PREDICTS, Standing.FAILS)
    assert good.recurred == good.bets >= found.weeks - 1  # on the first day it was a guess
    assert bad.recurred == 0 < bad.bets
    assert good.trust == 1.0
    assert 0 < bad.trust == bad.high / bad.said < 0.5
    assert bad.reason.startswith("fads does not predict here")


def test_tokens_of_a_steady_habit_are_counted_as_they_were_said(store: Store, now: int) -> None:
    names = work(store, now, range(LONG))
    one = score(told(store, now, habit(names)), "habit")
    assert one.said_tokens is not None
    assert one.counted_tokens == pytest.approx(one.said_tokens, rel=0.02)


def test_tokens_of_what_never_came_back_are_none(store: Store, now: int) -> None:
    names = work(store, now, range(LONG))
    one = score(told(store, now, habit(names[-12:-6])), "habit")  # six days, then never again
    assert one.said_tokens
    assert one.recurred < one.bets
    assert one.counted_tokens == 0


def test_a_few_weeks_are_too_few_to_tell(store: Store, now: int) -> None:
    names = work(store, now, range(14))
    found = told(store, now, habit(names))
    assert found.weeks == 2
    assert score(found, "habit").standing is Standing.FEW


def test_a_short_history_has_no_past(store: Store, now: int) -> None:
    work(store, now, range(3))
    assert calibrations(store, Scope(), now, [habit(["x"])]) == []


def test_what_cannot_be_told_is_not_counted(store: Store, now: int) -> None:
    names = work(store, now, range(LONG))
    found = told(store, now, fads(names), happened=lambda window, metric: None)
    assert found.scores == ()


def test_an_experiment_would_count_what_the_heuristic_does_not_find(store: Store, now: int) -> None:
    names = work(store, now, range(LONG))
    found = told(store, now, fads(names), happened=lambda window, metric: True)
    assert score(found, "fads").standing is Standing.PREDICTS


# --- the ranking ----------------------------------------------------------------------------------


def look(store: Store, now: int, *heuristics: Heuristic) -> Retrospect:
    return retro(store, Scope(), now, heuristics)


def test_a_bet_of_a_heuristic_that_does_not_predict_ranks_lower_and_says_why(
    store: Store, now: int
) -> None:
    names = work(store, now, range(LONG))
    fickle = Planted({**fads(names).told, "newest": names[:5]}, name="fads")
    assert look(store, now, fickle).offers[0].demoted is not None
    both = look(store, now, fickle, habit(names[:3]))  # seen on fewer days than the newest fad
    steady, fad = both.offers[0], next(it for it in both.offers if it.metric.subject == "newest")
    assert steady.heuristic == "habit"
    assert steady.demoted is None
    assert fad.demoted is not None
    assert "does not predict here" in fad.demoted
    assert fad.calibration is not None
    assert fad.confidence < steady.confidence
    card = " ".join(click.unstyle(" ".join(bet_cards.card(fad, both, now))).split())
    assert "demoted fads does not predict here: 0 of its" in card
    assert "demoted" not in " ".join(bet_cards.card(steady, both, now))


def test_a_demotion_is_taken_back_when_it_predicts_again(store: Store, now: int) -> None:
    names = work(store, now, range(100, 160))
    whims = fads(names)
    assert score(told(store, now, whims), "fads").standing is Standing.FAILS
    later = work(store, now, range(100))
    mended = Planted({**whims.told, "habit": later}, name="fads")
    assert score(told(store, now, mended), "fads").standing is Standing.PREDICTS
    assert look(store, now, mended).offers[0].demoted is None


# --- what was acted on ----------------------------------------------------------------------------


def test_a_bet_that_was_acted_on_is_no_prediction_any_more(store: Store, now: int) -> None:
    names = work(store, now, range(LONG))
    gone = habit(names[20:])  # since 20 days it has not happened
    before = score(told(store, now, gone), "habit")
    offer = find(retro(store, Scope(since=0), now, [gone]), "1")
    decide(store, offer, State.APPLIED, now - 21 * DAY)
    after = score(told(store, now, gone), "habit")
    assert before.recurred < before.bets
    assert after.recurred == after.bets < before.bets


@pytest.mark.parametrize(
    ("verdict", "judged", "held"),
    [
        (Word.HELPED, 1, 1),
        (Word.LOWER, 1, 1),
        (Word.NO_EFFECT, 1, 0),
        (Word.HARMED, 1, 0),
        (Word.INCONCLUSIVE, 0, 0),
    ],
)
def test_verdicts_of_experiments_count(
    store: Store, now: int, verdict: Word, judged: int, held: int
) -> None:
    names = work(store, now, range(LONG))
    steady = habit(names)
    offer = find(look(store, now, steady), "1")
    decide(store, offer, State.APPLIED, now)
    made = Experiment(
        id="e" * 8,
        workspace=offer.home,
        hypothesis="it helps",
        bind=Bind.EXPOSURE,
        fact=offer.metric.fact,
        created_at=now,
        stage=Stage.CONCLUDED,
        bet=offer.id,
        verdict=verdict,
    )
    with store.transaction() as db:
        shelf.save(db, made)
    one = score(told(store, now, steady), "habit")
    assert (one.judged, one.held) == (judged, held)
    assert one.seen == (one.recurred + held) / (one.bets + judged)


# --- what is kept ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Counting:
    """A heuristic that counts how often it is asked."""

    name: str = "counting"
    asked: list[int] = field(default_factory=list, compare=False, repr=False)

    def find(self, window: Window) -> Iterable[Finding]:
        self.asked.append(len(window.sessions))
        return ()


def test_a_week_is_replayed_once(store: Store, now: int) -> None:
    work(store, now, range(10, LONG))
    counting = Counting()
    first = told(store, now, counting)
    asked = len(counting.asked)
    assert asked == 2 * first.weeks
    assert told(store, now, counting) == first
    assert len(counting.asked) == asked
    work(store, now, range(3, 10))
    assert told(store, now, counting).weeks == first.weeks + 1
    assert len(counting.asked) == asked + 2


def test_other_knobs_or_other_sessions_replay_it_again(store: Store, now: int) -> None:
    names = work(store, now, range(LONG))
    told(store, now, habit(names))
    kept = replayed.known(store, 1)
    told(store, now, habit(names[::2]))
    assert {it.stamp for it in kept.values()}.isdisjoint(
        it.stamp for it in replayed.known(store, 1).values()
    )


def test_what_is_kept_holds_no_words_and_goes_with_what_is_forgotten(
    store: Store, now: int
) -> None:
    names = work(store, now, range(LONG))
    found = told(store, now, habit(names))
    bodies = [msgspec.json.decode(it.body) for it in replayed.known(store, 1).values()]
    assert len(bodies) == found.weeks
    assert "make" not in repr(bodies)
    forget(store, [1], now=now)
    assert replayed.known(store, 1) == {}
