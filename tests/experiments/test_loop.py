"""The whole loop, as docs/guides/experiments.md tells it: found, changed, measured, decided."""

from __future__ import annotations

import pytest

from experiment_desk import TARGET, Office
from hansei.store import bets, measurements

BETTER = "make types"


def number_of_bet(office: Office) -> str:
    found = office.told("retro", "-n", "0")["offers"]
    return next(str(it["rank"]) for it in found if it["metric"]["fact"] == "failures")


def state_of(office: Office, bet: str) -> str:
    with office.open() as store:
        kept = bets.named(store, bet)
    assert kept is not None
    return kept.state


def test_a_line_that_a_coin_gave_to_half_of_the_sessions_helped_and_is_kept(
    office: Office,
) -> None:
    office.days(14)
    bet = number_of_bet(office)
    begun = office.told("exp", "new", "--bind", "exposure", "--bet", bet)
    assert (begun["stage"], begun["fact"]) == ("running", "failures")
    assert (office.store_folder / "exposure.json").exists()

    office.days(12, a_day=8, hooked=True)
    found = office.report()
    assert found["headline"] == "helped", found["sentences"]
    assert found["left_out"] == {"it began before the experiment": 28}

    done = office.told("exp", "conclude", "--keep")
    assert done["kept"] is not None
    assert not (office.store_folder / "exposure.json").exists()
    assert BETTER in (office.place / "CLAUDE.md").read_text()
    assert state_of(office, begun["bet"]) == "kept"


@pytest.mark.timeout(120)
def test_what_was_applied_becomes_an_experiment_and_is_lower_since(office: Office) -> None:
    office.days(75)
    bet = number_of_bet(office)
    office.type("apply", bet, "--yes")
    office.days(42)
    found = office.report()
    assert found["headline"] == "lower since (not randomised)", found["sentences"]
    assert found["left_out"]["it led to the change"] > 20
    done = office.told("exp", "conclude")
    assert state_of(office, done["bet"]) == "kept"
    with office.open() as store:
        assert measurements.pending(store) == []


def test_a_harmful_rule_is_found_and_undone(office: Office) -> None:
    office.days(2)
    office.told(
        *("exp", "new", "--bind", "exposure", "--auto", "--text", "Always run make typecheck."),
        *("--hypothesis", "checking types first helps", "--metric", TARGET),
    )
    office.days(10, a_day=8, hooked=True, text="make typecheck", told=0.9, untold=0.1)
    office.type("exp", "status")
    assert "harmed and was ended" in office.said
    assert not (office.store_folder / "exposure.json").exists()
    (it,) = office.told("exp", "list")["experiments"]
    assert (it["stage"], it["verdict"]) == ("concluded", "harmed")
