"""What does not exist here and is tried all the same."""

from __future__ import annotations

import pytest

from hansei.bets.model import Category, Chances, Design, Finding
from hansei.retro.heuristics.missing_here import MissingHere
from retro_window import Telling, window


def found(*tellings: Telling) -> list[Finding]:
    return list(MissingHere().find(window(tellings)))


def again(count: int, command: str, output: str, then: str = "") -> list[Telling]:
    told = [Telling().run(command, output, 1) for _ in range(count)]
    return [it.run(then) for it in told] if then else told


def test_a_script_that_is_elsewhere_names_the_folder() -> None:
    told = again(2, "npm test", 'npm error Missing script: "test"', "cd web && npm test")
    (bet,) = found(*told)
    assert bet.claim == "`npm test` works only in `web/`"
    assert bet.category is Category.FIX


@pytest.mark.parametrize("files", [("tests/test_a.py",) * 3, ("tests/test_a.py", "tests/b.py::c")])
def test_a_test_file_that_differs_from_week_to_week_is_not_in_the_line(
    files: tuple[str, ...],
) -> None:
    told = [
        Telling()
        .run(f"pytest -q {it}", "ModuleNotFoundError: No module named 'app'", 1)
        .run(f"uv run pytest -q {it}", "1 passed")
        for it in files
    ]
    (bet,) = found(*told)
    assert bet.change.text == "Run `uv run pytest -q`, not `pytest -q`."
    assert bet.key == "module pytest app"


def test_a_subcommand_that_is_called_otherwise_is_replaced() -> None:
    output = 'Error: unknown command "pending"'
    (bet,) = found(*again(2, "gt queue pending", output, "gt queue list-pending"))
    assert bet.change.text == "Use `gt queue list-pending`, not `gt queue pending`."


def test_a_subcommand_that_merely_came_next_is_no_replacement() -> None:
    output = 'Error: unknown command "pending"'
    (bet,) = found(*again(3, "gt queue pending", output, "gt queue flush"))
    assert bet.change.text == "There is no `gt queue pending`: do not call it."
    assert bet.fix is None


def test_an_option_is_replaced_or_left_out() -> None:
    one = again(2, "gt list --labels=x", "Error: unknown flag: --labels", "gt list --label x")
    (bet,) = found(*one)
    assert bet.change.text == "`gt list` has no `--labels`; use `--label`."
    command, then = "gt list --deep --labels=open app", "gt list --label open app"
    three = again(2, command, "Error: unknown flag: --deep", then)
    (bet,) = found(*three)
    assert (
        bet.change.text == "Use `gt list --label open app`, not `gt list --deep --labels=open app`."
    )
    two = again(2, "gt list --deep", "Error: unknown flag: --deep", "gt list")
    (bet,) = found(*two)
    assert bet.change.text == "`gt list` has no `--deep`: leave it out, as in `gt list`."


def test_an_option_of_a_subcommand_of_a_subcommand_names_both() -> None:
    told = again(2, "gt mol ready --deep --json", "unknown flag: --deep", "gt mol ready --json")
    (bet,) = found(*told)
    assert bet.claim == "`gt mol ready` has no `--deep`; agents try it anyway"
    assert bet.fix == "gt mol ready --json"


def test_where_calls_disagree_on_what_stands_for_an_option_nothing_is_claimed() -> None:
    told = [
        Telling().run("gt list --deep --by=x app", "Error: unknown flag: --deep", 1).run(then)
        for then in ("gt list --all app", "gt list --tree app", "gt list --long app")
    ]
    (bet,) = found(*told)
    assert bet.change.design is Design.BRIEF
    assert bet.fix is None


def test_what_a_program_tells_agents_to_run_is_corrected_there() -> None:
    step = "## Step 3\n```bash\ngt queue pending\n```\n"
    told = [
        Telling()
        .run("gt show step-3", step)
        .run("gt queue pending", 'Error: unknown command "pending"', 1)
        .run("gt queue list-pending")
        for _ in range(2)
    ]
    (bet,) = found(*told)
    assert bet.claim == "`gt queue pending` does not exist; it stands in what `gt show` prints"
    assert bet.change.design is Design.BRIEF
    assert "hansei show s1#" in bet.change.text
    assert "`gt queue list-pending`" in bet.change.text


def test_a_file_that_names_a_script_that_is_gone_is_named() -> None:
    told = [
        Telling()
        .read("/work/app/docs/develop.md", "Before a commit:\n\n    npm run typecheck\n")
        .run("npm run typecheck", 'npm error Missing script: "typecheck"', 1)
        for _ in range(2)
    ]
    (bet,) = found(*told)
    assert "it stands in `docs/develop.md`, in all of these sessions" in bet.because
    assert bet.change.text.startswith("# Correct `npm run typecheck` in `docs/develop.md`")
    unread = again(2, "npm run typecheck", 'npm error Missing script: "typecheck"')
    assert found(*unread) == []


def test_a_path_that_people_type_wrongly_is_corrected_in_what_they_type() -> None:
    told = [
        Telling()
        .say(f"Read ./docs/{name}.md and sum it up.")
        .read(f"/work/app/docs/{name}.md", "File does not exist.", failed=True)
        .read(f"/work/app/manual/{name}.md")
        for name in ("one", "two")
    ]
    (bet,) = found(*told)
    assert bet.claim.endswith("it stands in the prompts that people type")
    assert bet.category is Category.FIX
    right = [it.say("Read ./manual/one.md.") for it in told]
    assert found(*right)[0].change == bet.change


