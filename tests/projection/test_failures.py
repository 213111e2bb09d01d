"""How calls ended, what that means, and what failures are known by."""

from __future__ import annotations

import msgspec
import pytest

from failing_calls import Story, signature, verdict
from hansei.events.model import Basis, Status, Tool, ToolCall
from hansei.projection.failures import Kind


@pytest.mark.parametrize(
    ("command", "code", "output"),
    [
        ("rg -n legacy src", 1, ""),
        ("git branch | grep release", 1, ""),
        ("cat notes.md && rg legacy", 1, "error: this is only what the file says\n"),
        ("find . -name '*.ts' | xargs grep -l three", 123, ""),
        ("diff a.txt b.txt", 1, "1c1\n< a\n---\n> b\n"),
        ("test -f .env", 1, ""),
        ("[ -d web ] && ls web", 1, ""),
        ("which bun pnpm", 1, "/usr/bin/pnpm\n"),
        ("which gh && gh --version", 1, "gh not found"),
        ("pgrep -f server.js", 1, ""),
        ('for f in a b; do [ -f "$f" ] && cat "$f"; done', 1, ""),
        ("git config user.name", 1, ""),
        ("ls dist build 2>/dev/null", 2, ""),
        ("git commit -m x", 1, "On branch main\nnothing to commit, working tree clean\n"),
    ],
)
def test_a_program_that_answers_no_has_not_failed(command: str, code: int, output: str) -> None:
    found = verdict(command, output, code)
    assert (found.status, found.kind) == (Status.OK, Kind.NEGATIVE)


@pytest.mark.parametrize(
    ("command", "code", "output", "program"),
    [
        ("rg -n legacy lib", 2, "rg: lib: No such file or directory (os error 2)", "rg"),
        ("ls lib", 2, "ls: cannot access 'lib': No such file or directory", "ls"),
        ("git ls-remote | rg main", 1, "fatal: unable to access 'x': no route", "git"),
        ("make lint && pytest", 2, "make: *** No rule to make target 'lint'.  Stop.", "make"),
        ("git add x && git commit -m y", 128, "fatal: pathspec 'x' did not match any files", "git"),
        ("cd lib && pytest", 1, "bash: line 1: cd: lib: No such file or directory", "cd"),
        ("bd list | jq .", 127, "/bin/bash: line 1: jq: command not found", "jq"),
        ("pytest -q", 5, "no tests ran in 0.01s", "pytest"),
    ],
)
def test_a_failure_is_blamed_on_the_command_that_failed(
    command: str, code: int, output: str, program: str
) -> None:
    row = Story().shell(command, output, code).failures()[0]
    assert (row.kind, row.program) == (Kind.FAILURE, program)


@pytest.mark.parametrize(
    ("output", "kind"),
    [
        ("<tool_use_error>File has not been read yet. Read it first.</tool_use_error>", "harness"),
        ("<tool_use_error>String to replace not found in file.\nString: x", "harness"),
        ("File has been modified since read, either by the user or by a linter.", "harness"),
        ("<tool_use_error>InputValidationError: Edit failed due to an issue", "harness"),
        ("<tool_use_error>Error: No such tool available: Task</tool_use_error>", "harness"),
        ("BLOCKED: test files are protected", "declined"),
        ("This operation was aborted", "interrupted"),
        ("EISDIR: illegal operation on a directory, read", "failure"),
    ],
)  # fmt: skip
def test_what_the_agent_program_says_is_no_failure_of_the_code(output: str, kind: str) -> None:
    row = Story().tool(Tool.EDIT, "Edit", "/w/a.py", output, failed=True).failures()[0]
    assert row.kind == kind


def test_a_command_the_agent_program_gave_up_on_is_noise() -> None:
    row = Story().shell("npm run build", "command timed out after 15020 milliseconds", 124)
    assert row.failures()[0].kind is Kind.HARNESS
    assert row.failures()[0].signature == "npm run build: timed out"


def test_declined_and_interrupted_calls_keep_their_basis() -> None:
    story = Story()
    story.shell("git push --force", "", None, Status.UNKNOWN, Basis.DECLINED)
    story.shell("make serve", "", None, Status.UNKNOWN, Basis.INTERRUPTED)
    assert [row.kind for row in story.failures()] == [Kind.DECLINED, Kind.INTERRUPTED]
    assert story.episodes() == []


def test_a_call_the_agent_program_refuses_by_itself_was_declined_by_nobody() -> None:
    story = Story().shell("git log", "Warmup", None, Status.UNKNOWN, Basis.DECLINED)
    assert [row.kind for row in story.failures()] == [Kind.HARNESS]
    assert story.episodes() == []


