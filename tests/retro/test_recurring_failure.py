"""The same failure again and again, and what is known to end it."""

from __future__ import annotations

import pytest

from hansei.bets.model import Category, Design, Finding
from hansei.retro.heuristics.recurring_failure import RecurringFailure
from retro_window import Telling, window

REFUSED = "psycopg.OperationalError: connection to server failed: Connection refused"


def found(*tellings: Telling) -> list[Finding]:
    return list(RecurringFailure().find(window(tellings)))


def test_what_was_run_first_is_what_to_run_first() -> None:
    one = Telling().run("make migrate", REFUSED, 2).run("docker compose up -d db && make migrate")
    two = Telling().run("make migrate", REFUSED, 2).run("docker compose up -d db && make migrate")
    (bet,) = found(one, two)
    assert bet.claim == "`make migrate` fails here until `docker compose up -d db` has run"
    assert bet.change.text == "Before `make migrate`, run `docker compose up -d db`."
    assert bet.category is Category.FIX


def test_what_was_run_in_between_counts_where_the_command_stayed_the_same() -> None:
    told = [
        Telling()
        .run("make migrate", REFUSED, 2)
        .run("cat compose.yaml", "db")
        .run("docker compose up -d db", "Started")
        .run("make migrate")
        for _ in range(2)
    ]
    (bet,) = found(*told)
    assert bet.change.text == "Before `make migrate`, run `docker compose up -d db`."
    assert [it.tokens for it in bet.occurrences] == [60_000, 60_000]


def test_the_folder_is_named_where_only_the_folder_differs() -> None:
    failing = "Error: no tests were found"
    told = [
        Telling().run("npm run check", failing, 1).run("cd web && npm run check") for _ in range(2)
    ]
    (bet,) = found(*told)
    assert bet.claim == "`npm run check` works only in `web/`"
    assert bet.change.text == "Run `npm run check` in `web/`, nowhere else."


def test_what_has_to_stand_before_the_program_is_named() -> None:
    failing = "Error: DATABASE_URL is not set"
    told = [
        Telling().run("ruff check src", failing, 1).run("uv run ruff check src") for _ in range(2)
    ]
    (bet,) = found(*told)
    assert bet.claim == "`ruff check src` fails here without `uv run`"
    assert bet.fix == "uv run ruff check src"


def test_another_try_of_the_same_is_told_as_such_and_left_to_a_person() -> None:
    failing = "Error: the port is busy for a while"
    told = [
        Telling(tokens=60_000).run("make serve", failing, 1).run("make serve") for _ in range(3)
    ]
    (bet,) = found(*told)
    assert "fails and then works unchanged" in bet.claim
    assert bet.category is Category.INVESTIGATE
    assert bet.change.design is Design.BRIEF


def test_a_file_that_had_to_be_edited_each_time_is_named() -> None:
    failing = "src/a.py:1: error: Name 'x' is not defined"
    told = [
        Telling(tokens=60_000)
        .run("mypy src", failing, 1)
        .edit("/work/app/src/types.py")
        .run("mypy src", "Success: no issues found in 1 source file")
        for _ in range(3)
    ]
    (bet,) = found(*told)
    assert bet.claim == "`mypy src` fails until `src/types.py` is edited, again and again"


def test_what_nothing_is_known_to_end_is_a_bet_only_where_it_takes_enough() -> None:
    def told(tokens: int) -> list[Telling]:
        return [
            Telling(tokens=tokens)
            .run("make deploy", "Error: quota exceeded", 1)
            .run("make deploy", "Error: quota exceeded", 1)
            for _ in range(3)
        ]

    assert found(*told(2_000)) == []
    (bet,) = found(*told(50_000))
    assert bet.category is Category.INVESTIGATE
    assert "none of 3 times" in bet.because[1]


@pytest.mark.parametrize(("tokens", "bets"), [(60_000, 0), (150_000, 1)])
def test_two_sessions_without_a_known_fix_are_chance_unless_they_took_a_lot(
    tokens: int, bets: int
) -> None:
    told = [
        Telling(tokens=tokens)
        .run("make deploy", "Error: quota exceeded", 1)
        .run("make deploy", "Error: quota exceeded", 1)
        for _ in range(2)
    ]
    assert [it.change.design for it in found(*told)] == [Design.BRIEF] * bets


