"""What makes a bet on edits, tests and commands, and what does not."""

from __future__ import annotations

import pytest

from hansei.bets.model import Category, Design, Finding
from hansei.events.model import Driver
from hansei.hook.formatting import after_writing
from hansei.retro.contract import Heuristic
from hansei.retro.heuristics.breaks_other_tests import BreaksOtherTests
from hansei.retro.heuristics.call_sites_later import CallSitesLater
from hansei.retro.heuristics.edited_together import EditedTogether
from hansei.retro.heuristics.flaky_command import FlakyCommand
from hansei.retro.heuristics.formatter_rewrites import FormatterRewrites
from hansei.retro.heuristics.slow_command import SlowCommand
from hansei.retro.heuristics.untested_end import UntestedEnd
from hansei.retro.heuristics.wrong_place import WrongPlace
from retro_window import DAY, ROOT, Telling, window

GREEN, RED = "3 passed in 0.1s", "FAILED tests/test_invoice.py::test_it - assert 1 == 2\n1 failed"
STALE = "File has been modified since read, either by the user or by a linter."
NO = "No, that is wrong: it has to be the other one."


def found(heuristic: Heuristic, *tellings: Telling) -> list[Finding]:
    return list(heuristic.find(window(tellings)))


def at(name: str) -> str:
    return f"{ROOT}/{name}"


# --- work that was left untested ------------------------------------------------------------------


def leaves(name: str) -> Telling:
    return Telling().edit(at(name)).answer("Done.")


def finds_red(name: str) -> Telling:
    return Telling().run("pytest -q", RED, 1).edit(at(name)).run("pytest -q", GREEN)


def test_the_next_session_finds_red_what_one_left_untested() -> None:
    (bet,) = found(UntestedEnd(), *(it("a.py") for _ in range(3) for it in (leaves, finds_red)))
    assert (
        bet.change.text
        == "After your last edit of code run `pytest -q`, before you say it is done."
    )
    assert [(it.session, it.tokens) for it in bet.occurrences] == [
        (2, 20_000), (4, 20_000), (6, 20_000)
    ]  # fmt: skip
    assert bet.because[1] == "3 of 3 times code was changed, no test was run after it"


def test_tests_that_were_red_by_another_file_are_not_what_was_left() -> None:
    pairs = [it for _ in range(3) for it in (leaves("a.py"), finds_red("b.py"))]
    assert found(UntestedEnd(), *pairs) == []


def test_a_week_later_others_have_been_at_it() -> None:
    idle = [Telling().run("ls") for _ in range(8)]
    weeks = [it for _ in range(3) for it in (leaves("a.py"), *idle, finds_red("a.py"))]
    assert found(UntestedEnd(), *weeks) == []


def test_what_a_person_throws_in_does_not_end_the_work() -> None:
    def goes_on() -> Telling:
        telling = Telling().edit(at("a.py")).say("And keep the names.").run("pytest -q", RED, 1)
        return telling.edit(at("a.py")).run("pytest -q", GREEN).answer("Done.")

    assert found(UntestedEnd(), *(goes_on() for _ in range(3))) == []


def test_a_subagent_may_have_run_the_tests() -> None:
    sessions = []
    for number in range(1, 10, 3):
        run = Telling(driver=Driver.SUBAGENT, parent=number).run("pytest -q", GREEN)
        sessions += [leaves("a.py"), run, finds_red("a.py")]
    assert found(UntestedEnd(), *sessions) == []


def test_texts_need_no_test() -> None:
    assert found(UntestedEnd(), *(it("a.md") for _ in range(3) for it in (leaves, finds_red))) == []


# --- files that belong together -------------------------------------------------------------------


def reminded(first: str, second: str) -> Telling:
    telling = Telling().say("Add a field.").edit(at(first)).answer("Done.")
    return telling.say(NO).edit(at(second)).answer("Done.")


def test_a_person_who_has_to_remind_makes_a_bet_however_little_it_took() -> None:
    (bet,) = found(EditedTogether(), *(reminded("api/schema.py", "web/client.ts") for _ in "ab"))
    assert bet.claim == "`api/schema.py` is changed and `web/client.ts` is forgotten"
    assert bet.because[0] == "a person said so 2 times before it was edited too"


def test_a_word_while_the_agent_is_at_it_is_no_reminder() -> None:
    def thrown_in() -> Telling:
        return (
            Telling().say("Add.").edit(at("api/a.py")).say(NO).edit(at("web/b.ts")).answer("Done.")
        )

    assert found(EditedTogether(), thrown_in(), thrown_in()) == []


def test_a_file_and_its_own_test_are_known_to_everybody() -> None:
    assert (
        found(EditedTogether(), *(reminded("src/cart.py", "tests/test_cart.py") for _ in "ab"))
        == []
    )


