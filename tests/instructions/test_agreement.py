"""Sentences that say the same or the opposite."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hansei.instructions.agreement import Agreement, agreement, compared
from hansei.instructions.sentences import parts
from hansei.instructions.statements import Place, Statement, read, statements
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
    ("one", "other", "how"),
    [
        ("Line length is 88.", "Line length: 100", Agreement.NUMBERS),
        ("Set the line length to 88", "Set the line length to 100", Agreement.NUMBERS),
        ("Use Python 3.11.", "Use Python 3.12", Agreement.NUMBERS),
        (
            "Coverage must be at least 80% here",
            "Coverage must be at least 90% here",
            Agreement.NUMBERS,
        ),
        ("Use npm.", "Use pnpm.", Agreement.RIVALS),
        ("Run `npm test` before a push.", "Run `pnpm test` before a push", Agreement.RIVALS),
        ("Use uv for dependencies", "Use poetry for dependencies", Agreement.RIVALS),
        ("Use X, not Y.", "Use Y, not X.", Agreement.OPPOSITE),
        ("Prefer tabs over spaces.", "Prefer spaces over tabs.", Agreement.OPPOSITE),
        (
            "`schema.sql` must never be edited by hand",
            "Edit `schema.sql` by hand",
            Agreement.OPPOSITE,
        ),
        ("Use `got` for calls", "Use `ky` for calls, never `got`.", Agreement.OPPOSITE),
    ],
)
def test_the_kind_of_a_conflict_is_told(one: str, other: str, how: Agreement) -> None:
    first, second = read(one, "AGENTS.md", 1), read(other, "CLAUDE.md", 9)
    assert agreement(first, second) is agreement(second, first) is how


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use pnpm, not npm.", "Never use npm."),
        ("Run `make test` before you push.", "Do not run `make test` in packages/api."),
        ("Never edit generated files.", "Edit the schema, then generate files."),
        ("Write tests.", "Never write secrets."),
        ("Commit only when asked.", "Never commit unless asked."),
        ("Never commit.", "Commit after each task."),
        ("If tests fail, do not push.", "Always push."),
        ("Use X so that you never need Y.", "Use X so that you need Y."),
        ("These must never create issues.", "These must always create issues."),
        ("The server does not run migrations.", "Run migrations on the server."),
        ("Rust: use 4 spaces of indent", "Ruby: use 2 spaces of indent"),
        ("Test scenario 1: many users", "Test scenario 2: many users"),
        ("Use port 3000", "Use port 8080"),
        ("Ask the user:", "Never ask the user."),
        ("Ask the user.", "Don't just ask the user."),
        ("Use Python 3.11 or newer", "Use Python 3.12"),
        ("Use npm or pnpm to install it.", "Use pnpm to install it."),
        ("Work is not complete until `git push` succeeds.", "Work is complete."),
    ],
)
def test_what_can_both_be_followed_does_not_contradict(one: str, other: str) -> None:
    told = agreement(read(one, "AGENTS.md", 1), read(other, "CLAUDE.md", 9))
    assert told is None or not told.is_conflict


NEVER, ALWAYS = "Never use `any` in a type.", "Use `any` in a type."


@pytest.mark.parametrize(
    ("one", "other", "conflict"),
    [
        (Place(), Place(), True),
        (Place(), Place(skill="types"), True),
        (Place(skill="types"), Place(skill="types"), True),
        (Place("web"), Place("api"), False),
        (Place(), Place("legacy"), False),  # what is nearer is meant to differ
        (Place(files="*.ts"), Place(files="*.py"), False),
    ],
)
def test_what_is_scoped_to_one_place_does_not_conflict_elsewhere(
    one: Place, other: Place, conflict: bool
) -> None:
    found = compared([read(NEVER, "a.md", 1, one), read(ALWAYS, "b.md", 1, other)])
    assert bool(found.conflicts) is conflict


def test_two_skills_conflict_only_over_the_same_code() -> None:
    one, other = Place(skill="agents"), Place(skill="skills")
    vague = compared([read("Write in the second person.", "a", 1, one),
                      read("Never write in the second person.", "b", 1, other)])  # fmt: skip
    assert vague.conflicts == ()
    named = compared([read("Run `make up` first.", "a", 1, one),
                      read("Never run `make up` first.", "b", 1, other)])  # fmt: skip
    assert len(named.conflicts) == 1


def test_opposites_are_never_duplicates() -> None:
    for word in ("Never", "Do not", "Avoid"):
        found = compared(said(f"{word} run the unit tests with `make test` before you push.",
                              "Run the unit tests with `make test` before you push."))  # fmt: skip
        assert found.same == ()


@pytest.mark.parametrize("lead", ["## Don'ts", "## Anti-patterns", "Avoid:"])
def test_items_of_a_list_of_what_not_to_do_are_forbidden(lead: str) -> None:
    text = f"{lead}\n\n- Use `print` for logging in the server.\n"
    here = [*statements("a.md", text), read("Use `print` for logging in the server.", "b.md", 1)]
    assert [it.how for it in compared(here).conflicts] == [Agreement.OPPOSITE]


def test_the_same_words_as_items_of_two_things_are_not_the_same() -> None:
    text = (
        "- `GET /a`\n  - Validate the query params and return an error page.\n"
        "- `GET /b`\n  - Validate the query params and return an error page.\n"
    )
    assert compared(list(statements("a.md", text))).same == ()


def test_the_same_advice_about_two_things_is_not_the_same() -> None:
    one = "Opus — set the budget of the thinking block to `auto`."
    other = "Haiku and all that are older — set the budget of the thinking block to `auto`."
    assert compared(said(one, other)).same == ()


def test_a_step_that_a_skill_repeats_is_not_said_twice() -> None:
    step, place = "Wait for the answer of the person before you go on.", Place(skill="asking")
    assert compared([read(step, "SKILL.md", line, place) for line in (9, 40)]).same == ()


def test_rows_of_figures_are_no_numbers_for_the_same_thing() -> None:
    text = "- 25% → `min + 0.25`\n- 50% → `min + 0.50`\n- 75% → `min + 0.75`\n"
    assert compared(list(statements("a.md", text))).conflicts == ()


def test_where_each_has_a_word_of_its_own_they_speak_of_two_things() -> None:
    one = "Add staff of the north gym in the settings page before the first lesson."
    assert compared(said(one, one.replace("north", "south"))).same == ()
    assert len(compared(said(one, one.replace(" north", ""))).same) == 1


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
