"""The whole loop, exactly as docs/guides/experiments.md tells it.

Found, changed, measured, decided.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from experiment_desk import Office
from hansei.store import bets, measurements

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "experiments.md"
WORK = re.compile(r"# (\d+) days of work(?:, (\d+) sessions a day)?$")
SAYS = re.compile(r"# says: (.+)$")


def script(heading: str) -> list[str]:
    """The lines of the script below a heading of the guide."""
    part = GUIDE.read_text(encoding="utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    return part.split("```sh\n")[1].split("```")[0].splitlines()


def run(office: Office, heading: str, **work: Any) -> list[str]:
    """Type what the guide says, work where it says so; returns what was said, line by line."""
    said = []
    for line in script(heading):
        if days := WORK.match(line):
            office.days(int(days[1]), a_day=int(days[2] or 2), **work)
        elif not line.startswith("hansei init"):  # hooks of a real machine; here they are played
            told = office.type(*shlex.split(line, comments=True)[1:])
            said.append(told + office.said)
            if expected := SAYS.search(line):
                assert f"\n{expected[1]}\n" in told
    return said


def state_of(office: Office, bet: str) -> str:
    with office.open() as store:
        kept = bets.named(store, bet)
    assert kept is not None
    return kept.state


def only(office: Office) -> dict[str, Any]:
    (it,) = office.told("exp", "list")["experiments"]
    found: dict[str, Any] = it
    return found


def test_a_line_that_a_coin_gave_to_half_of_the_sessions_helped_and_is_kept(
    office: Office,
) -> None:
    run(office, "The loop, with a coin", hooked=True)
    it = only(office)
    assert (it["stage"], it["verdict"]) == ("concluded", "helped")
    assert not (office.store_folder / "exposure.json").exists()
    assert "make types" in (office.place / "CLAUDE.md").read_text()
    assert state_of(office, it["bet"]) == "kept"


@pytest.mark.timeout(120)
def test_what_was_applied_becomes_an_experiment_and_is_lower_since(office: Office) -> None:
    run(office, "The same without a coin")
    it = only(office)
    assert state_of(office, it["bet"]) == "kept"
    left_out = office.report(it["id"])["left_out"]
    assert left_out["it led to the change"] >= 2 * 28
    with office.open() as store:
        assert measurements.pending(store) == []


def test_a_harmful_rule_is_found_and_undone(office: Office) -> None:
    said = run(
        office, "A rule that harms", hooked=True, text="make typecheck", told=0.9, untold=0.1
    )
    assert "harmed and was ended" in "".join(said)
    assert not (office.store_folder / "exposure.json").exists()
    assert only(office)["verdict"] == "harmed"


def test_what_was_applied_and_made_it_worse_is_taken_back(office: Office) -> None:
    office.days(75, untold=0.1)
    office.type("retro", "-n", "0")
    office.type("apply", "1", "--yes")
    before = (office.place / "CLAUDE.md").read_text()
    assert "make types" in before
    office.days(42, told=0.9)
    found = office.report()
    assert found["headline"] == "higher since (not randomised)", found["sentences"]
    assert f"hansei undo {found['entry']}" in [it["command"] for it in found["next"]]
    done = office.told("exp", "conclude", "--undo")
    assert done["undone"] == found["entry"]
    assert "make types" not in (office.place / "CLAUDE.md").read_text()
    assert state_of(office, found["bet"]) == "reverted"


def test_taking_in_is_enough_to_end_what_harms_where_that_was_allowed(office: Office) -> None:
    office.type(*shlex.split(script("A rule that harms")[0])[1:])
    office.days(10, a_day=8, hooked=True, text="make typecheck", told=0.9, untold=0.1)
    office.type("ingest")
    assert "harmed and was ended" in office.said
    assert only(office)["verdict"] == "harmed"
