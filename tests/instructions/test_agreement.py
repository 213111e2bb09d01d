"""Sentences that say the same or the opposite."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hansei.instructions.agreement import compared
from hansei.instructions.sentences import parts
from hansei.instructions.statements import Statement, read, statements
from instruction_files import files


def said(*texts: str) -> list[Statement]:
    return [read(text, "AGENTS.md", number) for number, text in enumerate(texts, 1)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Always run `make lint` before a commit.", "Never run `make lint` before a commit"),
        ("Use pnpm.", "Don't use pnpm."),
        ("Use tabs for indentation", "Avoid using tabs for indentation."),
        ("Use npm for installs.", "Use pnpm instead of npm for installs."),
        ("Use pnpm, not npm.", "Use npm."),
        ("Commit directly to main.", "You must not commit directly to main!"),
        ("Do write docstrings.", "Do not write docstrings."),
    ],
)
def test_a_sentence_that_forbids_what_another_asks_for_contradicts_it(one: str, other: str) -> None:
    assert len(compared(said(one, other)).conflicts) == 1
    assert len(compared(said(other, one)).conflicts) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use pnpm, not npm.", "Never use npm."),
        ("Run `make test` before you push.", "Do not run `make test` in packages/api."),
        ("Never edit generated files.", "Edit the schema, then generate files."),
        ("Write tests.", "Never write secrets."),
    ],
)
def test_what_can_both_be_followed_does_not_contradict(one: str, other: str) -> None:
    assert compared(said(one, other)).conflicts == ()


def test_nearly_the_same_sentence_counts_as_the_same() -> None:
    found = compared(
        said(
            "Always run the unit tests with `make test` before you push.",
            "Run the unit test with `make test` before you push!",
            "Deploy with `make ship`.",
        )
    )
    assert [[it.line for it in group] for group in found.same] == [[1, 2]]
    assert found.conflicts == ()


def test_short_phrases_headings_tables_and_code_are_not_compared() -> None:
    same = "run the unit tests now"
    text = f"# {same}\n\n| {same} | x |\n\n```\n{same}\n```\nBe kind.\n"
    assert compared([*statements("a.md", text), *statements("b.md", text)]).same == ()


def test_a_sentence_is_named_by_the_line_it_begins_at() -> None:
    text = "Intro.\n\n- First thing. Second\n  thing here.\n- Third\n"
    assert [(it.line, it.text) for it in statements("a.md", text)] == [
        (1, "Intro."),
        (3, "First thing."),
        (3, "Second thing here."),
        (5, "Third"),
    ]


@given(files())
def test_parts_hold_every_word_once_and_in_order(text: str) -> None:
    found = parts(text)
    assert " ".join(it.text for it in found).split() == text.split()
    assert [it.line for it in found] == sorted({it.line for it in found})


@given(st.lists(st.sampled_from(["Use pnpm.", "Never use pnpm.", "a b c d e f", "f e d c b a"])))
def test_the_order_of_files_does_not_change_what_is_found(texts: list[str]) -> None:
    one, other = compared(said(*texts)), compared(said(*texts[::-1]))
    assert len(one.same) == len(other.same)
    assert bool(one.conflicts) == bool(other.conflicts)


def test_a_great_many_sentences_take_no_time() -> None:
    many = said(*(f"Keep module{n} apart from module{n + 1} in layer{n % 7}" for n in range(5000)))
    began = time.process_time()
    compared([*many, *many])
    assert time.process_time() - began < 5
