"""What happens from a failure to the next success, and when tests changed their mind."""

from __future__ import annotations

from failing_calls import Story
from hansei.events.model import Status, Tool
from hansei.projection.failures import Ending, Kind, families
from hansei.projection.failures.episodes import PATIENCE
from hansei.projection.outcomes import turns

FAILED = "FAILED tests/test_fee.py::test_fee - assert 3 == 4\n1 failed in 0.41s"
PASSED = "3 passed in 0.40s"


def test_an_episode_tells_what_changed_between_failure_and_success() -> None:
    story = Story()
    story.shell("pytest -q", FAILED, 1)
    story.tool(Tool.EDIT, "Edit", "src/fee.py")
    story.shell("pytest -q", FAILED, 1)
    story.tool(Tool.EDIT, "Edit", "src/quay.py")
    story.shell("uv run pytest -q -x", PASSED)
    (row,) = story.episodes()
    assert (row.kind, row.ending) == (Kind.FAILURE, Ending.RECOVERED)
    assert (len(row.failures), row.calls) == (2, 4)
    assert row.edited == ("src/fee.py", "src/quay.py")
    assert (row.before, row.after) == ("pytest -q", "pytest -q -x")
    assert (row.removed, row.added) == ((), ("uv", "run", "-x"))
    assert row.minutes is not None
    assert row.minutes > 4


def test_a_success_of_something_else_is_no_recovery() -> None:
    story = Story().shell("cargo build", "error[E0308]: mismatched types", 101)
    story.shell("git status", " M a.rs").shell("npm test", "ok").shell("cargo fmt")
    (row,) = story.episodes()
    assert (row.ending, row.after, row.end) == (Ending.SESSION_ENDED, "", row.seq)


def test_another_way_to_do_the_same_is_a_recovery() -> None:
    missing = 'npm error Missing script: "typecheck"'
    for failing, output, remedy in (
        ("pnpm typecheck", missing, "pnpm --filter api exec tsc --noEmit"),
        ("bun test", "bash: line 1: bun: command not found", "npx vitest run"),
        ("cat Docs/a.md", "cat: Docs/a.md: No such file or directory", "cat docs/a.md"),
        ("python seed.py --all", "KeyError: 'X'", "set -a; . ./.env; python seed.py --all"),
        ("frob job pend", 'Error: unknown command "pend" for "frob job"', "frob job trigger"),
    ):
        story = Story().shell(failing, output, 1).shell("ls", "a").shell(remedy, "fine")
        (row,) = story.episodes()
        assert row.ending is Ending.RECOVERED, failing
        assert row.calls == 2


def test_a_part_of_the_tests_says_nothing_of_the_whole() -> None:
    story = Story().shell("pytest tests/api", FAILED, 1).shell("pytest tests/api/test_a.py", PASSED)
    assert story.episodes()[0].ending is Ending.SESSION_ENDED
    story.shell("pytest", PASSED)
    assert story.episodes()[0].ending is Ending.RECOVERED


def test_a_read_of_another_file_is_no_recovery() -> None:
    story = Story().shell("sed -n 1,9p a/fee.md", "sed: can't read a/fee.md: No such file", 2)
    story.shell("sed -n 1,9p a/quay.md", "text")
    assert story.episodes()[0].ending is Ending.SESSION_ENDED


def test_an_edit_that_missed_recovers_when_the_file_is_edited() -> None:
    story = Story().tool(
        Tool.EDIT, "Edit", "src/fee.py", "String to replace not found in file.", failed=True
    )
    story.tool(Tool.READ, "Read", "src/fee.py").tool(Tool.EDIT, "Edit", "src/fee.py")
    (row,) = story.episodes()
    assert (row.kind, row.ending, row.calls) == (Kind.HARNESS, Ending.RECOVERED, 2)


def test_another_tool_is_no_recovery() -> None:
    story = Story().tool(Tool.MCP, "mcp__pencil__open", "", "no file is open", failed=True)
    story.tool(Tool.MCP, "mcp__tracker__list", "")
    assert story.episodes()[0].ending is Ending.SESSION_ENDED


def test_counting_the_lines_of_a_file_is_not_reading_it() -> None:
    too_long = "File content (31619 tokens) exceeds maximum allowed tokens (25000)."
    story = Story().tool(Tool.READ, "Read", "src/fee.py", too_long, failed=True)
    story.shell("wc -l src/fee.py", "900 src/fee.py").shell("sed -n 1,99p src/fee.py", "x")
    (row,) = story.episodes()
    assert (row.ending, row.calls) == (Ending.RECOVERED, 2)


def test_an_agent_that_goes_on_with_other_work_has_moved_on() -> None:
    story = Story().shell("pytest", FAILED, 1)
    for _ in range(PATIENCE):
        story.shell("ls", "a")
    story.shell("pytest", PASSED)
    (row,) = story.episodes()
    assert (row.ending, row.calls) == (Ending.MOVED_ON, 0)


def test_tokens_are_those_of_the_requests_after_the_failure_up_to_the_success() -> None:
    story = Story().request("m1", 100, 1).shell("pytest", FAILED, 1)
    story.request("m2", 200, 2).shell("ls", "a")
    story.request("m3", 300, 3).shell("pytest", PASSED)
    story.request("m4", 400, 4)
    (row,) = story.episodes()
    assert (row.input, row.output) == (500, 5)


def test_tokens_nobody_told_are_unknown() -> None:
    story = Story().shell("pytest", FAILED, 1).shell("pytest", PASSED)
    (row,) = story.episodes()
    assert (row.input, row.output) == (None, None)


def test_runs_of_tests_turn_green_and_red() -> None:
    story = Story()
    story.shell("pytest -q 2>&1 | tail -3", FAILED, None)
    story.shell("pytest -q | tail -1", "no summary", None)
    story.tool(Tool.EDIT, "Edit", "src/fee.py")
    story.shell("pytest -q 2>&1 | tail -3", PASSED, None)
    story.shell("npx jest && pytest -q", FAILED, 1)
    runs = story.runs()
    assert [(run.command, run.status) for run in runs] == [
        ("pytest -q", Status.FAILED),
        ("pytest -q", Status.OK),
        ("pytest -q", Status.FAILED),
    ]
    edits = [edit.seq for call in story.calls() for edit in call.edits]
    green, red = turns(runs, edits)
    assert (green.green, green.edits) == (True, tuple(edits))
    assert not red.green


def test_a_run_that_was_stopped_tells_nothing() -> None:
    assert Story().shell("pytest", "....^C", 130).runs() == []


def test_families_bring_sessions_together_by_signature() -> None:
    one = Story().shell("pytest", FAILED, 1).shell("uv run pytest", PASSED)
    two = Story().shell("pytest", FAILED.replace("3", "5"), 1).shell("uv run pytest", PASSED)
    told = list(enumerate((one, two), 1))
    (family,) = families(
        [(number, row) for number, it in told for row in it.failures()],
        [(number, row) for number, it in told for row in it.episodes()],
    )
    assert family.signature == "pytest: assert <n> == <n>"
    assert (family.sessions, family.times, family.recovered) == ((1, 2), 2, 2)
    assert (family.recovery, family.recoveries) == ("pytest", 2)
