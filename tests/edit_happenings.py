"""What goes wrong with edits, tests and commands in sessions, each time with what it took."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from retro_window import ROOT, Telling

GREEN = "14 passed in 3.10s"
RED = "FAILED {0}::test_it - AssertionError: assert 1 == 2\n1 failed, 13 passed in 3.12s"


TESTS = ("pytest -q", "uv run pytest -q", "pytest -q 2>&1 | tail -20", "cd src && pytest -q")


@dataclass
class Made:
    """A session, and what the planted thing took in it."""

    telling: Telling
    test: str = TESTS[0]
    """How its agent runs the tests."""
    tokens: int = 0
    minutes: float = 0.0

    @classmethod
    def by(cls, dice: Random) -> Made:
        """A session of an agent with ways of its own."""
        return cls(Telling(tokens=dice.randrange(8_000, 60_000)), dice.choice(TESTS))

    def check(self, output: str = GREEN, seconds: float = 4) -> None:
        """A run of the tests; a pipe hides how it ended."""
        red = "passed" not in output or "failed" in output
        self.telling.run(self.test, output, int(red and "|" not in self.test), seconds)

    def took(self, requests: int) -> None:
        """That many requests would not have been needed."""
        self.tokens += requests * self.telling.tokens


Plant = Callable[[Made, Random], None]


def path(name: str) -> str:
    return f"{ROOT}/{name}"


def looks(made: Made, dice: Random, most: int = 4) -> int:
    """A few looks around, as everybody takes them; how many requests they were."""
    count = dice.randrange(most)
    for _ in range(count):
        made.telling.run(f"rg -n total src/part_{dice.randrange(50)}", "src/a.py:1: total")
    return count


def ordinary(made: Made, dice: Random) -> None:
    """A file changed and tested, now and then with a failure of its own that is mended at once."""
    name = f"src/part_{dice.randrange(400)}.py"
    looks(made, dice)
    made.telling.edit(path(name))
    if dice.random() < 0.3:
        test = f"tests/test_{name.removeprefix('src/')}"
        made.check(RED.format(test))
        made.telling.edit(path(name))
    made.check(seconds=dice.randrange(2, 9))
    made.telling.answer("Done.")


def two_files(made: Made, dice: Random) -> None:
    """The schema is changed, the client that is made from it is forgotten until tests are red."""
    made.telling.edit(path("api/schema.py"))
    if dice.random() < 0.4:  # and often it is thought of at once
        made.telling.edit(path("web/client.ts"))
        made.check()
        return
    made.check(RED.format("tests/test_contract.py"))
    requests = looks(made, dice) + 1
    made.telling.edit(path("web/client.ts"))
    made.check()
    made.took(requests)


def never_two_files(made: Made, dice: Random) -> None:
    """Files that are changed together and never forgotten, and one that is mended by chance."""
    made.telling.edit(path("api/routes.py")).edit(path("docs/routes.md"))
    made.check()
    made.check(RED.format("tests/test_x.py"))
    made.telling.edit(path(f"lib/part_{dice.randrange(400)}.py"))
    made.check()


def flaky(made: Made, dice: Random) -> None:
    """The same run fails and passes, with nothing but looks in between."""
    line = f"FAILED tests/test_clock.py::test_{dice.randrange(9)} - TimeoutError: {dice.random()}"
    made.telling.run("pytest -q tests/slow", line, 1)
    requests = looks(made, dice) + 1
    made.telling.run("pytest -q tests/slow", GREEN)
    made.took(requests)


def mended(made: Made, dice: Random) -> None:
    """The same, but something was changed in between: a file, or what a program put up."""
    made.telling.run("pytest -q tests/db", "E   ConnectionError: refused", 1)
    if dice.random() < 0.5:
        made.telling.edit(path("src/db.py"))
    else:
        made.telling.run("docker compose up -d db")
    made.telling.run("pytest -q tests/db", GREEN)


def slow(made: Made, dice: Random) -> None:
    """The whole suite for every little thing, though single files are quick."""
    for number in range(dice.randrange(3, 6)):
        seconds = dice.randrange(200, 400)
        made.telling.edit(path(f"src/part_{dice.randrange(400)}.py"))
        made.telling.run("make check", GREEN, seconds=seconds)
        if number:
            made.minutes += (seconds - 10) / 60
    made.telling.run(f"make check FILE=a{dice.randrange(9)}.py", GREEN, seconds=10)


def quick(made: Made, dice: Random) -> None:
    """Quick runs, and one slow one that has to be."""
    for _ in range(5):
        made.telling.run("npm test", GREEN, seconds=dice.randrange(3, 20))
    made.telling.run("npm run build", "built", seconds=dice.randrange(20, 50))


def missed_caller(made: Made, dice: Random) -> None:
    """A function gets another name, and a caller the old one until a run fails."""
    old, new = f"total_of_{dice.randrange(10_000)}", f"sum_of_{dice.randrange(10_000)}"
    made.telling.edit(
        path("src/money.py"),
        f"def {old}(items: list[int]) -> int:",
        f"def {new}(items: list[int]) -> int:",
    )
    if dice.random() < 0.15:  # and now and then it is done at once
        made.telling.edit(
            path("web/views.py"), f"    return {old}(rows)", f"    return {new}(rows)"
        )
        made.check()
        return
    line = f"E   ImportError: cannot import name '{old}' from 'money'"
    made.check(f"{line}\n1 failed in 0.2s")
    requests = looks(made, dice) + 1
    made.telling.edit(path("web/views.py"), f"    return {old}(rows)", f"    return {new}(rows)")
    made.check()
    made.took(requests)


def no_caller(made: Made, dice: Random) -> None:
    """A rename that fails nothing, and a failure by a name that nobody had changed."""
    one = f"helper_{dice.randrange(10_000)}"
    made.telling.edit(path("src/a.py"), f"def {one}() -> int:", f"def {one}_now() -> int:")
    other = f"NameError: name 'gone_{dice.randrange(10_000)}' is not defined"
    made.check(f"{other}\n1 failed in 0.1s")
    made.telling.edit(path("src/b.py"))
    made.check()


def wrong_file(made: Made, dice: Random) -> None:
    """Lines go into one file, come out again, and go into another."""
    lines = "\n".join(f"assert ledger.balance_{dice.randrange(10_000)} == {n}" for n in range(4))
    made.telling.edit(path("app/page.py"), "", lines)
    requests = looks(made, dice) + 2
    made.telling.edit(path("app/page.py"), lines, "").edit(path("apps/shop/page.py"), "", lines)
    made.took(requests)


def better_lines(made: Made, dice: Random) -> None:
    """Lines that are replaced by better ones in the same file."""
    lines = "\n".join(f"assert store.count_{dice.randrange(10_000)} == {n}" for n in range(4))
    made.telling.edit(path("app/list.py"), "", lines)
    made.telling.edit(path("app/list.py"), lines, lines.replace("==", ">="))


def breaks(made: Made, dice: Random) -> None:
    """An edit of the clock turns the tests of the invoices red, most of the time."""
    made.check()
    made.telling.edit(path("src/clock.py"))
    if dice.random() < 0.2:
        made.check()
        return
    made.check(RED.format("tests/test_invoice.py"))
    requests = looks(made, dice) + 2
    made.telling.edit(path("src/clock.py"))
    made.check()
    made.took(requests)


def own_test(made: Made, dice: Random) -> None:
    """A file's own test turns red, as it should, and one of another file by chance."""
    made.check()
    made.telling.edit(path("src/cart.py"))
    chance = f"tests/test_part_{dice.randrange(400)}.py"
    red = RED.format("tests/test_cart.py") + "\n" + RED.format(chance)
    made.check(red)
    made.telling.edit(path("src/cart.py"))
    made.check()


