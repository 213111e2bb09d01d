"""What people have to say again and again, as an instruction in their words."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from hansei.bets.counting import Frame
from hansei.bets.model import Finding
from hansei.bets.recurring import Fact
from hansei.config import DAY_MS
from hansei.events.model import Driver
from hansei.events.reviews import Review
from hansei.experiments.metrics.recurrence import recurrences
from hansei.projection.corrections.rules import instruction
from hansei.projection.window import EARLIER, EVERY_HUNK, REVIEWS, Window
from hansei.retro.heuristics.repeated_correction import RepeatedCorrection
from hansei.retro.retro import look_back
from people_world import People
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


# --- said in review -------------------------------------------------------------------------------


def review(name: str, text: str, session: int) -> Review:
    """A remark on the line that a session wrote."""
    return Review(
        seq=None, source="github", id=name, thread=None, author="ada", bot=False,
        path=f"src/m{session}.py", line=1, at=None, revision=None, text=text,
        hunk=(f"total_{session} = amount * {session}00",),
    )  # fmt: skip


def reviewed(*remarks: Review, sessions: int = 3) -> Window:
    """Sessions that each wrote a line, and what people said about some."""
    people = People()
    for number in range(1, sessions + 1):
        people.session({f"src/m{number}.py": f"total_{number} = amount * {number}00\n"})
    found = people.window()
    found._rows[REVIEWS] = list(remarks)
    found._rows[EVERY_HUNK] = found.hunks
    found._rows[EARLIER] = []
    return found


WANTED = "Please name the unit in variables, for example amount_cents."


def test_the_same_remark_in_two_reviews_is_a_line_without_tokens() -> None:
    whole = reviewed(review("a", WANTED, 1), review("b", f"Nice!\nnit: {WANTED}", 3))
    (bet,) = RepeatedCorrection().find(whole)
    assert bet.change.text == "name the unit in variables, for example amount_cents."
    assert bet.claim.startswith("People keep saying in review of what agents wrote: “Please name")
    assert bet.because == ("said in review of lines that 2 sessions wrote",)
    assert [(it.session, it.tokens) for it in bet.occurrences] == [(1, None), (3, None)]
    (counted,) = look_back(
        whole, Frame("w", {1: DAY_MS, 2: DAY_MS, 3: DAY_MS}), len, [RepeatedCorrection()]
    )
    assert (counted.sessions, counted.of_sessions, counted.net) == (2, 3, None)


@pytest.mark.parametrize(
    "more",
    [
        {"bot": True},
        {"thread": "a"},
        {"hunk": ("nobody here wrote this line",)},
        {"text": "Looks good to me, thank you."},
        {"text": "Why is this needed here at all?"},
        {"path": None},
    ],
)
def test_programs_answers_praise_and_lines_of_others_are_left_out(more: dict[str, Any]) -> None:
    told = [review(name, WANTED, at)._replace(**more) for name, at in (("b", 1), ("c", 3))]
    assert list(RepeatedCorrection().find(reviewed(*told))) == []


def test_two_remarks_on_one_edit_are_both_heard() -> None:
    other = "Use the clock that is passed in, not time.time()."
    told = [review("a", WANTED, 1), review("b", other, 1), review("c", other, 2)]
    (bet,) = RepeatedCorrection().find(reviewed(*told))
    assert bet.change.text == "Use the clock that is passed in, not time.time()."


def test_what_is_typed_once_and_said_in_review_once_is_one_bet() -> None:
    whole = window([corrected("No, use the logger, not print."), corrected("fine")])
    people = reviewed(review("a", "Please use the logger, not print!", 1))
    whole._rows[REVIEWS] = people.reviews
    whole._rows[EVERY_HUNK] = [it._replace(session=2) for it in people.hunks[:1]]
    (bet,) = RepeatedCorrection().find(whole)
    assert bet.because[:2] == ("typed in 1 session", "said in review of lines that 1 session wrote")
    seen = recurrences(whole, Fact.CORRECTIONS, bet.key)
    assert seen is not None
    assert seen.hits == {1: 1, 2: 1}


def test_planted_remarks_are_found_and_single_ones_are_not() -> None:
    right = wrong = 0
    for number in range(20):
        dice = Random(number)
        told = [
            review(f"x{at}", f"Please rename thing {dice.random()} to part {dice.random()}.", at)
            for at in range(1, 9)
        ]
        places = dice.sample(range(1, 13), dice.randrange(2, 5))
        told += [review(f"y{at}", dice.choice([WANTED, f"nit: {WANTED}"]), at) for at in places]
        found = list(RepeatedCorrection().find(reviewed(*told, sessions=12)))
        hits = [it for it in found if "unit" in it.change.text]
        right += [it.session for one in hits for it in one.occurrences] == sorted(places)
        wrong += len(found) - len(hits)
    assert right >= 0.95 * 20
    assert right >= 0.9 * (right + wrong)
