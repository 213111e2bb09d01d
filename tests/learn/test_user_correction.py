"""What a person told an agent to do differently, and what then worked."""

from __future__ import annotations

from hansei.learn.detectors.user_correction import UserCorrection
from hansei.learn.model import Label
from learn_window import found
from retro_window import ROOT, Telling


def corrected(said: str, then: str, code: int = 0) -> Telling:
    telling = Telling().say("Build it for the harbour.")
    telling.run("npm run build", "Error: no such target", 1).answer("It does not build.")
    return telling.say(said).run(then, "", code)


def test_a_correction_that_worked_is_kept_with_the_command() -> None:
    telling = corrected("no, try npm run build:prod instead", "npm run build:prod")
    (offer,) = found(UserCorrection(), telling)
    assert offer.name == "user-correction-npm-run-build-prod"
    assert "| `npm run build` | `npm run build:prod` |" in offer.body
    assert offer.commands == ("npm run build:prod",)
    assert offer.label is Label.TYPED


def test_what_did_not_work_or_does_something_else_is_none() -> None:
    failed = corrected("no, try npm run build:prod instead", "npm run build:prod", 1)
    other = corrected("no, try npm run build:prod instead", "make release")
    assert found(UserCorrection(), failed) == []
    assert found(UserCorrection(), other) == []


def test_what_overwrites_work_is_kept_only_where_the_person_named_it_and_says_what_to_mind() -> (
    None
):
    up = "rclone sync berths north:/berths"
    down = "rclone sync north:/berths berths"
    telling = corrected("no, use rclone to sync the berths instead", down).run(up)
    (offer,) = found(UserCorrection(), telling)
    assert offer.commands == (up,)
    assert "### Caution" in offer.body
    (alone,) = found(UserCorrection(), corrected("no, use rclone to sync instead", down))
    assert alone.commands == (down,)
    assert "work here may not be saved" in alone.body
    assert found(UserCorrection(), corrected("no, copy berths over with sync", down)) == []


def test_a_word_that_stands_in_a_sentence_by_chance_is_no_correction() -> None:
    telling = Telling().say("now show me the plan, it is different").run("npm run plan")
    assert found(UserCorrection(), telling) == []


def test_what_two_sessions_were_told_is_kept_in_the_persons_words() -> None:
    def told() -> Telling:
        telling = Telling().say("Add a limit.").edit(f"{ROOT}/src/limit.py").answer("Done.")
        return telling.say("No, use the logger, not print.").edit(f"{ROOT}/src/limit.py")

    assert found(UserCorrection(), told()) == []
    (offer,) = found(UserCorrection(), told(), told())
    assert offer.sessions == 2
    assert "use the logger, not print." in offer.body
    assert offer.name == "user-correction-logger-print"