@pytest.mark.parametrize(
    ("command", "output", "status"),
    [
        ("set -o pipefail; pytest | tail -3", "no summary", Status.OK),
        ("pytest > log; echo exit $?", "exit 0", Status.OK),
        ("pytest > log; echo exit $?", "exit 2", Status.FAILED),
        ("pytest | tail; echo $?", "0", Status.UNKNOWN),
        ("pytest -q | grep passed", "12 passed in 0.40s", Status.OK),
        ("npx mocha | grep passing", "  12 passing (3s)", Status.UNKNOWN),
        ("npx mocha | grep -E 'passing|failing'", "  12 passing (3s)", Status.OK),
        ("npx tsc | grep api", "", Status.UNKNOWN),
        ("npx tsc | head -20", "", Status.OK),
        ("pytest -q 2>&1 | tail -2 && ruff check . | tail -2", "3 passed in 1s", Status.UNKNOWN),
        ("pytest -q | tail -2 && ruff check . | tail -2", "3 passed in 1s\nAll checks passed!",
         Status.OK),
        ("find src | head -3", "src/a.py\nsrc/b.py", Status.OK),
        ("ls lib | head", "ls: cannot access 'lib': No such file or directory", Status.FAILED),
        ("find lib 2>/dev/null | head", "", Status.UNKNOWN),
        ("cat log.txt | tail -5", "error: 3 failed in 2.0s", Status.OK),
        ("rg -n 'rror' src | head", "src/a.py:3:raise ValueError\nFAILED x::y", Status.OK),
        ("ls src && sed -n 1,5p a.md || true",
         "b.py\nsed: can't read a.md: No such file or directory", Status.FAILED),
        ("cat a.md || cat b.md | head", "cat: a.md: No such file or directory\n# B",
         Status.UNKNOWN),
        ("ls src && rg x src || true", "a.py\n/bin/bash: line 1: rg: command not found",
         Status.FAILED),
        ("ls src | head; cat a.md | head", "a.py\n# A", Status.OK),
        ("ls src 2>/dev/null | head; cat a.md | head", "a.py", Status.UNKNOWN),
        ("find /etc | head", "/etc/a\nfind: '/etc/ssl': Permission denied", Status.UNKNOWN),
        ("ls src && cat a.md 2>/dev/null || echo none", "a.py\n# A", Status.OK),
        ("ls src && cat a.md 2>/dev/null || echo none", "a.py\nnone", Status.UNKNOWN),
        ("ls src 2>/dev/null; cat a.md 2>/dev/null || echo none", "a.py\n# A", Status.UNKNOWN),
        ("frob list --open | head -3", "1 wash\n2 dry\n3 fold", Status.OK),
        ("frob list --open | head -3", "Error: unknown flag: --open", Status.UNKNOWN),
        ("frob --help 2>&1 | head -2", "usage: frob [-h]\n", Status.OK),
        ("frob sync | head -3", "1 wash\n2 dry\n3 fold", Status.UNKNOWN),
        ("frob ping && echo up || echo down", "up", Status.OK),
        ("frob ping && echo up || echo down", "refused\ndown", Status.FAILED),
        ("frob ping && echo up || echo down", "somewhere", Status.UNKNOWN),
    ],
)  # fmt: skip
def test_a_hidden_status_is_known_only_where_the_output_tells(
    command: str, output: str, status: Status
) -> None:
    assert verdict(command, output, None).status is status


def test_what_a_call_says_in_place_of_a_file_is_an_answer() -> None:
    found = verdict("cat notes.md 2>/dev/null || echo none", "none", None)
    assert (found.status, found.kind) == (Status.OK, Kind.NEGATIVE)
    found = verdict("cat notes.md 2>/dev/null || echo none", "# Notes", None)
    assert (found.status, found.kind) == (Status.OK, None)


def test_a_question_answered_with_no_by_the_call_itself_is_an_answer() -> None:
    found = verdict("test -f .env && echo yes || echo no", "no", None)
    assert found.kind is not Kind.FAILURE
    found = verdict("ls web && echo yes || echo no", "no", None)
    assert (found.status, found.kind) == (Status.OK, Kind.NEGATIVE)


def test_a_call_in_the_background_is_not_decided_by_what_it_printed() -> None:
    story = Story().shell("rg -l x . | sort", "Running in background", None, basis=Basis.NONE)
    assert story.verdicts()[0].status is Status.UNKNOWN


@pytest.mark.parametrize(
    ("command", "output", "status"),
    [
        ("npx mocha | head -99", "  3 passing (1s)\n  2 failing", Status.FAILED),
        ("npx mocha | tail -9", "  3 passing (1s)", Status.OK),
        ("frob | tail -9", "done", Status.UNKNOWN),
        ("frob", "done", Status.OK),
    ],
)
@pytest.mark.parametrize("named", [True, False])
def test_fetched_output_is_judged_by_the_command_of_its_shell(
    command: str, output: str, status: Status, named: bool
) -> None:
    story = Story().shell(
        command,
        "Command running in background with ID: b1f" if named else "",
        None,
        basis=Basis.NONE,
    )
    story.shell("", output)
    asked = story.events[2]
    assert isinstance(asked, ToolCall)
    argument = {"bash_id": "b1f"} if named else {"session_id": 7}
    story.events[2] = msgspec.structs.replace(asked, arguments=argument)
    assert story.verdicts()[1].status is status


