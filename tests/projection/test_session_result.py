"""The labels of a session, and what they rest on."""

from __future__ import annotations

from hansei.events.model import Status
from hansei.projection.outcomes import (
    Broke,
    By,
    Fate,
    Label,
    Later,
    Outcome,
    Run,
    broke,
    session_result,
    turns,
)


def row(seq: int, fate: Fate, reason: str = "") -> Outcome:
    return Outcome(seq, 0, "a.py", fate, reason, 3)


def labels(*rows: Outcome) -> list[Label]:
    return [result.label for result in session_result(rows)]


def test_a_session_without_edits_wrote_nothing() -> None:
    assert labels() == [Label.WROTE_NOTHING]


def test_what_the_session_wrote_over_does_not_count_against_it() -> None:
    assert labels(row(1, Fate.REPLACED), row(2, Fate.LANDED)) == [Label.LANDED]
    assert labels(row(1, Fate.NOT_COMMITTED), row(2, Fate.LANDED)) == [Label.PARTLY_LANDED]


def test_nothing_known_is_unknown_with_its_reasons() -> None:
    (result,) = session_result([row(4, Fate.UNKNOWN, "its repository is not on this machine")])
    assert result == (Label.UNKNOWN, "its repository is not on this machine", (4,))


def test_what_did_not_land_is_said_with_its_evidence() -> None:
    (result,) = session_result([row(4, Fate.NOT_COMMITTED), row(6, Fate.TAKEN_BACK)])
    assert (result.label, result.evidence) == (Label.NOT_COMMITTED, (4,))
    assert labels(row(6, Fate.TAKEN_BACK)) == [Label.TAKEN_BACK]
    assert labels(row(6, Fate.WAITING)) == [Label.WAITING]


def test_work_can_land_and_be_reverted_or_reworked() -> None:
    landed = row(1, Fate.LANDED)
    reverted = landed._replace(later=Later.REVERTED, later_commit="c" * 40)
    reworked = landed._replace(later=Later.REWORKED, later_commit="d" * 40, later_by=By.PERSON)
    assert labels(reverted, reworked) == [Label.LANDED, Label.REVERTED, Label.REWORKED]


def test_tests_turn_green_and_red_with_the_edits_in_between() -> None:
    runs = [
        Run("pytest", 2, Status.FAILED),
        Run("pytest", 4, Status.UNKNOWN),
        Run("pytest", 6, Status.OK),
        Run("ruff check", 7, Status.OK),
        Run("pytest", 9, Status.FAILED),
    ]
    green, red = turns(runs, edits=[1, 3, 5, 8])
    assert (green.green, green.before, green.seq, green.edits) == (True, 2, 6, (3, 5))
    assert (red.green, red.edits) == (False, (8,))
    assert broke(runs, edits=[1, 3, 5, 8]) == [Broke(8, 9, "pytest", None)]
    results = session_result([row(8, Fate.LANDED)], [green, red])
    assert [it.label for it in results] == [Label.LANDED, Label.TESTS_TURNED_RED]


def test_an_edit_for_one_test_that_turns_another_red_is_named_with_both() -> None:
    runs = [
        Run("pytest tests/a.py", 1, Status.FAILED),
        Run("pytest tests/b.py", 2, Status.OK),
        Run("pytest tests/a.py", 4, Status.OK),
        Run("pytest tests/b.py", 5, Status.FAILED),
    ]
    assert broke(runs, edits=[3]) == [Broke(3, 5, "pytest tests/b.py", "pytest tests/a.py")]
    assert broke(runs, edits=[3, 4]) == []