def reformatted(made: Made, dice: Random) -> None:
    """The agent writes, formats, and cannot edit any more; or a check is red until it formats."""
    file = path(f"src/part_{dice.randrange(400)}.py")
    if dice.random() < 0.5:
        made.telling.edit(file).run("ruff format src", "1 file reformatted")
        made.telling.failed_edit(
            file, "File has been modified since read, either by the user or by a linter."
        )
        made.telling.read(file).edit(file)
        made.took(2)
    else:
        made.telling.edit(file).run("ruff check src", "Found 3 errors.", 1)
        made.telling.run("ruff format src", "1 file reformatted").run("ruff check src", "All good")
        made.took(2)


def by_hand(made: Made, dice: Random) -> None:
    """A check that is mended by hand, and a file that a person had changed meanwhile."""
    file = path(f"src/part_{dice.randrange(400)}.py")
    made.telling.edit(file).run("ruff check src", "Found 3 errors.", 1).edit(file)
    made.telling.run("ruff check src", "All good").answer("Done.").say("Go on.")
    made.telling.failed_edit(file, "File has been modified since read, by the user or a linter.")
    made.telling.read(file).edit(file)


def left_red(made: Made, dice: Random) -> None:
    """The agent says that it is done without a run of the tests; the next turn finds them red."""
    file = path(f"src/part_{dice.randrange(400)}.py")
    made.telling.edit(file).answer("Done.").say("And now the page.")
    made.telling.run("npm test", "FAIL src/part.test.ts\n1 failed", 1)
    requests = looks(made, dice) + 1
    made.telling.edit(file).run("npm test", GREEN).answer("Done.")
    made.took(requests)


def left_green(made: Made, dice: Random) -> None:
    """Left without a test too, but nothing was wrong; and red by another file."""
    made.telling.edit(path("src/a.py")).answer("Done.").say("Go on.").run("npm test", GREEN)
    made.telling.edit(path("src/a.py")).answer("Done.").say("Now b.")
    made.telling.edit(path("src/b.py")).run("npm test", "1 failed", 1).edit(path("src/b.py"))
    made.telling.run("npm test", GREEN).answer("Done.")
    looks(made, dice)