def test_files_of_one_folder_are_seen_together_anyway() -> None:
    assert found(EditedTogether(), *(reminded("src/a.py", "src/b.py") for _ in "ab")) == []


def test_what_had_passed_before_is_not_what_the_second_was_missing_for() -> None:
    def passed_then_failed() -> Telling:
        telling = Telling().edit(at("src/clock.py")).run("pytest -q", GREEN)
        telling.edit(at("api/schema.py")).run("pytest -q", RED, 1)
        return telling.edit(at("web/client.ts")).run("pytest -q", GREEN)

    (bet,) = found(EditedTogether(), passed_then_failed(), passed_then_failed())
    assert bet.key == "api/schema.py web/client.ts"


def test_a_second_file_that_most_tasks_leave_alone_is_no_rule() -> None:
    alone = [Telling().edit(at("api/schema.py")).run("pytest -q", GREEN) for _ in range(3)]
    twice = [reminded("api/schema.py", "web/client.ts") for _ in "ab"]
    assert found(EditedTogether(), *alone, *twice) == []


# --- commands that waver --------------------------------------------------------------------------


def wavers(command: str, between: str = "") -> Telling:
    telling = Telling().run(command, "E   TimeoutError", 1)
    if between:
        telling.run(between)
    return telling.run(command, GREEN)


def test_a_flaky_command_is_a_brief_with_what_it_said() -> None:
    (bet,) = found(FlakyCommand(), *(wavers("pytest -q", "cat setup.cfg") for _ in range(3)))
    assert bet.category is Category.INVESTIGATE
    assert bet.because[0] == "3 times in 3 sessions, of 6 runs"
    assert "TimeoutError" in bet.change.text


def test_what_may_have_helped_is_no_wavering() -> None:
    for between in ("docker compose up -d db", "npm install", "rm -rf .cache", "git checkout main"):
        assert found(FlakyCommand(), *(wavers("pytest -q", between) for _ in range(3))) == []


def test_asking_whether_something_is_up_is_meant_to_fail_at_first() -> None:
    assert found(FlakyCommand(), *(wavers("curl localhost:8000") for _ in range(3))) == []


def test_a_person_in_between_may_have_done_something() -> None:
    said = [
        Telling().run("pytest -q", "E   Error", 1).say("Try again.").run("pytest -q", GREEN)
        for _ in range(3)
    ]
    assert found(FlakyCommand(), *said) == []


# --- slow commands --------------------------------------------------------------------------------


def waits(command: str, seconds: float, runs: int = 4, look: float = 1, code: int = 0) -> Telling:
    telling = Telling()
    for _ in range(runs):
        telling.run("git status", "clean", seconds=look)
        telling.run(command, "Command timed out after 5m 0s" if code else "ok", code, seconds)
    return telling


def test_a_slow_build_is_a_brief_with_the_minutes_and_no_tokens() -> None:
    (bet,) = found(SlowCommand(), *(waits("npm run build", 180) for _ in range(3)))
    assert bet.claim == "Agents wait for `npm run build`: 3 min a run"
    assert bet.change.design is Design.BRIEF
    assert {it.tokens for it in bet.occurrences} == {None}
    assert sum(it.minutes or 0 for it in bet.occurrences) == 36


def test_where_even_a_look_takes_long_a_person_is_being_waited_for() -> None:
    assert found(SlowCommand(), *(waits("npm run build", 180, look=60) for _ in range(3))) == []


def test_a_command_that_meets_a_time_limit_belongs_in_the_background() -> None:
    (bet,) = found(SlowCommand(), *(waits("npm run build", 300, code=143) for _ in range(3)))
    assert bet.claim == "`npm run build` runs into a time limit again and again"
    assert "in the background" in bet.change.text


def test_a_folder_with_everything_in_it_is_the_whole() -> None:
    part = [waits("go test ./...", 200).run("go test ./pay", "ok", 0, 5) for _ in range(3)]
    (bet,) = found(SlowCommand(), *part)
    assert "`go test ./pay`" in bet.change.text


def test_single_files_that_take_as_long_are_no_way_out() -> None:
    sessions = [waits("pytest -q", 200).run("pytest -q tests/a.py", "ok", 0, 150) for _ in range(3)]
    (bet,) = found(SlowCommand(), *sessions)
    assert bet.change.design is Design.BRIEF


# --- callers --------------------------------------------------------------------------------------

RENAME = ("def total(items: list[int]) -> int:", "def total_of(items: list[int]) -> int:")
OTHER_GIVEN = (
    "def total(items: list[int]) -> int:",
    "def total(items: list[int], tax: int) -> int:",
)


