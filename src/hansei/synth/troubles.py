"""What goes wrong in this codebase again and again, and what gets past it.

The changing parts of an output (paths, numbers, times) are in braces and differ in every session;
`sign` is the part that stays. Whoever groups failures by their normalised error line should find
one group for each trouble.
"""

from __future__ import annotations

from dataclasses import dataclass

_TYPE_ERROR = (
    "error TS2345: Argument of type 'string' is not assignable to parameter of type 'number'."
)


@dataclass(frozen=True)
class Trouble:
    name: str
    program: str
    sign: str
    """The part of the output that is the same every time."""
    command: str
    output: str
    exit_code: int
    remedy: str
    """A command that does not fail."""
    relief: str
    """What the remedy prints."""
    masked: str = ""
    """The command with its exit code hidden; empty where agents do not do that."""
    tells_anyway: bool = False
    """Whether the output still decides when the exit code is hidden."""
    share: float = 0.1
    """Part of the working sessions it happens in."""
    least: int = 2
    """Sessions it happens in even in a small world."""
    path: str = ""
    """The file that is edited to get past it, where that is what it takes."""


ENVIRONMENT = Trouble(
    name="plain_pytest",
    program="pytest",
    sign="ModuleNotFoundError: No module named 'berthline'",
    command="pytest -q tests/services/test_{entity}.py",
    output="""
==================================== ERRORS ====================================
____________ ERROR collecting tests/services/test_{entity}.py ____________
ImportError while importing test module '{root}/tests/services/test_{entity}.py'.
Traceback:
/usr/lib/python3.12/importlib/__init__.py:{line}: in import_module
tests/services/test_{entity}.py:3: in <module>
    from berthline.models.{entity} import {Entity}
E   ModuleNotFoundError: No module named 'berthline'
=========================== short test summary info ============================
ERROR tests/services/test_{entity}.py
!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!
1 error in {seconds}s
""",
    exit_code=2,
    remedy="uv run pytest -q tests/services/test_{entity}.py",
    relief="{dots}                                   [100%]\n{count} passed in {seconds}s",
    masked="pytest -q tests/services/test_{entity}.py 2>&1 | tail -20",
    tells_anyway=True,
)
"""The one that the rule of the world is about; it happens by the rule's own chances."""