def test_a_line_that_says_nothing_makes_no_bet() -> None:
    told = [
        Telling(tokens=900_000).run("make all", "", 2).run("make clean && make all")
        for _ in range(4)
    ]
    assert found(*told) == []


def test_what_got_past_another_failure_is_not_taken_for_the_fix() -> None:
    told = [
        Telling()
        .run("make migrate", REFUSED, 2)
        .run("make migrate", "Error: the schema is newer", 2)
        .run("make migrate FORCE=1")
        for _ in range(3)
    ]
    assert [it.key for it in found(*told) if "refused" in it.key.lower()] == []


def test_a_session_and_its_subagents_are_one_task() -> None:
    def told(parent: int | None) -> Telling:
        failing = Telling(parent=parent).run("make migrate", REFUSED, 2)
        return failing.run("docker compose up -d db && make migrate")

    assert found(told(None), told(1), told(1)) == []
    assert len(found(told(None), told(1), told(None))) == 1


def test_what_is_met_afresh_after_other_work_is_not_billed_for_that_work() -> None:
    def told() -> Telling:
        telling = Telling().run("make migrate", REFUSED, 2)
        for name in ("one", "two", "three"):
            telling.run(f"cat src/{name}.py", "text")
        return telling.run("make migrate", REFUSED, 2).run(
            "docker compose up -d db && make migrate"
        )

    (bet,) = found(told(), told())
    assert len(bet.occurrences) == 4
    assert sum(it.tokens or 0 for it in bet.occurrences) < 60_000


def test_another_program_that_succeeds_after_other_work_is_no_fix() -> None:
    failing = "Error: Snapshot `pages` mismatched"
    told = [
        Telling()
        .run("npx vitest run", failing, 1)
        .run("git status --short", "M a.py")
        .run("make test", "4 passed in 0.1s")
        for _ in range(3)
    ]
    assert found(*told) == []


def test_what_a_person_talked_about_in_between_is_not_billed() -> None:
    def told() -> Telling:
        telling = Telling().say("Migrate.").run("make migrate", REFUSED, 2).answer("It fails.")
        for _ in range(3):
            telling.say("Leave it. What about the docs?").run("cat README.md", "text").answer("So.")
        return telling.say("Now migrate.").run("docker compose up -d db && make migrate")

    (bet,) = found(told(), told())
    # "It fails." and the call that worked, of eleven requests.
    assert [it.tokens for it in bet.occurrences] == [40_000, 40_000]


def test_what_was_mended_is_no_bet_once_later_sessions_run_it_well() -> None:
    told = [
        Telling().run("make migrate", REFUSED, 2).run("docker compose up -d db && make migrate")
        for _ in range(3)
    ]
    well = [Telling().run("make migrate") for _ in range(6)]
    assert len(found(*told)) == len(found(*told, *well[:1])) == 1
    assert found(*told, *well) == []
    assert len(found(*told, *well, told[0])) == 1


def test_a_command_for_another_purpose_is_no_fix() -> None:
    told = [
        Telling().run("npx frob build", "Error: cannot open cache", 1).run("npx frob status", "ok")
        for _ in range(3)
    ]
    assert all(bet.fix is None for bet in found(*told))


def test_a_refusal_that_says_what_it_wants_is_no_bet_unless_agents_go_on_trying() -> None:
    guard = "ERROR: Not on a feature branch. Current branch: master"
    once = [Telling(tokens=900_000).run("check.sh", guard, 1).run("ls -a") for _ in range(3)]
    assert found(*once) == []
    asked = [it.say("go on with the next one").run("check.sh", guard, 1) for it in once]
    assert found(*asked) == []
    again = [
        Telling(tokens=900_000).run("check.sh", guard, 1).run("check.sh", guard, 1)
        for _ in range(3)
    ]
    (bet,) = found(*again)
    assert bet.category is Category.INVESTIGATE


@pytest.mark.parametrize(
    ("said", "bets"),
    [
        ("Error: database out of step. Run 'bd sync --import-only' to fix.", 0),
        ("Error: database out of step.", 1),
    ],
)
def test_a_failure_that_says_which_command_helps_is_nothing_to_look_into(
    said: str, bets: int
) -> None:
    told = [Telling(tokens=900_000).run("bd show 7", said, 1).run("bd show 7") for _ in range(3)]
    assert len(found(*told)) == bets
