"""What does not exist here and is tried all the same."""

from __future__ import annotations

import pytest

from hansei.bets.model import Category, Finding
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


def test_a_subcommand_that_is_called_otherwise_is_replaced() -> None:
    told = again(2, "gt queue pending", 'Error: unknown command "pending"', "gt queue waiting")
    (bet,) = found(*told)
    assert bet.change.text == "Use `gt queue waiting`, not `gt queue pending`."


def test_an_option_is_replaced_or_left_out() -> None:
    one = again(2, "gt list --labels=x", "Error: unknown flag: --labels", "gt list --label x")
    (bet,) = found(*one)
    assert bet.change.text == "`gt list` has no `--labels`; use `--label`."
    command, then = "gt list --deep --labels=open app", "gt list --label open app"
    three = again(2, command, "Error: unknown flag: --deep", then)
    (bet,) = found(*three)
    assert bet.change.text == "`gt list` has no `--deep`: leave it out."
    two = again(2, "gt list --deep", "Error: unknown flag: --deep", "gt list")
    (bet,) = found(*two)
    assert bet.change.text == "`gt list` has no `--deep`: leave it out."


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
    assert sum(it.tokens or 0 for it in bet.occurrences) == 2 * 5 * 20_000


def test_an_option_of_another_shell_is_told_as_such() -> None:
    line = "dir: cannot access '/b': No such file or directory"
    told = again(3, "dir /b src", line)
    (bet,) = found(*told)
    assert bet.change.text == "The shell is not `cmd`: no options such as `/b`, as in `dir /b`."
    assert bet.category is Category.FIX