def test_of_two_shells_without_names_neither_is_guessed() -> None:
    story = Story()
    for command in ("npx mocha | tail", "frob | tail"):
        story.shell(command, "", None, basis=Basis.NONE)
    story.shell("", "2 failing")
    asked = story.events[4]
    assert isinstance(asked, ToolCall)
    story.events[4] = msgspec.structs.replace(asked, arguments={"session_id": 7})
    assert story.verdicts()[2].status is Status.OK


def test_an_unanswered_call_is_unknown() -> None:
    story = Story().shell("make serve")
    del story.events[1]
    assert (story.verdicts()[0].status, story.verdicts()[0].basis) == (Status.UNKNOWN, Basis.NONE)
    assert story.failures() == []


_MIGRATION = """
Traceback (most recent call last):
  File "db.py", line 3, in connect
KeyError: 'QUAY_URL'
make: *** [Makefile:3: migrate] Error 1
"""
_JEST = """
> quay@1.0.0 test
> jest

  ● fee

    TypeError: sum is not a function

Tests:       1 failed, 3 total
npm ERR! code ELIFECYCLE
"""
_HOOK = """
✖ eslint --fix:
  4:9  error  Parsing error: '}' expected
✖ 1 problem (1 error, 0 warnings)
"""


@pytest.mark.parametrize(
    ("command", "output", "expected"),
    [
        ("jq . a.json", "zsh:1: command not found: jq", "command not found: jq"),
        ("jq . a.json", "/bin/bash: line 1: jq: command not found", "command not found: jq"),
        ('ls "a', "/bin/bash: eval: line 1: unexpected EOF while looking for matching `\"'",
         "unexpected EOF while looking for matching `\"'"),
        ("cat /w/one/notes.md", "cat: /w/one/notes.md: No such file or directory",
         "cat: <path>/notes.md: No such file or directory"),
        ("sed -n 1,9p 'Use cases/UC-06.md'",
         "sed: can't read Use cases/UC-06.md: No such file or directory",
         "sed: can't read <path>/UC-<n>.md: No such file or directory"),
        ("node x.js", "Error: Cannot find module '@quay/fees'\nRequire stack:",
         "node: Error: Cannot find module '@quay/fees'"),
        ("curl -I https://example.org", "  0     0curl: (6) Could not resolve host: example.org",
         "curl: (<n>) Could not resolve host: example.org"),
        ("frob sync", "Error: unknown flag: --all\nUsage:\n  frob sync",
         "frob sync: Error: unknown flag: --all"),
        ("frob sync", "", "frob sync: exit 3"),
        ("make migrate", _MIGRATION, "make migrate: KeyError: 'QUAY_URL'"),
        ("npm test", _JEST, "npm test: TypeError: sum is not a function"),
        ("git commit -m x", _HOOK, "git commit: Parsing error: '}' expected"),
    ],
)  # fmt: skip
def test_a_signature_names_what_matters(command: str, output: str, expected: str) -> None:
    assert signature(command, output, 3) == expected


def test_a_missing_file_is_known_by_its_name_and_a_page_by_its_host() -> None:
    story = Story()
    story.tool(Tool.READ, "Read", "/home/ann/w/fees.py", "File does not exist.", failed=True)
    story.tool(Tool.READ, "Read", "C:\\w\\fees.py", "File does not exist. Note: look", failed=True)
    story.tool(Tool.WEB, "Fetch", "https://example.org/a", "status code 404", failed=True)
    assert [row.signature for row in story.failures()] == [
        "Read: File does not exist: '<path>/fees.py'",
        "Read: File does not exist: '<path>/fees.py'",
        "Fetch: status code 404 (example.org)",
    ]


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ('{\n "status": "error",\n "tool": "search",\n "error": "no_api_key"\n}', "no_api_key"),
        ('{"error": {"code": 429, "message": "Too many requests"}}', "Too many requests"),
        ('{"error": "Traceback: gone\\nmore", "message": "m"}\n', "Traceback: gone"),
        ('{"error": null}', '{"error": null}'),
        ('{"error": x', '{"error": x'),
        ('{"error": "\ud800"}', '{"error": "\ud800"}'),
    ],
)
def test_an_object_is_known_by_its_error(output: str, expected: str) -> None:
    (row,) = Story().tool(Tool.OTHER, "search", "x", output, failed=True).failures()
    assert row.signature == f"search: {expected}"


def test_a_command_whose_output_comes_in_an_object_is_known_by_that_output() -> None:
    said = "Traceback (most recent call last):\\nKeyError: 'QUAY'\\n\\nCommand exited with code 1"
    assert signature("python x.py", f'{{"status": "error", "error": "{said}"}}', 1) == (
        "python: KeyError: 'QUAY'"
    )
    assert signature("frob sync", "\n\nCommand exited with code 3", 3) == "frob sync: exit 3"


def test_only_head_and_tail_of_a_long_output_are_looked_at() -> None:
    middle = "x" * 50_000
    assert verdict("pytest | cat", f"{middle}\n1 failed in 2s", None).status is Status.FAILED
    assert verdict("pytest | cat", f"{middle}\n1 failed in 2s\n{middle}", None).status is (
        Status.UNKNOWN
    )
