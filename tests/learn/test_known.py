"""What is said already is not offered again."""

from __future__ import annotations

import pytest

from hansei.learn.known import Known, Written
from hansei.learn.model import Evidence, Offer, Skill, State

STEPS = ("make fmt", "make check", "git commit -m 'tidy'")


def offer(
    *commands: str, key: str = "k1", description: str = "Before a commit", body: str = ""
) -> Offer:
    return Offer(
        "multi-step", "before-a-commit", description, body, commands, (Evidence("s1", 4),), key=key
    )


def skill(body: str = "", key: str = "", state: State = State.DRAFT) -> Skill:
    return Skill(
        name="commits", description="How commits are made", body=body, key=key, state=state
    )


def file(text: str) -> Known:
    return Known((), [Written("AGENTS.md", text)])


def test_nothing_is_known_where_nothing_is_said() -> None:
    assert Known((), ()).where(offer(*STEPS)) is None
    assert Known([skill()], [Written("AGENTS.md", "")]).where(offer()) is None


@pytest.mark.parametrize("state", State)
def test_a_skill_with_the_same_key_is_known_whatever_became_of_it(state: State) -> None:
    known = Known([skill(key="k1", state=state)], ())
    assert known.where(offer(*STEPS)) == "skill commits"
    assert known.where(offer(*STEPS, key="k2")) is None


def test_offers_without_a_key_are_not_the_same_for_that() -> None:
    assert Known([skill(key="")], ()).where(offer(*STEPS, key="")) is None


def test_a_text_that_holds_every_command_says_it() -> None:
    body = "".join(f"{number}. {it}\n" for number, it in enumerate(STEPS, 1))
    assert Known([skill(body)], ()).where(offer(*STEPS)) == "skill commits"
    assert file("Run `make fmt`, then\n`make  check`.").where(offer(*STEPS[:2])) == "AGENTS.md"
    assert file("Run `make fmt` first.").where(offer(*STEPS[:2])) is None


def test_a_command_is_not_part_of_another() -> None:
    assert file("Run make check-all, remake checks").where(offer("make check")) is None
    assert file("Run make check.").where(offer("make check")) == "AGENTS.md"


def test_a_slot_stands_for_any_word() -> None:
    wanted = offer("git switch <branch> && make check")
    assert file("Then `git switch main && make check`.").where(wanted) == "AGENTS.md"
    assert file("Then `git switch <name> && make check`.").where(wanted) == "AGENTS.md"
    assert file("Then `git switch && make check`.").where(wanted) is None


def test_a_command_of_one_word_has_to_stand_alone() -> None:
    assert file("The make files lie in build.").where(offer("make")) is None
    assert file("Type `make` to build.").where(offer("make")) == "AGENTS.md"
    assert file("```\nmake\n```").where(offer("make")) == "AGENTS.md"


def test_a_sentence_that_says_the_same_says_it() -> None:
    wanted = offer(description="Always install packages with pnpm in the web folder.")
    assert file("- Install packages in the web folder with pnpm").where(wanted) == "AGENTS.md"
    assert file("- Never install packages in the web folder with pnpm").where(wanted) is None
    assert file("- Install packages with apt").where(wanted) is None


def rule(text: str) -> Offer:
    body = f"People said it in 2 sessions, and had to say it.\n\n### Rule\n- {text}\n"
    return offer(description=f"What people had to tell agents here: {text}", body=body, key=text)


def test_of_an_offer_without_commands_its_items_are_compared() -> None:
    wanted = rule("Write the tests before the code changes.")
    assert file("Write tests before code changes.").where(wanted) == "AGENTS.md"
    assert file("Write tests after code changes.").where(wanted) is None


def test_two_offers_of_one_kind_are_not_the_same_for_the_words_around() -> None:
    one, other = rule("Keep the changelog short and plain."), rule("Call tables by plural nouns.")
    kept = Skill("short", one.description, one.body, key=one.key)
    assert Known([kept], ()).where(other) is None
    long = "Procedure in 3 steps; use it after files changed instead of working it out anew."
    steps = Skill("steps", long, "1. `make a b`\n", key="x")
    assert Known([steps], ()).where(offer("make c d", description=long)) is None


def test_a_command_is_said_where_only_the_files_behind_it_differ() -> None:
    known = file("Tests: `uv run pytest -q`.")
    assert known.where(offer("uv run pytest -q tests/test_a.py")) == "AGENTS.md"
    assert known.where(offer("uv run pytest -q <file>")) == "AGENTS.md"
    assert known.where(offer("uv run pytest -q --lf tests/test_a.py")) is None
    assert known.where(offer("pytest -q tests/test_a.py")) is None
