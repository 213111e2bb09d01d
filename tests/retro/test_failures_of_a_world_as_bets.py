"""Bets on failures, corrections, loops and refusals in generated histories, against the truth."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import pytest

from hansei.bets.model import Category, Finding
from hansei.projection.corrections import Rule
from hansei.projection.corrections.rules import instruction
from hansei.retro.contract import Heuristic
from hansei.retro.costs import total
from hansei.retro.heuristics.breaks_other_tests import BreaksOtherTests
from hansei.retro.heuristics.call_sites_later import CallSitesLater
from hansei.retro.heuristics.declined_again import DeclinedAgain
from hansei.retro.heuristics.edit_loop import EditLoop
from hansei.retro.heuristics.edited_together import EditedTogether
from hansei.retro.heuristics.flaky_command import FlakyCommand
from hansei.retro.heuristics.formatter_rewrites import FormatterRewrites
from hansei.retro.heuristics.missing_here import MissingHere
from hansei.retro.heuristics.recurring_failure import RecurringFailure
from hansei.retro.heuristics.repeated_correction import RepeatedCorrection
from hansei.retro.heuristics.slow_command import SlowCommand
from hansei.retro.heuristics.untested_end import UntestedEnd
from hansei.retro.heuristics.wrong_place import WrongPlace
from hansei.synth.troubles import MISSED_EDIT, ROUNDING
from retro_world import Place, place

RECALL, PRECISION = 0.95, 0.9
OFF, MOSTLY = 0.25, 0.9
"""How far a saving may be off, and in which share of the bets it must not be further."""
MISSING = frozenset(("plain_pytest", "root_npm_test"))
"""Troubles that say that something does not exist."""
FIXES = {
    "plain_pytest": "uv run pytest",
    "root_npm_test": "`web/`",
    "stale_types": "npm run build",
    "no_database": "docker compose up -d db",
    "unused_import": "ruff check --fix",
    "no_database_url": ".env",
    "random_order": "-p no:randomly",
    "stale_snapshot": "--update",
    "no_stubs": "uv add --dev types-PyYAML",
}


@pytest.fixture(scope="module", params=[3, 29])
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    with place(tmp_path_factory.mktemp("world"), seed=request.param, sessions=110) as made:
        yield made


def troubles(world: Place) -> dict[str, Finding]:
    """Bets on failures by the trouble that most of their evidence is of."""
    planted = {world.calls[it.call]: it.trouble for it in world.truth.failures}
    found = {}
    for bet in (*world.find(RecurringFailure()), *world.find(MissingHere())):
        names = [planted.get((it.session, it.seq), "nothing") for it in bet.occurrences]
        found[max(sorted(set(names)), key=names.count)] = bet
    return found


def close(bet: Finding, planted: int) -> bool:
    return abs((total(bet.occurrences) or 0) - planted) <= OFF * planted


def test_every_trouble_that_came_back_is_a_bet_and_nothing_else_is(world: Place) -> None:
    sessions = defaultdict(set)
    for it in world.truth.failures:
        if it.trouble != MISSED_EDIT and it.decidable:
            sessions[it.trouble].add(it.session)
    planted = {name for name, told in sessions.items() if len(told) >= 3}
    planted -= {world.truth.rule.trouble}  # a line in the instruction file all but ended it
    found = troubles(world).keys() - {world.truth.rule.trouble}
    assert len(planted & found) >= RECALL * len(planted), planted - found
    assert len(planted & found) >= PRECISION * len(found), found - planted


def test_what_a_rule_has_ended_is_no_bet_any_more(world: Place) -> None:
    rule = world.truth.rule
    assert rule.broken_before >= 10 * max(rule.broken_after - 1, 1)
    assert rule.trouble not in troubles(world)


def test_a_bet_says_what_ended_it(world: Place) -> None:
    for name, bet in troubles(world).items():
        if name == ROUNDING.name:
            assert bet.category is Category.INVESTIGATE
        else:
            assert FIXES[name] in bet.change.text, bet.change.text


def test_what_failures_took_is_what_was_planted(world: Place) -> None:
    took: dict[str, int] = defaultdict(int)
    seen: dict[tuple[str, str], set[str]] = defaultdict(set)
    for it in world.truth.failures:
        if it.trouble == ROUNDING.name and it.recovered_by in seen[it.session, it.trouble]:
            continue  # one detour, told from its first failure
        seen[it.session, it.trouble].add(it.recovered_by or "")
        wasted = it.asked if it.trouble in MISSING and it.recovered_by is None else 0
        took[it.trouble] += it.detour + wasted
    told = [close(bet, took[name]) for name, bet in troubles(world).items()]
    assert sum(told) >= MOSTLY * len(told)


def test_corrections_that_came_back_are_bets(world: Place) -> None:
    # Whether a correction is found at all is asked of the facts, not of the bets.
    told = {
        (session, row.remark)
        for session, row in world.window.corrections
        if row.basis not in (Rule.SAME_REQUEST, Rule.STILL)
    }
    said = defaultdict(list)
    for it in world.truth.corrections:
        if (world.numbers[it.session], it.text) in told and instruction(it.text):
            said[it.text].append(it)
    planted = {
        text: {world.numbers[it.session] for it in those}
        for text, those in said.items()
        if len({it.session for it in those}) >= 2
    }
    bets = world.find(RepeatedCorrection())
    evidence = [{it.session for it in bet.occurrences} for bet in bets]
    missed = [text for text, those in planted.items() if not any(those <= it for it in evidence)]
    assert planted
    assert len(missed) <= (1 - RECALL) * len(planted), missed
    corrected = {world.numbers[it.session] for it in world.truth.corrections}
    assert all(it <= corrected for it in evidence)


def test_what_corrections_took_is_what_was_planted(world: Place) -> None:
    prompts = {(session, row.seq): row.remark for session, row in world.window.corrections}
    took = {(world.numbers[it.session], it.text): it.detour for it in world.truth.corrections}
    told = [
        close(bet, sum(took[it.session, prompts[it.session, it.seq]] for it in bet.occurrences))
        for bet in world.find(RepeatedCorrection())
    ]
    assert sum(told) >= MOSTLY * len(told)


def test_the_file_that_sessions_struggled_with_is_the_one_bet_on_loops(world: Place) -> None:
    (bet,) = world.find(EditLoop())
    assert bet.key == ROUNDING.path
    assert {it.session for it in bet.occurrences} == {
        world.numbers[it.session] for it in world.truth.struggles
    }
    assert close(bet, sum(it.detour for it in world.truth.struggles))


def test_the_check_that_a_fixer_ends_is_the_one_bet_on_rewriting(world: Place) -> None:
    (bet,) = world.find(FormatterRewrites())
    planted = [
        it for it in world.truth.failures if it.trouble == "unused_import" and it.recovered_by
    ]
    assert {(it.session, it.seq) for it in bet.occurrences} <= {
        world.calls[it.call] for it in planted
    }
    told = {world.calls[it.call]: it.detour for it in planted}
    assert close(bet, sum(told[it.session, it.seq] for it in bet.occurrences))
    assert len(bet.occurrences) >= RECALL * sum(it.decidable for it in planted)


@pytest.mark.parametrize("heuristic", [
    BreaksOtherTests(), CallSitesLater(), EditedTogether(), FlakyCommand(), SlowCommand(),
    UntestedEnd(), WrongPlace(),
], ids=lambda it: it.name)  # fmt: skip
def test_mishaps_that_were_not_planted_are_not_told(world: Place, heuristic: Heuristic) -> None:
    assert world.find(heuristic) == []


def test_what_people_refused_in_several_sessions_is_a_bet(world: Place) -> None:
    refused = defaultdict(list)
    for it in world.truth.refusals:
        refused[it.command.split()[-1] if "HEAD" not in it.command else "--hard"].append(it)
    planted = {what: told for what, told in refused.items() if len(told) >= 2}
    bets = world.find(DeclinedAgain())
    assert planted
    assert len(bets) == len(planted)
    for what, told in planted.items():
        (bet,) = [it for it in bets if what in it.claim]
        assert close(bet, sum(it.asked for it in told))
