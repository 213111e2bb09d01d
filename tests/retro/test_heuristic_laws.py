"""What holds of the heuristics of failures, corrections and refusals in any sessions."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hansei.bets.model import Finding
from hansei.retro.contract import Heuristic
from hansei.retro.costs import total
from hansei.retro.heuristics.declined_again import DeclinedAgain
from hansei.retro.heuristics.edit_loop import EditLoop
from hansei.retro.heuristics.missing_here import MissingHere
from hansei.retro.heuristics.recurring_failure import RecurringFailure
from hansei.retro.heuristics.repeated_correction import RepeatedCorrection
from retro_window import Telling, window

HEURISTICS: tuple[Heuristic, ...] = (
    RecurringFailure(),
    MissingHere(),
    RepeatedCorrection(),
    EditLoop(),
    DeclinedAgain(),
)


def migrate(telling: Telling) -> None:
    telling.run("make migrate", "Error: connection to the database was refused", 2)
    telling.run("docker compose up -d db && make migrate")


def missing_script(telling: Telling) -> None:
    telling.run("npm test", 'npm error Missing script: "test"', 1).run("cd web && npm test")


def missing_file(telling: Telling) -> None:
    telling.read("/work/app/src/a.ts", "File does not exist.", failed=True)
    telling.read("/work/app/web/src/a.ts")


def struggle(telling: Telling) -> None:
    for _ in range(4):
        telling.run("pytest -q", "1 failed in 0.1s", 1).edit("/work/app/src/money.py")
    telling.run("pytest -q", "1 passed in 0.1s")


def refused(telling: Telling) -> None:
    telling.refused("git push --force", "The user doesn't want to proceed with this tool use.")


def corrected(telling: Telling) -> None:
    telling.say("Add a limit.").edit("/work/app/src/limit.py").answer("Done.")
    telling.say("No, use the logger, not print.").edit("/work/app/src/limit.py")


def quiet(telling: Telling) -> None:
    telling.run("ls", "src").run("rg -n limit src", "src/a.py:1:limit").answer("Here it is.")


HAPPENINGS = (migrate, missing_script, missing_file, struggle, refused, corrected, quiet)


def telling(happenings: list[Callable[[Telling], None]]) -> Telling:
    told = Telling(tokens=30_000)
    for happening in happenings:
        happening(told)
    return told


SESSION = st.lists(st.sampled_from(HAPPENINGS), max_size=4)


def found(tellings: list[Telling]) -> dict[tuple[str, str], Finding]:
    rows = window(tellings)
    return {(it.name, one.key): one for it in HEURISTICS for one in it.find(rows)}


@pytest.mark.parametrize(("happening", "name"), [
    (migrate, "recurring-failure"),
    (missing_script, "missing-here"),
    (missing_file, "missing-here"),
    (struggle, "edit-loop"),
    (refused, "declined-again"),
    (corrected, "repeated-correction"),
])  # fmt: skip
def test_each_happening_makes_its_bet(happening: Callable[[Telling], None], name: str) -> None:
    assert name in {key[0] for key in found([telling([happening, quiet]) for _ in range(3)])}


@settings(max_examples=25)
@given(SESSION)
def test_one_session_alone_never_makes_a_bet(happenings: list[Callable[[Telling], None]]) -> None:
    assert found([telling(happenings)]) == {}
    assert found([telling([quiet]), telling(happenings), telling([quiet])]) == {}


@settings(max_examples=25)
@given(st.lists(SESSION, min_size=2, max_size=4), SESSION)
def test_more_evidence_never_lowers_what_it_took(
    sessions: list[list[Callable[[Telling], None]]], more: list[Callable[[Telling], None]]
) -> None:
    before = found([telling(it) for it in sessions])
    after = found([telling(it) for it in (*sessions, more)])
    for key, bet in before.items():
        assert (total(after[key].occurrences) or 0) >= (total(bet.occurrences) or 0)


@settings(max_examples=25)
@given(st.lists(SESSION, min_size=2, max_size=4))
def test_the_order_of_sessions_does_not_matter(
    sessions: list[list[Callable[[Telling], None]]],
) -> None:
    before = found([telling(it) for it in sessions])
    after = found([telling(it) for it in reversed(sessions)])
    assert [_told(it) for it in before.values()] == [_told(it) for it in after.values()]


def _told(bet: Finding) -> tuple[object, ...]:
    amounts = sorted(it.tokens or 0 for it in bet.occurrences)
    return bet.key, bet.claim, bet.change, bet.category, amounts


@settings(max_examples=25)
@given(st.lists(SESSION, min_size=2, max_size=4))
def test_no_request_is_counted_twice_in_a_bet(
    sessions: list[list[Callable[[Telling], None]]],
) -> None:
    tellings = [telling(it) for it in sessions]
    rows = window(tellings)
    spent = sum(it.tokens or 0 for _, it in rows.asked)
    for bet in found(tellings).values():
        assert (total(bet.occurrences) or 0) <= spent
