"""Mishaps with edits, tests and commands planted in made-up windows, against what is found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest

import edit_happenings as happens
from hansei.bets.model import Finding
from hansei.bets.recurring import Fact
from hansei.experiments.metrics.recurrence import recurrences
from hansei.projection.window import Window
from hansei.retro.contract import Heuristic
from hansei.retro.heuristics.breaks_other_tests import BreaksOtherTests
from hansei.retro.heuristics.call_sites_later import CallSitesLater
from hansei.retro.heuristics.edited_together import EditedTogether
from hansei.retro.heuristics.flaky_command import FlakyCommand
from hansei.retro.heuristics.formatter_rewrites import FormatterRewrites
from hansei.retro.heuristics.slow_command import SlowCommand
from hansei.retro.heuristics.untested_end import UntestedEnd
from hansei.retro.heuristics.wrong_place import WrongPlace
from retro_window import window

WINDOWS = 12
RECALL, PRECISION, NEAR, SHARE = 0.95, 0.9, 0.25, 0.9
PLANTS: tuple[tuple[Heuristic, happens.Plant, happens.Plant], ...] = (
    (BreaksOtherTests(), happens.breaks, happens.own_test),
    (CallSitesLater(), happens.missed_caller, happens.no_caller),
    (EditedTogether(), happens.two_files, happens.never_two_files),
    (FlakyCommand(), happens.flaky, happens.mended),
    (FormatterRewrites(), happens.reformatted, happens.by_hand),
    (SlowCommand(), happens.slow, happens.quick),
    (UntestedEnd(), happens.left_red, happens.left_green),
    (WrongPlace(), happens.wrong_file, happens.better_lines),
)
"""Each heuristic with what it is to find, and with what looks like it and is none."""
NAMES = [it.name for it, _, _ in PLANTS]


def sessions(
    plant: happens.Plant, decoy: happens.Plant, dice: Random, *, planted: bool
) -> list[happens.Made]:
    """Ordinary work, much that looks like the thing, and some sessions with it."""
    made = []
    for number in range(dice.randrange(12, 18)):
        one = happens.Made.by(dice)
        happens.ordinary(one, dice)
        if number < 7:
            (plant if planted else decoy)(one, dice)
        elif dice.random() < 0.5:
            decoy(one, dice)
        made.append(one)
    dice.shuffle(made)
    return made


def windows(
    name: str, plant: happens.Plant, decoy: happens.Plant
) -> Iterator[tuple[Window, list[happens.Made] | None]]:
    for number in range(WINDOWS):
        planted = number % 2 == 1
        made = sessions(plant, decoy, Random(f"{name} {number}"), planted=planted)
        yield window([it.telling for it in made]), made if planted else None


def is_near(bet: Finding, made: list[happens.Made]) -> bool:
    told = sum(it.tokens or 0 for it in bet.occurrences)
    waited = sum(it.minutes or 0 for it in bet.occurrences)
    tokens, minutes = (sum(it.tokens for it in made), sum(it.minutes for it in made))
    return abs(told - tokens) <= NEAR * tokens and abs(waited - minutes) <= NEAR * minutes


@pytest.mark.parametrize(("heuristic", "plant", "decoy"), PLANTS, ids=NAMES)
def test_what_was_planted_is_found_and_nothing_else_with_what_it_took(
    heuristic: Heuristic, plant: happens.Plant, decoy: happens.Plant
) -> None:
    right = wrong = missed = near = 0
    for seen, made in windows(heuristic.name, plant, decoy):
        found = list(heuristic.find(seen))
        if made is None:
            wrong += len(found)
            continue
        missed += not found
        right, wrong = right + bool(found), wrong + max(len(found) - 1, 0)
        near += bool(found) and is_near(found[0], made)
    assert right >= RECALL * (right + missed)
    assert right >= PRECISION * (right + wrong)
    assert near >= SHARE * right


@pytest.mark.parametrize(("heuristic", "plant", "decoy"), PLANTS, ids=NAMES)
def test_what_is_counted_later_is_what_the_bet_counted(
    heuristic: Heuristic, plant: happens.Plant, decoy: happens.Plant
) -> None:
    made = sessions(plant, decoy, Random(heuristic.name), planted=True)
    seen = window([it.telling for it in made])
    (bet,) = heuristic.find(seen)
    counted = recurrences(seen, bet.metric.fact, bet.metric.subject)
    assert counted is not None
    assert counted.opportunities is not None
    assert all(counted.opportunities[it] >= times for it, times in counted.hits.items())
    hits = {session: times for session, times in counted.hits.items() if times}
    told = Counter(it.session for it in bet.occurrences)
    assert sum(it.tokens or 0 for it in bet.occurrences) <= sum(
        it.tokens or 0 for _, it in seen.asked
    )
    if bet.metric.fact is Fact.UNTESTED:  # how turns ended, not what the next one met
        assert hits.keys() >= told.keys()
    else:
        assert hits == told


@pytest.mark.parametrize(("heuristic", "plant", "decoy"), PLANTS, ids=NAMES)
def test_one_task_alone_never_makes_a_bet(
    heuristic: Heuristic, plant: happens.Plant, decoy: happens.Plant
) -> None:
    dice = Random(heuristic.name)
    one = happens.Made.by(dice)
    for _ in range(6):
        plant(one, dice)
        decoy(one, dice)
    assert list(heuristic.find(window([one.telling]))) == []