def renames(change: tuple[str, str] = RENAME, clock: int = 0) -> Telling:
    return Telling(clock=clock).edit(at("src/money.py"), *change)


def fails(telling: Telling, line: str, call: tuple[str, str]) -> Telling:
    telling.run("pytest -q", line, 1)
    return telling.edit(at("web/views.py"), *call).run("pytest -q", GREEN)


CALL = ("    shown = total(rows)", "    shown = total_of(rows)")
NO_NAME = "E   ImportError: cannot import name 'total' from 'money'"


def met_later(day: int, later: int) -> tuple[Telling, Telling]:
    met = fails(Telling(clock=later * DAY + DAY // 2), NO_NAME, CALL)
    return renames(clock=day * DAY), met


def test_callers_that_another_session_met_count_too() -> None:
    pairs = [it for day in range(3) for it in met_later(day, day)]
    (bet,) = found(CallSitesLater(), *pairs)
    assert bet.because[1] == "3 of them only in a later session"
    assert bet.change.text == (
        "Before you rename something or change its parameters, search for its name everywhere,"
        " also in `web/`, and change all callers in the same step. Then run `pytest -q`."
    )


def test_after_two_weeks_a_name_may_have_come_and_gone_again() -> None:
    pairs = [it for day in range(3) for it in met_later(day, day + 15)]
    assert found(CallSitesLater(), *pairs) == []


def test_other_parameters_count_where_the_run_says_that_they_do_not_fit() -> None:
    call = ("    shown = total(rows)", "    shown = total(rows, tax=2)")
    line = "E   TypeError: total() missing 1 required positional argument: 'tax'"
    assert found(CallSitesLater(), *(fails(renames(OTHER_GIVEN), line, call) for _ in range(3)))
    other = "E   AssertionError: total is 3"
    assert not found(
        CallSitesLater(), *(fails(renames(OTHER_GIVEN), other, call) for _ in range(3))
    )


def test_a_failure_that_no_caller_was_changed_for_says_nothing() -> None:
    other = ("    shown = sum(rows)", "    shown = add(rows)")
    assert found(CallSitesLater(), *(fails(renames(), NO_NAME, other) for _ in range(3))) == []


def test_a_name_that_came_before_it_was_changed_is_no_missed_caller() -> None:
    early = [fails(Telling(), NO_NAME, CALL).edit(at("src/money.py"), *RENAME)]
    assert found(CallSitesLater(), *early) == []


# --- wrong places ---------------------------------------------------------------------------------


def moves(name: str) -> Telling:
    made = Telling().edit(at(name), "", "# Plan", "create").run("ls", name)
    return made.run(f"mv {at(name)} {at(f'docs/plans/{name}')}")


def test_files_that_are_made_at_the_top_and_moved_belong_in_their_folder() -> None:
    (bet,) = found(WrongPlace(), moves("one_plan.md"), moves("two_plan.md"))
    assert bet.claim == "Agents write into the top folder what belongs in `docs/plans/`"
    assert bet.change.text == (
        "Put files like `one_plan.md`, `two_plan.md` into `docs/plans/`, not into the top folder."
    )


def test_a_person_who_means_the_file_of_the_same_name_elsewhere() -> None:
    pair = ("app/cart.py", "apps/shop/cart.py")
    (bet,) = found(WrongPlace(), *(reminded(*pair) for _ in "ab"))
    assert bet.change.text == (
        "Before you edit `app/cart.py`, see whether `apps/shop/cart.py` is the one that is meant."
    )


def test_folders_are_told_without_what_both_files_share() -> None:
    pairs = [(f"app/{it}/page.tsx", f"apps/shop/app/{it}/page.tsx") for it in ("cart", "pay")]
    (bet,) = found(WrongPlace(), *(reminded(*pair) for pair in pairs))
    assert bet.claim == "Agents write into the top folder what belongs in `apps/shop/`"
    assert bet.because[1] == "`app/cart/page.tsx` for `apps/shop/app/cart/page.tsx`"


def test_a_name_that_is_in_every_folder_makes_no_pair() -> None:
    pair = ("app/cart/page.tsx", "app/pay/page.tsx")
    assert found(WrongPlace(), *(reminded(*pair) for _ in "ab")) == []


def test_a_file_that_only_gets_another_name_was_in_its_place() -> None:
    named = [Telling().edit(at(f"{it}.md"), "", "# Plan", "create") for it in "ab"]
    for telling, name in zip(named, "ab", strict=True):
        telling.run(f"mv {at(f'{name}.md')} {at(f'{name}{name}.md')}")
    assert found(WrongPlace(), *named) == []


# --- tests of something else ----------------------------------------------------------------------


def turns_red(*names: str, output: str = RED) -> Telling:
    telling = Telling().run("pytest -q", GREEN)
    for name in names:
        telling.edit(at(name))
    telling.run("pytest -q", output, 1)
    return telling.edit(at(names[0])).run("pytest -q", GREEN)


def test_files_of_one_folder_that_break_the_same_tests_are_told_by_the_folder() -> None:
    (bet,) = found(BreaksOtherTests(), turns_red("src/time/zone.py"), turns_red("src/time/day.py"))
    assert bet.claim == "Changing `src/time/` breaks `tests/test_invoice.py`"
    assert "`pytest -q tests/test_invoice.py`" in bet.change.text


@pytest.mark.parametrize(("output", "named"), [
    ("FAILED tests/test_pay.py::test_it - KeyError: 1\n1 failed in 0.1s", "tests/test_pay.py"),
    ("ERROR tests/test_pay.py - ImportError: no\n1 error in 0.1s", "tests/test_pay.py"),
    ("FAIL src/pay.test.ts\n  pays\nTests: 1 failed, 3 passed", "src/pay.test.ts"),
    (" \x1b[31m❯\x1b[39m src/pay.test.ts (3 tests | 1 failed)", "src/pay.test.ts"),
    ("Failed examples:\n\nrspec ./spec/pay_spec.rb:12 # pays", "spec/pay_spec.rb"),
])  # fmt: skip
def test_the_tests_are_those_that_the_runner_names(output: str, named: str) -> None:
    (bet,) = found(BreaksOtherTests(), *(turns_red("src/zone.py", output=output) for _ in "ab"))
    assert bet.claim == f"Changing `src/zone.py` breaks `{named}`"


def test_of_many_files_nobody_can_say_which_one_broke_it() -> None:
    many = [f"src/part_{it}.py" for it in range(4)]
    assert found(BreaksOtherTests(), *(turns_red(*many) for _ in "abc")) == []


def test_an_edit_that_breaks_everything_says_nothing_of_one_test() -> None:
    everything = "\n".join(RED.replace("invoice", f"part_{it}") for it in range(4))
    assert (
        found(BreaksOtherTests(), *(turns_red("src/a.py", output=everything) for _ in "ab")) == []
    )


# --- formatters -----------------------------------------------------------------------------------


def rewrites(*, by_person: bool = False) -> Telling:
    telling = Telling().edit(at("src/a.ts"))
    if by_person:
        telling.answer("Done.").say("I changed something. Go on.")
    return telling.failed_edit(at("src/a.ts"), STALE).read(at("src/a.ts")).edit(at("src/a.ts"))


def test_files_that_are_rewritten_by_themselves_are_to_be_read_again() -> None:
    (bet,) = found(FormatterRewrites(), *(rewrites() for _ in range(3)))
    assert bet.claim == "Something rewrites `*.ts` files as soon as agents have written them"
    assert bet.change.design is Design.LINE


def test_hooks_of_a_commit_rewrite_files_too() -> None:
    def commits() -> Telling:
        telling = Telling().edit(at("src/a.py")).run("git commit -am 'Add it'", "1 file changed")
        return telling.failed_edit(at("src/a.py"), STALE).read(at("src/a.py")).edit(at("src/a.py"))

    (bet,) = found(FormatterRewrites(), *(commits() for _ in range(3)))
    assert bet.key == "git commit"
    assert bet.change.design is Design.LINE


def test_what_a_person_may_have_changed_meanwhile_is_no_formatter() -> None:
    assert found(FormatterRewrites(), *(rewrites(by_person=True) for _ in range(3))) == []


def fixes(telling: Telling) -> Telling:
    return telling.run("eslint src", "3 problems", 1).run("eslint --fix src").run("eslint src")


def test_what_a_check_finds_before_anything_is_written_is_no_rewriting() -> None:
    assert found(FormatterRewrites(), *(fixes(Telling()) for _ in range(3))) == []


def test_a_check_that_a_fixer_ends_wants_a_hook() -> None:
    (bet,) = found(FormatterRewrites(), *(fixes(Telling().edit(at("src/a.ts"))) for _ in range(3)))
    assert bet.claim == "Checks fail until `eslint --fix` has rewritten what agents wrote"
    assert "say in the instruction file: run `eslint --fix` once" in bet.change.text


def test_the_hook_is_told_as_each_agent_wants_it() -> None:
    assert '"PostToolUse"' in after_writing("ruff format", ["claude_code"])
    both = after_writing("ruff format", ["cursor", "claude_code", "codex"])
    assert both.index("`.claude/settings.json`") < both.index("`.cursor/hooks.json`")
    assert after_writing("ruff format", ["codex"]) == ""
