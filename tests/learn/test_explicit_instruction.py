"""What people ask to keep."""

from __future__ import annotations

import pytest

from hansei.learn.detectors.explicit_instruction import ExplicitInstruction, asked, named
from hansei.learn.model import Label
from learn_window import found
from retro_window import ROOT, Telling


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("save this docker-compose setup as docker-dev", "docker-dev"),
        ("Please remember this as quay release.", "quay-release"),
        ("create a skill about database migrations", "database-migrations"),
        (
            "Can you make a skill to run tests and check linting yourself?",
            "run-tests-check-linting",
        ),
        (
            "Great. Now save this as a skill called berth-import so we can use it again.",
            "berth-import",
        ),
        ("add a skill for the nightly report", "nightly-report"),
    ],
)
def test_the_name_is_taken_from_the_sentence(said: str, name: str) -> None:
    (offer,) = found(ExplicitInstruction(), Telling().run("quay up --all").say(said))
    assert offer.name == name
    assert offer.label is Label.TYPED


@pytest.mark.parametrize(
    "said",
    [
        "I remember it was broken yesterday",
        "save this file as report.csv",
        "Save that image to disk",
        "use the skill that you have",
        "do you remember that one?",
        "npx skills add https://example.org/skills --skill mcp-builder",
        "the readme says: save this to config.toml",
        "What skills do you have?",
    ],
)
def test_telling_and_saving_files_are_not_asking(said: str) -> None:
    assert asked(said) is None
    assert found(ExplicitInstruction(), Telling().run("quay up --all").say(said)) == []


def test_this_is_what_was_done_before() -> None:
    telling = Telling().say("start it").run("ls").run("quay up --all").run("quay check north")
    telling.say("save this as quay-up").run("quay down")
    (offer,) = found(ExplicitInstruction(), telling)
    assert offer.commands == ("quay up --all", "quay check north")


def test_something_new_is_what_follows() -> None:
    telling = Telling().say("start it").run("quay up --all").say("make a skill about linting")
    (offer,) = found(ExplicitInstruction(), telling.run("quay lint --strict"))
    assert offer.commands == ("quay lint --strict",)


def test_what_the_agent_wrote_down_itself_is_not_offered_again() -> None:
    telling = Telling().run("quay up --all").say("save this as a skill called quay-up")
    assert (
        found(ExplicitInstruction(), telling.edit(f"{ROOT}/.claude/skills/quay-up/SKILL.md")) == []
    )


def test_a_sentence_without_a_name_gives_its_first_words() -> None:
    assert named("save this") == "user-skill"
    assert named("remember this: restart the worker first") == "restart worker first"
