"""What programs print when they fail and when all is well, with their exit code hidden.

Every output here was written for this test, in the form that the program uses.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from failing_calls import signature, verdict
from hansei.events.model import Basis, Status
from hansei.projection.failures import Kind
from hansei.projection.failures.lookup import RUNNERS


class Case(NamedTuple):
    runner: str
    command: str
    failed: str
    sign: str
    """What the signature says beside the program."""
    passed: str | None


CASES = [
    Case(
        "pytest",
        "pytest -q",
        "..F\n=================== FAILURES ===================\n"
        "E       AssertionError: fee is wrong\n"
        "FAILED tests/test_fee.py::test_fee - AssertionError: fee is wrong\n"
        "1 failed, 2 passed in 0.41s",
        "pytest: AssertionError: fee is wrong",
        "......\n6 passed, 1 skipped in 0.40s",
    ),
    Case(
        "unittest",
        "python -m unittest",
        "FAIL: test_fee (tests.Fee)\nTraceback (most recent call last):\n"
        '  File "tests.py", line 4, in test_fee\nAssertionError: 3 != 4\n\n'
        "Ran 2 tests in 0.010s\n\nFAILED (failures=1)",
        "unittest: AssertionError: <n> != <n>",
        "..\nRan 2 tests in 0.010s\n\nOK",
    ),
    Case(
        "mypy",
        "mypy src",
        'src/a.py:4: error: Name "x" is not defined  [name-defined]\n'
        "Found 1 error in 1 file (checked 3 source files)",
        'mypy: error: Name "x" is not defined [name-defined]',
        "Success: no issues found in 3 source files",
    ),
    Case(
        "pyright",
        "pyright",
        '/w/a.py:4:1 - error: "x" is not defined (reportUndefinedVariable)\n'
        "1 error, 0 warnings, 0 informations",
        'pyright: error: "x" is not defined (reportUndefinedVariable)',
        "0 errors, 0 warnings, 0 informations",
    ),
    Case(
        "ruff",
        "ruff check .",
        "src/a.py:1:8: F401 [*] `os` imported but unused\nFound 1 error.",
        "ruff check: F401 [*] `os` imported but unused",
        "All checks passed!",
    ),
    Case(
        "formatter",
        "black --check src",
        "would reformat src/a.py\n\nOh no!\n1 file would be reformatted.",
        "black: would reformat",
        "All done!\n3 files left unchanged.",
    ),
    Case(
        "pip",
        "pip install leftpad9",
        "ERROR: Could not find a version that satisfies the requirement leftpad9\n"
        "ERROR: No matching distribution found for leftpad9",
        "pip install: ERROR: Could not find a version that satisfies the requirement leftpad9",
        "Successfully installed leftpad-9.0",
    ),
    Case(
        "py_compile",
        "python -m py_compile a.py",
        '  File "a.py", line 3\n    def (:\n        ^\nSyntaxError: invalid syntax',
        "py_compile: SyntaxError: invalid syntax",
        "",
    ),
    Case(
        "python",
        "python seed.py",
        "start\nTraceback (most recent call last):\n"
        '  File "seed.py", line 9, in <module>\n    main()\n'
        "ModuleNotFoundError: No module named 'yaml'",
        "python: ModuleNotFoundError: No module named 'yaml'",
        None,
    ),
    Case(
        "jest",
        "npx jest",
        "FAIL src/fee.test.js\n  ● fee › adds up\n\n    TypeError: sum is not a function\n\n"
        "Test Suites: 1 failed, 3 passed, 4 total\nTests:       1 failed, 9 passed, 10 total",
        "jest: TypeError: sum is not a function",
        "PASS src/fee.test.js\nTest Suites: 4 passed, 4 total\nTests:       10 passed, 10 total",
    ),
    Case(
        "vitest",
        "npx vitest run",
        " FAIL  src/fee.test.ts > fee > adds up\nAssertionError: expected 3 to be 4\n\n"
        " Test Files  1 failed | 3 passed (4)\n      Tests  1 failed | 9 passed (10)",
        "vitest: AssertionError: expected <n> to be <n>",
        " Test Files  4 passed (4)\n      Tests  10 passed (10)",
    ),
    Case(
        "mocha",
        "npx mocha",
        "  fee\n    1) adds up\n\n  9 passing (12ms)\n  1 failing\n\n  1) fee\n       adds up:\n"
        "     Error: no such tariff\n      at Context.<anonymous> (test/fee.js:4:9)",
        "mocha: Error: no such tariff",
        "  fee\n    ✔ adds up\n\n  10 passing (12ms)",
    ),
    Case(
        "hardhat",
        "npx hardhat compile",
        "Error HH404: File ./Fee.sol, imported from contracts/Quay.sol, not found.",
        "hardhat compile: HH404: File <path>/Fee.sol, imported from <path>/Quay.sol, not found.",
        "Compiled 3 Solidity files successfully (evm target: paris).",
    ),
    Case(
        "node_test",
        "node --test",
        "✖ adds up (1.2ms)\n  TypeError: sum is not a function\n\nℹ tests 3\nℹ pass 2\nℹ fail 1",
        "node: TypeError: sum is not a function",
        "✔ adds up (1.2ms)\nℹ tests 3\nℹ pass 3\nℹ fail 0",
    ),
    Case(
        "playwright",
        "npx playwright test",
        "  1) quay.spec.ts:4:1 › opens\n\n    TimeoutError: page.click: no answer\n\n"
        "  1 failed\n    quay.spec.ts:4:1 › opens\n  5 passed (12.1s)",
        "playwright: TimeoutError: page.click: no answer",
        "Running 6 tests using 2 workers\n  6 passed (12.1s)",
    ),
    Case(
        "bun_test",
        "bun test",
        "error: expect(received).toBe(expected)\n(fail) adds up [0.2ms]\n\n 2 pass\n 1 fail",
        "bun test: error: expect(received).toBe(expected)",
        " 3 pass\n 0 fail",
    ),
    Case(
        "tsc",
        "npx tsc --noEmit",
        "src/fee.ts(4,9): error TS2304: Cannot find name 'tarif'.",
        "tsc: error TS2304: Cannot find name 'tarif'.",
        "",
    ),
    Case(
        "eslint",
        "npx eslint .",
        "/w/src/fee.js\n  4:9  error  'tarif' is not defined  no-undef\n\n"
        "✖ 1 problem (1 error, 0 warnings)",
        "eslint: 'tarif' is not defined no-undef",
        "/w/src/fee.js\n  4:9  warning  x  y\n\n✖ 1 problem (0 errors, 1 warning)",
    ),
    Case(
        "prettier",
        "npx prettier --check .",
        "Checking formatting...\n[warn] src/fee.js\n"
        "[warn] Code style issues found in the above file.",
        "prettier: Code style issues",
        "Checking formatting...\nAll matched files use Prettier code style!",
    ),
    Case(
        "bundler",
        "npx vite build",
        "vite v6 building for production...\nerror during build:\n"
        "Error: Could not resolve entry module",
        "vite build: Error: Could not resolve entry module",
        "dist/index.html 0.4 kB\n✓ built in 812ms",
    ),
    Case(
        "npm",
        "npm run typecheck",
        'npm error Missing script: "typecheck"\nnpm error\nnpm error   npm run',
        'npm run typecheck: Missing script: "typecheck"',
        None,
    ),
    Case(
        "cargo_test",
        "cargo test",
        "running 2 tests\ntest fee ... FAILED\n\nthread 'fee' panicked at src/lib.rs:4:9:\n"
        "no such tariff\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored",
        "cargo test: panicked no such tariff",
        "running 2 tests\n..\ntest result: ok. 2 passed; 0 failed; 0 ignored",
    ),
    Case(
        "cargo",
        "cargo build",
        "error[E0308]: mismatched types\n --> src/lib.rs:4:9\n"
        "error: could not compile `quay` (lib) due to 1 previous error",
        "cargo build: error[E0308]: mismatched types",
        "   Compiling quay v0.1.0\n    Finished `dev` profile in 1.2s",
    ),
    Case(
        "go_test",
        "go test ./...",
        "--- FAIL: TestFee (0.00s)\n    fee_test.go:9: no such tariff\nFAIL\n"
        "FAIL\texample.org/quay/fee\t0.004s",
        "go test: no such tariff",
        "ok  \texample.org/quay/fee\t0.004s\nok  \texample.org/quay/berth\t(cached)",
    ),
    Case(
        "go",
        "go build ./...",
        "# example.org/quay\n./fee.go:4:9: undefined: tarif",
        "go build: undefined: tarif",
        None,
    ),
    Case(
        "gradle",
        "./gradlew build",
        "> Task :compileJava FAILED\n/w/Fee.java:4: error: cannot find symbol\n\n"
        "FAILURE: Build failed with an exception.\n\nBUILD FAILED in 3s",
        "gradlew build: error: cannot find symbol",
        "> Task :build\n\nBUILD SUCCESSFUL in 3s",
    ),
    Case(
        "dotnet",
        "dotnet build",
        "Fee.cs(4,9): error CS0103: The name 'tarif' does not exist [/w/Quay.csproj]\n"
        "Build FAILED.",
        "dotnet build: error CS0103: The name 'tarif' does not exist",
        "Build succeeded.\n    0 Warning(s)",
    ),
    Case(
        "make",
        "make deploy",
        "make: *** No rule to make target 'deploy'.  Stop.",
        "make deploy: No rule to make target 'deploy'. Stop.",
        "make: Nothing to be done for 'deploy'.",
    ),
    Case(
        "cmake",
        "cmake --build build",
        "[ 50%] Building C object fee.c.o\n/w/fee.c:4:9: error: unknown type name 'tarif'\n"
        "ninja: build stopped: subcommand failed.",
        "cmake build: error: unknown type name 'tarif'",
        "[100%] Built target quay",
    ),
    Case(
        "gcc",
        "gcc -c fee.c",
        "fee.c:4:9: error: unknown type name 'tarif'",
        "gcc: error: unknown type name 'tarif'",
        "",
    ),
    Case(
        "swift",
        "swift build",
        "/w/Fee.swift:4:9: error: cannot find 'tarif' in scope\nerror: fatalError",
        "swift build: error: cannot find 'tarif' in scope",
        "Compiling Quay\nBuild complete! (2.1s)",
    ),
    Case(
        "git_shows",
        "git log --oneline",
        "fatal: your current branch 'main' does not have any commits yet",
        "git log: fatal: your current branch 'main' does not have any commits yet",
        "1a2b3c4 Add fees\n5d6e7f8 Fix fees",
    ),
    Case(
        "git",
        "git push origin main",
        "To example.org:quay.git\n ! [rejected]        main -> main (fetch first)\n"
        "error: failed to push some refs to 'example.org:quay.git'",
        "git push: (fetch first)",
        "To example.org:quay.git\n   1a2b3c4..5d6e7f8  main -> main",
    ),
    Case(
        "docker",
        "docker build .",
        "#4 ERROR: process did not complete\nERROR: failed to solve: process did not complete",
        "docker build: failed to solve: process did not complete",
        "#4 naming to docker.io/library/quay done",
    ),
    Case(
        "terraform",
        "terraform plan",
        "╷\n│ Error: Missing required argument\n│\n╵",
        "terraform plan: Error: Missing required argument",
        "Plan: 1 to add, 0 to change, 0 to destroy.",
    ),
    Case(
        "rspec",
        "rspec",
        "  1) Fee adds up\n     Failure/Error: expect(fee).to eq(4)\n\n"
        "       NameError: undefined tariff\n\n3 examples, 1 failure",
        "rspec: NameError: undefined tariff",
        "3 examples, 0 failures",
    ),
    Case(
        "phpunit",
        "vendor/bin/phpunit",
        "1) FeeTest::testFee\nFailed asserting that two strings are identical.\n\nFAILURES!\n"
        "Tests: 3, Assertions: 3, Failures: 1.",
        "phpunit: Failed asserting that two strings are identical.",
        "OK (3 tests, 3 assertions)",
    ),
]  # fmt: skip


HIDDEN = ("{} 2>&1 | tail -40", "{} || true", "{}; echo finished")


@pytest.mark.parametrize(
    ("case", "hidden"),
    [
        pytest.param(case, hidden, id=f"{case.runner}: {hidden}")
        for case in CASES
        for hidden in HIDDEN
        if case.runner != "git_shows" or "tail" in hidden  # other words may be of what it shows
    ],
)
def test_a_runner_says_itself_that_it_failed(case: Case, hidden: str) -> None:
    found = verdict(hidden.format(case.command), case.failed, None)
    assert (found.status, found.basis) == (Status.FAILED, Basis.RUNNER_SUMMARY)
    assert found.kind is Kind.FAILURE


@pytest.mark.parametrize("case", [it for it in CASES if it.passed is not None],
                         ids=lambda case: case.runner)  # fmt: skip
def test_a_runner_says_itself_that_all_is_well(case: Case) -> None:
    assert case.passed is not None
    found = verdict(f"{case.command} 2>&1 | tail -40", case.passed, None)
    assert (found.status, found.kind) == (Status.OK, None)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.runner)
def test_the_line_that_decides_is_found_with_and_without_an_exit_code(case: Case) -> None:
    assert signature(case.command, case.failed, 1) == case.sign
    assert signature(f"{case.command} 2>&1 | tail -40", case.failed, None) == case.sign


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.runner)
def test_an_output_that_says_nothing_leaves_the_status_unknown(case: Case) -> None:
    found = verdict(f"{case.command} 2>&1 | tail -1", "Everything was looked at.", None)
    if case.runner == "git_shows":
        assert found.status is Status.OK
    else:
        assert (found.status, found.basis) == (Status.UNKNOWN, Basis.MASKED)


def test_every_runner_with_words_of_failure_is_tried() -> None:
    known = {runner.name for runner in RUNNERS if runner.failed is not None}
    assert known == {case.runner for case in CASES}
