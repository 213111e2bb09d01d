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
from happenings import (
    HAPPENINGS,
    corrected,
    migrate,
    missing_file,
    missing_script,
    quiet,
    refused,
    struggle,
    telling,
)
from retro_window import Telling, window

HEURISTICS: tuple[Heuristic, ...] = (
    RecurringFailure(),
    MissingHere(),
    RepeatedCorrection(),
    EditLoop(),
    DeclinedAgain(),
)


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
