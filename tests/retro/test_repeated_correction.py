"""What people have to say again and again, as an instruction in their words."""

from __future__ import annotations

import pytest

from hansei.bets.model import Finding
from hansei.events.model import Driver
from hansei.projection.corrections.rules import instruction
from hansei.retro.heuristics.repeated_correction import RepeatedCorrection
from retro_window import Telling, narrowed, window


def found(*tellings: Telling) -> list[Finding]:
    return list(RepeatedCorrection().find(window(tellings)))


def corrected(words: str, driver: Driver = Driver.HUMAN) -> Telling:
    return (
        Telling(driver)
        .say("Add a limit.")
        .edit("/work/app/src/limit.py")
        .read("/work/app/src/limit.py")
        .answer("Done.")
        .say(words)
        .answer("Sorry.")
        .edit("/work/app/src/limit.py")
        .run("git status")
    )


def test_the_same_words_in_two_sessions_are_a_line() -> None:
    words = "No, use the logger, not print."
    (bet,) = found(corrected(words), corrected(words))
    assert bet.change.text == "use the logger, not print."
    assert bet.claim == "People keep telling agents: “No, use the logger, not print.”"


def test_requests_from_the_wrong_edit_to_the_next_call_are_counted() -> None:
    words = "No, use the logger, not print."
    (bet,) = found(corrected(words), corrected(words))
    # The read, "Done.", "Sorry." and the second edit.
    assert [it.tokens for it in bet.occurrences] == [80_000, 80_000]


def test_one_session_is_not_enough_and_programs_are_no_people() -> None:
    words = "No, use the logger, not print."
    assert found(corrected(words)) == []
    assert found(corrected(words, Driver.AUTOMATED), corrected(words, Driver.SUBAGENT)) == []


def test_the_name_of_a_correction_does_not_depend_on_where_the_window_begins() -> None:
    said = ["No, use the logger, not print!", *2 * ["No, use the logger, not print, please."]]
    whole = window([corrected(it) for it in said])
    (bet,) = RepeatedCorrection().find(whole)
    (later,) = RepeatedCorrection().find(narrowed(whole, {2, 3}))
    assert later.key == bet.key
    assert {it.session for it in later.occurrences} == {2, 3}
    assert later.because[0] == "typed in 2 sessions"


def test_opposite_words_are_never_one_line() -> None:
    assert found(corrected("No, use tabs here."), corrected("No, don't use tabs here.")) == []


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("no, please use uv run pytest", "use uv run pytest."),
        ("I already told you to keep the names", "keep the names."),
        ("You should run the tests first!", "run the tests first."),
        ("No print statements here, use the logger.", "No print statements here, use the logger."),
        ("don't touch the migrations again", "don't touch the migrations."),
        ("you used print again. we log through app.log, always", "we log through app.log, always."),
        (
            "that breaks the old clients",
            "People had to say: “that breaks the old clients”. Do not make them say it again.",
        ),
        ("no, wrong", None),
        ("stop", None),
    ],
)
def test_what_only_answers_the_agent_is_taken_off(said: str, line: str | None) -> None:
    assert instruction(said) == line


def test_an_instruction_is_one_short_line() -> None:
    line = instruction("use the \x1b[31mlogger\n\nand not " + "print " * 200)
    assert line is not None
    assert len(line) <= 200
    assert line.isprintable()
