"""Things that happen in sessions, each of which heuristics know."""

from __future__ import annotations

from collections.abc import Callable

from retro_window import Telling


def migrate(telling: Telling) -> None:
    telling.run("make migrate", "Error: connection to the database was refused", 2)
    telling.run("docker compose up -d db && make migrate")


def missing_script(telling: Telling) -> None:
    telling.run("npm test", 'npm error Missing script: "test"', 1).run("cd web && npm test")


def missing_file(telling: Telling) -> None:
    telling.read("/work/app/src/a.ts", "File does not exist.", failed=True)
    telling.read("/work/app/web/src/a.ts")


def struggle(telling: Telling) -> None:
    for _ in range(4):
        telling.run("pytest -q", "1 failed in 0.1s", 1).edit("/work/app/src/money.py")
    telling.run("pytest -q", "1 passed in 0.1s")


def refused(telling: Telling) -> None:
    telling.refused("git push --force", "The user doesn't want to proceed with this tool use.")


def corrected(telling: Telling) -> None:
    telling.say("Add a limit.").edit("/work/app/src/limit.py").answer("Done.")
    telling.say("No, use the logger, not print.").edit("/work/app/src/limit.py")


def quiet(telling: Telling) -> None:
    telling.run("ls", "src").run("rg -n limit src", "src/a.py:1:limit").answer("Here it is.")


HAPPENINGS = (migrate, missing_script, missing_file, struggle, refused, corrected, quiet)


def telling(happenings: list[Callable[[Telling], None]]) -> Telling:
    told = Telling(tokens=30_000)
    for happening in happenings:
        happening(told)
    return told