TROUBLES: tuple[Trouble, ...] = (
    Trouble(
        name="root_npm_test",
        program="npm",
        sign='npm error Missing script: "test"',
        command="npm test",
        output="""
npm error Missing script: "test"
npm error
npm error To see a list of scripts, run:
npm error   npm run
npm error A complete log of this run can be found in: /tmp/npm/_logs/{stamp}-debug-0.log
""",
        exit_code=1,
        remedy="npm --prefix web test",
        relief="""
> berthline-web@ test
> vitest run

 ✓ src/pages/{entity}.test.ts ({count} tests) {millis}ms

 Test Files  4 passed (4)
      Tests  {count} passed ({count})
   Duration  {seconds}s
""",
        share=0.14,
        least=3,
    ),
    Trouble(
        name="stale_types",
        program="tsc",
        sign=_TYPE_ERROR,
        command="npx --prefix web tsc --noEmit -p web",
        output=f"web/src/pages/{{entity}}.ts({{line}},{{column}}): {_TYPE_ERROR}\n",
        exit_code=2,
        remedy="npm --prefix web run build && npx --prefix web tsc --noEmit -p web",
        relief="\n> berthline-web@ build\n> tsc -p .\n",
        masked="npx --prefix web tsc --noEmit -p web || true",
        tells_anyway=True,
        share=0.1,
    ),
    Trouble(
        name="no_database",
        program="make",
        sign='connection to server at "127.0.0.1", port 5433 failed: Connection refused',
        command="make migrate",
        output="""
uv run python -m berthline.db migrate
Traceback (most recent call last):
  File "{root}/src/berthline/db.py", line {line}, in migrate
    with connect(url) as connection:
psycopg.OperationalError: connection to server at "127.0.0.1", port 5433 failed: Connection refused
	Is the server running on that host and accepting TCP/IP connections?
make: *** [Makefile:10: migrate] Error 1
""",
        exit_code=2,
        remedy="docker compose up -d db && make migrate",
        relief="""
 Container berthline-db-1  Started
uv run python -m berthline.db migrate
""",
        masked="make migrate 2>&1 | tail -3",
        share=0.12,
    ),
    Trouble(
        name="unused_import",
        program="ruff",
        sign="F401 [*] `datetime.datetime` imported but unused",
        command="uv run ruff check src tests",
        output="""
src/berthline/services/{entity}.py:{line}:{column}: F401 [*] `datetime.datetime` imported but unused
Found 1 error.
[*] 1 fixable with the `--fix` option.
""",
        exit_code=1,
        remedy="uv run ruff check --fix src tests",
        relief="Found 1 error (1 fixed, 0 remaining).",
        masked="uv run ruff check src tests; echo done",
        tells_anyway=True,
        share=0.1,
    ),
    Trouble(
        name="no_database_url",
        program="python",
        sign="KeyError: 'BERTHLINE_DB_URL'",
        command="uv run python scripts/seed.py",
        output="""
Traceback (most recent call last):
  File "{root}/scripts/seed.py", line 17, in <module>
    main()
  File "{root}/scripts/seed.py", line 11, in main
    with connect(os.environ["BERTHLINE_DB_URL"]) as connection:
  File "<frozen os>", line {line}, in __getitem__
KeyError: 'BERTHLINE_DB_URL'
""",
        exit_code=1,
        remedy="set -a; . ./.env; set +a; uv run python scripts/seed.py",
        relief="seeded 3 quays in {millis} ms",
        share=0.08,
    ),
    Trouble(
        name="random_order",
        program="pytest",
        sign="AssertionError: assert [1, 2] == [1]",
        command="uv run pytest -q tests/services",
        output="""
{dots}F                                                     [100%]
=================================== FAILURES ===================================
______________________________ test_{name} ______________________________
tests/services/test_{entity}.py:{line}: in test_{name}
    assert [row.id for row in {name}(rows)] == [1]
E   AssertionError: assert [1, 2] == [1]
E     Left contains one more item: 2
=========================== short test summary info ============================
FAILED tests/services/test_{entity}.py::test_{name} - AssertionError: assert [1, 2] == [1]
1 failed, {count} passed in {seconds}s
""",
        exit_code=1,
        remedy="uv run pytest -q tests/services -p no:randomly",
        relief="{dots}                                   [100%]\n{count} passed in {seconds}s",
        masked="uv run pytest -q tests/services 2>&1 | tail -15",
        tells_anyway=True,
        share=0.16,
        least=3,
    ),
    Trouble(
        name="stale_snapshot",
        program="vitest",
        sign="Error: Snapshot `pages > renders the list 1` mismatched",
        command="npx --prefix web vitest run --root web",
        output="""
 RUN  v3.2.4 {root}/web

 ❯ src/pages/{entity}.test.ts ({count} tests | 1 failed) {millis}ms
   × pages > renders the list {millis}ms

⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  src/pages/{entity}.test.ts > pages > renders the list
Error: Snapshot `pages > renders the list 1` mismatched
 ❯ src/pages/{entity}.test.ts:{line}:{column}

 Test Files  1 failed | 3 passed (4)
      Tests  1 failed | {count} passed ({count})
   Duration  {seconds}s
""",
        exit_code=1,
        remedy="npx --prefix web vitest run --root web --update",
        relief="""
 RUN  v3.2.4 {root}/web

 ✓ src/pages/{entity}.test.ts ({count} tests) {millis}ms

 Test Files  4 passed (4)
      Tests  {count} passed ({count})
   Duration  {seconds}s
""",
        masked="npx --prefix web vitest run --root web 2>&1 | tail -30",
        tells_anyway=True,
        share=0.08,
    ),
    Trouble(
        name="no_stubs",
        program="mypy",
        sign='error: Library stubs not installed for "yaml"',
        command="uv run mypy src",
        output="""
src/berthline/services/{entity}.py:{line}: error: Library stubs not installed for "yaml"
src/berthline/services/{entity}.py:{line}: note: Hint: "python3 -m pip install types-PyYAML"
Found 1 error in 1 file (checked {count} source files)
""",
        exit_code=1,
        remedy="uv add --dev types-PyYAML && uv run mypy src",
        relief="""
Resolved {count} packages in {millis}ms
Success: no issues found in {count} source files
""",
        masked="uv run mypy src || true",
        tells_anyway=True,
        share=0.08,
    ),
)

ROUNDING = Trouble(
    name="rounding",
    program="pytest",
    sign="AssertionError: assert sum(share(100, 3)) == 100",
    command="uv run pytest -q tests/test_money.py",
    output="""
{dots}F                                                     [100%]
=================================== FAILURES ===================================
______________________________ test_share ______________________________
tests/test_money.py:{line}: in test_share
    assert sum(share(100, 3)) == 100
E   AssertionError: assert sum(share(100, 3)) == 100
=========================== short test summary info ============================
FAILED tests/test_money.py::test_share - AssertionError: assert sum(share(100, 3)) == 100
1 failed, {count} passed in {seconds}s
""",
    exit_code=1,
    remedy="uv run pytest -q tests/test_money.py",
    relief="{dots}                                   [100%]\n{count} passed in {seconds}s",
    path="src/berthline/money.py",
)
"""The one that sessions try to edit away, in several rounds."""

BY_NAME = {trouble.name: trouble for trouble in (ENVIRONMENT, *TROUBLES, ROUNDING)}

MISSED_EDIT = "missed_edit"
"""An edit whose old text is not in the file; not a shell failure, so not in the list above."""