def test_a_path_that_stands_right_in_the_prompt_is_the_agents_own_slip() -> None:
    told = [
        Telling()
        .say(f"Read web/src/{name}.ts.")
        .read(f"/work/app/src/{name}.ts", "File does not exist.", failed=True)
        .read(f"/work/app/web/src/{name}.ts")
        for name in ("one", "two")
    ]
    (bet,) = found(*told)
    assert bet.change.design is Design.LINE


def test_what_was_made_since_is_no_bet() -> None:
    told = again(3, "gt queue pending", 'Error: unknown command "pending"')
    assert len(found(*told)) == 1
    assert found(*told, Telling().run("gt queue pending", "2 waiting")) == []


def test_what_later_sessions_did_right_again_and_again_fades_and_is_dropped() -> None:
    told = again(3, "gt list --deep", "Error: unknown flag: --deep", "gt list")
    (bet,) = found(*told, Telling().run("gt list"))
    assert bet.chances == Chances(3, 3, 1)
    assert found(*told, *(Telling().run("gt list") for _ in range(5))) == []


def test_a_program_nobody_has_is_named_without_a_replacement() -> None:
    told = again(3, "jq . a.json", "bash: jq: command not found")
    (bet,) = found(*told)
    assert bet.change.text == "`jq` is not installed here: do without it."
    assert sum(it.tokens or 0 for it in bet.occurrences) == 60_000
    assert found(*told[:2]) == []


def test_files_are_brought_together_by_the_folder_that_was_missing() -> None:
    told = [
        Telling()
        .read(f"/work/app/src/{name}.ts", "File does not exist.", failed=True)
        .run("ls", "web")
        .read(f"/work/app/web/src/{name}.ts")
        for name in ("one", "two")
    ]
    (bet,) = found(*told)
    assert bet.claim == "`src/` is in `web/`; agents look for it at the top"
    assert bet.change.text == "Paths begin with `web/`: `web/src/`, not `src/`."
    assert [it.tokens for it in bet.occurrences] == [40_000, 40_000]


def test_a_folder_in_another_spelling_is_named() -> None:
    told = [
        Telling()
        .run(f"sed -n 1,9p 'Use cases/{name}.md'", _no_file(f"Use cases/{name}.md"), 2)
        .run(f"sed -n 1,9p 'Use Cases/{name}.md'", "text")
        for name in ("login", "logout")
    ]
    (bet,) = found(*told)
    assert bet.change.text == "Look in `Use Cases/`, not in `Use cases/`."


def _no_file(path: str) -> str:
    return f"sed: can't read {path}: No such file or directory"


def test_a_file_that_is_nowhere_asks_for_what_names_it() -> None:
    told = [
        Telling().read("/work/app/docs/PLAN.md", "File does not exist.", failed=True)
        for _ in range(3)
    ]
    (bet,) = found(*told)
    assert bet.claim == "`docs/PLAN.md` does not exist; something makes agents look for it"
    assert bet.category is Category.INVESTIGATE


@pytest.mark.parametrize("path", ["/home/me/.zshrc", "/etc/hosts.d/app"])
def test_files_outside_of_the_repository_say_nothing_of_it(path: str) -> None:
    told = [Telling().read(path, "File does not exist.", failed=True) for _ in range(5)]
    assert found(*told) == []


def test_a_socket_is_no_file_that_is_missing() -> None:
    line = 'psql: error: connection to server on socket "/tmp/.s" failed: No such file or directory'
    assert found(*again(4, "psql app", line)) == []


def test_requests_that_several_failed_calls_share_are_counted_once() -> None:
    told = []
    for _ in range(2):
        telling = Telling()
        for name in ("one", "two", "three"):
            telling.read(f"/work/app/src/{name}.ts", "File does not exist.", failed=True)
        for name in ("one", "two", "three"):
            telling.read(f"/work/app/web/src/{name}.ts")
        told.append(telling)
    (bet,) = found(*told)
    assert len(bet.occurrences) == 6
    assert sum(it.tokens or 0 for it in bet.occurrences) == 2 * 3 * 20_000


def test_an_option_of_another_shell_says_nothing_of_the_project() -> None:
    line = "dir: cannot access '/b': No such file or directory"
    assert found(*again(5, "dir /b src", line)) == []


def test_an_alternative_that_the_same_text_names_is_asked_about_and_is_no_fix() -> None:
    step = "Run:\n  gt queue pending\n`gt queue list-pending` is for the daemon only.\n"
    told = [
        Telling()
        .run("gt show step-3", step)
        .run("gt queue pending", 'Error: unknown command "pending"', 1)
        .run("gt queue list-pending")
        for _ in range(2)
    ]
    (bet,) = found(*told)
    assert "which the same text names: is it what was meant?" in bet.change.text
    assert bet.fix is None


def test_a_spelling_counts_as_the_way_only_where_the_same_tool_took_it() -> None:
    missing = "File does not exist."
    by_spelling = [
        Telling().read(f"/c/work/{it}.md", missing, failed=True).read(f"C:/work/{it}.md")
        for it in "ab"
    ]
    by_shell = Telling().read("/c/work/d.md", missing, failed=True).run("cat /c/work/d.md", "text")
    (bet,) = MissingHere().find(window([*by_spelling, by_shell], root="C:/work"))
    assert bet.claim == "`read` does not find paths that begin with `/c/`; it wants `C:/`"
    assert bet.because[1] == "2 of 3 tries were got past with `C:/`"
    assert bet.anywhere
