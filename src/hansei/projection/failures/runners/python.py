"""Python: tests, types, lint, packages."""

from __future__ import annotations

import re

from hansei.projection.failures.runner import Runner, words

_COUNTS = r"(?:=+ )?(?:\d+ \w+, )*"
_EXCEPTION = re.compile(
    r"^((?:[A-Za-z_][\w.]*\.)?[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Warning|Failed|NotFound)"
    r"(?::.*)?)$",
    re.MULTILINE,
)

RUNNERS = (
    Runner(
        "pytest",
        ("pytest", "py.test"),
        failed=words(
            rf"{_COUNTS}\d+ (?:failed|errors?)\b.* in [\d.]+ ?s",
            r"(?:=+ )?(?:no tests ran|\d+ deselected) in [\d.]+ ?s",
            r"ERROR: (?:file or directory not found|not found|found no collectors|usage)",
            r"!+ .*(?:Interrupted|stopping after|_pytest\.outcomes\.Exit).* !+$",
            r"(?:INTERNALERROR>|ImportError while loading conftest)",
            r"FAILED \S+::\S+",
            r"=+ (?:FAILURES|ERRORS) =+$",
            r"[.sxX]*[FE][.sxXFE]* +\[ *\d+%\]$",
            r"(?:py\.?test|__main__\.py): error: ",
        ),
        passed=words(
            rf"{_COUNTS}\d+ passed(?:, \d+ (?:passed|skipped|warnings?|xfailed|xpassed|deselected"
            r"|rerun|subtests passed))* in [\d.]+ ?s"
        ),
        decisive=(
            words(r"E +([A-Za-z_][\w.]*(?:Error|Exception|Failed|Exit|Interrupt|Warning)\b.*)$"),
            words(r"E +((?:assert |Failed: )\S.*)$"),
            words(r"(?:FAILED|ERROR) \S+(?:::.*?)? - (\S.*)$"),
            words(r"E +(\S.*)$"),
            words(r"(ERROR: .+)$", r"(?:py\.?test|__main__\.py): (error: .+)$"),
            words(r"FAILED \S*::(\S.*)$"),
            words(r"(ERROR) \S+$"),
            re.compile(r"\b(no tests ran)\b|\b(\d+ (?:failed|errors?))\b"),
        ),
        whole=True,
    ),
    Runner(
        "unittest",
        ("unittest", "nose2", "django test", "manage.py test"),
        failed=words(r"FAILED \((?:failures|errors|unexpected successes)="),
        passed=words(r"OK(?: \((?:skipped|expected failures)=.*\))?$"),
        decisive=(_EXCEPTION, words(r"((?:FAIL|ERROR): .+)$")),
    ),
    Runner(
        "mypy",
        ("mypy",),
        failed=words(r"Found \d+ errors? in \d+ files?", r"\S+?:\d+(?::\d+)?: error: "),
        passed=words(r"Success: no issues found"),
        decisive=(words(r"\S.*?:\d+(?::\d+)?: (error: .+)$", r"mypy: (error: .+)$"),),
        whole=True,
    ),
    Runner(
        "pyright",
        ("pyright", "basedpyright"),
        failed=words(r"[1-9]\d* errors?, \d+ warnings?"),
        passed=words(r"0 errors, \d+ warnings?"),
        decisive=(words(r"[ \t]*\S.*?:\d+:\d+ - (error: .+)$"),),
        whole=True,
    ),
    Runner(
        "ruff",
        ("ruff", "ruff check", "flake8", "pylint"),
        failed=words(
            r"Found [1-9]\d* errors?\.",
            r"Found \d+ errors? \(\d+ fixed, [1-9]\d* remaining\)",
            r"\S+?:\d+:\d+: [A-Z]{1,4}\d{2,5}:? ",
            r"error: ",
        ),
        passed=words(r"All checks passed!", r"Found \d+ errors? \(\d+ fixed, 0 remaining\)"),
        decisive=(
            words(r"\S.*?:\d+:\d+: ([A-Z]{1,4}\d{2,5}:? .+)$", r"(invalid-syntax: .+)$"),
            words(r"([A-Z]{1,4}\d{2,5} .+)$"),
            words(r"(error: .+)$"),
        ),
        whole=True,
    ),
    Runner(
        "formatter",
        ("black", "ruff format", "isort"),
        failed=words(
            r"(?:Oh no!|error: |ERROR: )", r"\d+ files? would be reformatted", r"[Ww]ould reformat"
        ),
        passed=words(r"(?:All done!|\d+ files? (?:reformatted|left unchanged|already formatted))"),
        decisive=(
            words(r"(error: .+|ERROR: .+)$"),
            re.compile(r"(would (?:be )?reformat)", re.MULTILINE),
        ),
        whole=True,
    ),
    Runner(
        "pip",
        ("pip", "pip3", "uv", "uv pip", "poetry", "pipenv", "pipx", "pdm"),
        failed=words(
            r"ERROR: ",
            r"error: ",
            r"[ \t]*[×x] (?:No solution found|Failed to |Building |.*did not run successfully)",
            r"Because .* version solving failed",
            r"Could not find a version that matches",
        ),
        passed=words(
            r"Successfully (?:installed|uninstalled|built) ",
            r"Requirement already satisfied: ",
            r"(?:Installed|Audited|Resolved|Uninstalled) \d+ packages? in ",
            r"No dependencies to install or update",
        ),
        decisive=(
            words(r"(ERROR: (?!Exception|No matching).+)$", r"(error: .+)$"),
            words(r"[ \t]*[×x] (.+)$"),
            words(r"(ERROR: .+)$"),
        ),
    ),
    Runner(
        "py_compile",
        ("py_compile", "compileall"),
        failed=words(r"(?:\*\*\* |[ \t]*(?:File \".+\", line \d+|SyntaxError: ))"),
        decisive=(re.compile(r"((?:Syntax|Indentation|Tab)Error: .+)$", re.MULTILINE),),
        silent=True,
    ),
    Runner(
        "python",
        ("python", "python3"),
        failed=re.compile(
            r"^Traceback \(most recent call last\):\n(?:[ \t].*\n)+"
            r"[\w.]+(?:Error|Exception)\b.*\n*\Z",
            re.MULTILINE,
        ),
        decisive=(words(r"((?:Argument expected|Unknown option|No module named) .+)$"),),
    ),
)
