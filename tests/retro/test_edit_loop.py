"""One file that is edited and fails, edited and fails."""

from __future__ import annotations

from hansei.bets.model import Category, Finding
from hansei.retro.heuristics.edit_loop import EditLoop
from retro_window import Telling, window

PATH = "/work/app/src/money.py"


def found(*tellings: Telling) -> list[Finding]:
    return list(EditLoop().find(window(tellings)))


def loop(rounds: int, *, end: bool = True, path: str = PATH) -> Telling:
    telling = Telling().run("pytest -q", "1 failed in 0.1s", 1)
    for _ in range(rounds):
        telling.edit(path).run("pytest -q", "1 failed in 0.1s", 1)
    return telling.edit(path).run("pytest -q", "1 passed in 0.1s") if end else telling


def test_two_sessions_of_two_rounds_are_a_brief_about_the_file() -> None:
    (bet,) = found(loop(2), loop(3))
    assert bet.claim == "Agents edit `src/money.py` and fail `pytest -q` over and over"
    assert bet.category is Category.INVESTIGATE
    assert bet.because == ("5 failed rounds in 2 sessions", "the longest took 3 rounds")


def test_what_follows_the_second_failure_is_counted() -> None:
    (bet,) = found(loop(2), loop(2, end=False))
    assert [it.tokens for it in bet.occurrences] == [80_000, 40_000]


def test_a_failure_and_one_more_are_how_software_is_written() -> None:
    assert found(loop(1), loop(1), loop(1)) == []


def test_one_session_may_have_been_a_bad_day() -> None:
    assert found(loop(9)) == []


def test_loops_of_different_files_are_different() -> None:
    assert found(loop(3), loop(3, path="/work/app/src/clock.py")) == []


def test_a_success_in_between_ends_a_loop() -> None:
    telling = Telling()
    for _ in range(5):
        telling.run("pytest -q", "1 failed in 0.1s", 1).edit(PATH)
        telling.run("pytest -q", "1 passed in 0.1s")
    assert found(telling, telling) == []
