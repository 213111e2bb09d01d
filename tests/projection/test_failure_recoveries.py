"""What is another try of what failed, what is not, and what is told of the change."""

from __future__ import annotations

import pytest

from failing_calls import Story
from hansei.events.model import Basis, Status, Tool
from hansei.projection.failures import Ending, Episode, Kind

MISSED = "String to replace not found in file."
UNREAD = "File has not been read yet. Read it first before writing to it."
FAILED = "FAILED tests/test_fee.py::test_fee - assert 3 == 4\n1 failed in 0.41s"
PASSED = "3 passed in 0.40s"
BODY = "def fee(days):\n    rate = tariff(days)\n    more = extra(days)\n    return rate + more\n"


def only(story: Story) -> Episode:
    (row,) = story.episodes()
    return row


def patch(step: str, *lines: str) -> str:
    return "\n".join(("*** Begin Patch", f"*** {step}", "@@", *lines, "*** End Patch"))


# --- what changed ---------------------------------------------------------------------------------


def test_arguments_of_a_tool_are_compared_by_name() -> None:
    story = Story().tool(
        Tool.READ, "Read", "src/fee.py", "File content (9 tokens) exceeds maximum allowed tokens",
        failed=True, file_path="src/fee.py",
    )  # fmt: skip
    story.tool(Tool.READ, "Read", "src/fee.py", "x", file_path="src/fee.py", limit=80, offset=1)
    assert only(story).added == ("limit=80", "offset=1")


def test_a_long_argument_is_told_by_what_it_is() -> None:
    story = Story().tool(
        Tool.EDIT, "Edit", "fee.py", MISSED, failed=True, old_string="a\nb", new_string=BODY
    )
    story.tool(Tool.EDIT, "Edit", "fee.py", old_string="a\nb\nc", new_string=BODY)
    assert (only(story).removed, only(story).added) == ((), ("another text to replace",))


def test_leaving_the_sandbox_is_told_and_its_refusal_is_of_the_harness() -> None:
    refused = "fatal: Unable to create '/x/.git/a.lock': Operation not permitted"
    story = Story().shell("git branch a", refused, 128)
    story.shell("git branch a", arguments={"sandbox_permissions": "require_escalated"})
    row = only(story)
    assert (row.kind, row.ending) == (Kind.HARNESS, Ending.RECOVERED)
    assert row.added == ("sandbox_permissions=require_escalated",)


def test_a_word_that_is_still_there_is_never_told_as_gone() -> None:
    words = " ".join(f"word{number}" for number in range(300))
    story = Story().shell(f"frob send {words} --fast", "Error: unknown flag: --fast", 1)
    story.shell(f"frob send --slow {words}")
    assert (only(story).removed, only(story).added) == (("--fast",), ("--slow",))


def test_a_patch_is_told_by_its_steps_and_not_by_its_lines() -> None:
    story = Story().shell(
        f"apply_patch <<'P'\n{patch('Update File: fee.py', '-a', '+fee = tariff(days)')}\nP",
        "Failed to find expected lines in fee.py:\na", 1,
    )  # fmt: skip
    story.shell(f"apply_patch <<'P'\n{patch('Delete File: fee.py')}\nP")
    for _ in range(7):
        story.shell("ls", "a")
    story.shell(f"apply_patch <<'P'\n{patch('Add File: fee.py', '+fee = tariff(days)')}\nP")
    row = only(story)
    assert row.end == story.calls()[-1].seq
    assert row.removed == ("Update File: fee.py",)
    assert row.added == ("Add File: fee.py", "another patch")


# --- what is the same thing -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("failing", "output", "later"),
    [
        ("pytest tests/unit", FAILED, "pytest --version"),
        ("pytest tests/test_fee.py", FAILED, "pytest --ignore=tests/test_fee.py"),
        ("pytest tests/unit", FAILED, "pytest tests/unit -k fee"),
        ("cat .q/settings.json", "cat: .q/settings.json: No such file", "cat ~/.q/settings.json"),
        ("cat specs/a/spec.md", "cat: specs/a/spec.md: No such file", "cat specs/b/spec.md"),
        ("cat a/fee.ts", "cat: a/fee.ts: No such file or directory", "ls b/fee.ts"),
        ("frob dep rm a b && frob close a", "Error: failed to rm dep: locked", "frob close a"),
        ("frob show fee-7 --deps", "Error: unknown flag: --deps", "frob close fee-7"),
        ("npm install fee", "npm error code ERESOLVE", "npm install quay"),
        ("cd api && npm test", "1 failed", "cd web && npm test"),
        ("python seed.py --file a.csv", "a.csv: No such file", "python seed.py"),
        ("git add out/a.bin", "The following paths are ignored by one of your", "git add -A"),
        ("cat a.ps1 | frob-eval", "frob-eval: not found: x", "cat b.ps1 | frob-eval"),
    ],
)
def test_something_else_is_no_recovery(failing: str, output: str, later: str) -> None:
    row = Story().shell(failing, output, 1).shell(later, "fine").episodes()[0]
    assert (row.ending, row.after) == (Ending.SESSION_ENDED, "")


@pytest.mark.parametrize(
    ("failing", "output", "later"),
    [
        ("frob show fee-7", "Error: database is locked", "frob --db /x/y.db show fee-7"),
        ("dir /B", "dir: cannot access '/B': No such file or directory", "ls -la"),
        ("ls src/", "ls: src/: exit 2", "find src -type f"),
        ("cd C:\\Users\\bo\\fee", "cd: C:Usersbofee: No such file", "cd /c/Users/bo/fee"),
        ("cat fee.ts", "cat: fee.ts: No such file or directory", "cat app/src/fee.ts"),
        ("frob s --json | jq .a", "jq: error: Cannot index array", "frob s --json | jq '.[0]'"),
        ("frob rig show mayor", "Error: rig 'mayor' not found", "frob rig show harbour"),
    ],
)
def test_the_same_thing_in_another_way_is_a_recovery(failing: str, output: str, later: str) -> None:
    row = Story().shell(failing, output, 1).shell(later, "fine").episodes()[0]
    assert row.ending is Ending.RECOVERED


def test_another_page_is_no_recovery() -> None:
    gone = "Request failed with status code 404"
    story = Story().tool(Tool.WEB, "WebFetch", "https://quay.dev/docs/fees", gone, failed=True)
    story.tool(Tool.WEB, "WebFetch", "https://quay.dev/docs", "text")
    assert only(story).ending is Ending.SESSION_ENDED
    story.tool(Tool.WEB, "WebFetch", "https://www.quay.dev/docs/fees/", "text")
    assert only(story).ending is Ending.RECOVERED


def test_an_edit_far_away_must_bring_what_the_first_was_to_bring() -> None:
    for brings, ending in ((BODY, Ending.RECOVERED), ("import os\n" * 9, Ending.SESSION_ENDED)):
        story = Story().tool(Tool.EDIT, "Edit", "fee.py", UNREAD, failed=True, new_string=BODY)
        for _ in range(20):
            story.shell("ls", "a")
        story.tool(Tool.EDIT, "Edit", "fee.py", new_string=brings)
        assert only(story).ending is ending


def test_an_edit_that_brings_the_same_is_taken_before_one_that_is_nearer() -> None:
    story = Story().tool(Tool.EDIT, "Edit", "fee.py", UNREAD, failed=True, new_string=BODY)
    story.tool(Tool.EDIT, "Edit", "fee.py", new_string="import os\n" * 9)
    near = only(story)
    story.tool(Tool.EDIT, "Edit", "fee.py", new_string=BODY)
    assert near.ending is Ending.RECOVERED
    assert only(story).end > near.end


def test_a_renamed_argument_is_another_try() -> None:
    wrong = "InputValidationError: Grep failed due to the following issue:\nfile_path is unexpected"
    story = Story().tool(
        Tool.SEARCH, "Grep", "a.py", wrong, failed=True, file_path="a.py", pattern="fee"
    )
    story.tool(Tool.SEARCH, "Grep", "fee", "3: fee", path="a.py", pattern="fee")
    row = only(story)
    assert row.signature.endswith("issue: file_path is unexpected")
    assert (row.removed, row.added) == (("file_path=a.py",), ("path=a.py",))


# --- what a call is told by -----------------------------------------------------------------------


def test_the_form_of_a_failure_holds_the_part_that_failed() -> None:
    story = Story().shell("frob show 7 --json | jq .a", "jq: error: Cannot index array", 5)
    assert only(story).before == "frob show {n} --json | jq .a"
    story = Story().shell("cd /nowhere && find . -name a", "bash: cd: /nowhere: No such file", 1)
    assert only(story).before == "cd /nowhere"


def test_another_failure_of_another_command_has_its_own_episode() -> None:
    story = Story().shell("npm i -g @quay/fee-cli", "npm error 404 Not Found - GET x", 1)
    story.shell("npm i -g @quay/fees-cli", "npm error Error: EACCES: permission denied", 1)
    story.shell("sudo npm i -g @quay/fees-cli", "added 3 packages")
    name, rights = story.episodes()
    assert (name.removed, name.added) == (("@quay/fee-cli",), ("@quay/fees-cli",))
    assert (rights.removed, rights.added) == ((), ("sudo",))


def test_the_same_command_that_fails_in_another_way_goes_on_with_its_episode() -> None:
    story = Story().shell("frob sync --all", "Error: database is locked", 1)
    story.shell("rm -f a.lock b.lock c.lock && frob sync --all", "Error: prefix differs", 1)
    assert len(only(story).failures) == 2


def test_only_files_that_were_written_are_told_as_edited() -> None:
    story = Story().shell("pytest", FAILED, 1)
    story.tool(Tool.EDIT, "Edit", "src/a.py", MISSED, failed=True)
    story.shell("cat > src/b.py <<'E'\nx = 1\nE")
    story.shell("pytest", PASSED)
    assert story.episodes()[0].edited == ("src/b.py",)


def test_what_a_failed_chain_had_got_past_is_past() -> None:
    story = Story().shell("cd C:\\q && pytest", "bash: cd: C:q: No such file or directory", 1)
    story.shell("cd /c/q && pytest", FAILED, 1).shell("cd /c/q && pytest", PASSED)
    assert [row.end for row in story.episodes()] == [call.seq for call in story.calls()[1:]]


# --- commands that are asked for later ------------------------------------------------------------


def test_a_command_is_judged_by_the_answer_to_a_later_question() -> None:
    story = Story().shell("npm test", "1 failed", 1)
    story.shell("npm test", "", None, basis=Basis.NONE, name="exec_command")
    story.shell("", "all fine", name="write_stdin", arguments={"session_id": 7, "chars": ""})
    row = only(story)
    assert (row.ending, row.after) == (Ending.RECOVERED, "npm test")
    assert row.end == story.calls()[-1].seq


def test_a_question_that_tells_of_a_failure_names_the_command_that_was_started() -> None:
    begun = "Command running in background with ID: ab12"
    story = Story().shell("python seed.py", begun)
    told = (
        "<status>failed</status>\n\n<exit_code>1</exit_code>\n\n<stderr>\nKeyError: 'X'\n</stderr>"
    )
    for _ in range(2):
        story.tool(Tool.SUBAGENT, "TaskOutput", "", told, task_id="ab12")
    (row,) = story.failures()
    assert (row.program, row.signature) == ("python", "python: KeyError: 'X'")


def test_a_keystroke_is_no_program() -> None:
    story = Story().shell(
        "\x03", "write_stdin failed: stdin is closed", None, Status.FAILED, Basis.FLAG,
        name="write_stdin", arguments={"session_id": 7},
    )  # fmt: skip
    assert story.failures()[0].program == "write_stdin"


def test_a_server_that_says_it_runs_has_recovered() -> None:
    story = Story().shell("node server.js", "Error: listen EADDRINUSE: address in use", 1)
    story.shell(
        "PORT=3100 node server.js", "running at http://localhost:3100", None, basis=Basis.NONE
    )
    assert only(story).added == ("PORT=3100",)


# --- kinds and lines ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "output", "kind", "signature"),
    [
        (
            "npm run build",
            "command timed out after 15 milliseconds\nFailed to compile.\n\nType error: no 'fee'.",
            Kind.FAILURE,
            "npm run build: Type error: no 'fee'.",
        ),
        (
            "frob doctor",
            "Error: doctor found 2 error(s)\n  ✖ daemon failed to start",
            Kind.FAILURE,
            "frob doctor: daemon failed to start",
        ),
        (
            "sudo npm i fee",
            "sudo: a password is required",
            Kind.FAILURE,
            "sudo: a password is required",
        ),
        (
            "node server.js",
            "Error: listen EPERM: operation not permitted 0.0.0.0:3000",
            Kind.HARNESS,
            "node: Error: listen EPERM: operation not permitted <ip>",
        ),
        (
            "for i in a; do frob close $i > /dev/null 2>&1\ndone && frob squash b",
            "",
            Kind.FAILURE,
            "frob close: exit 1",
        ),
        (
            "frob dep remove a && frob close a",
            "Error: failed to remove dependency: locked",
            Kind.FAILURE,
            "frob dep: Error: failed to remove dependency: locked",
        ),
    ],
)
def test_a_failure_is_told_by_what_went_wrong(
    command: str, output: str, kind: Kind, signature: str
) -> None:
    row = Story().shell(command, output, 1).failures()[0]
    assert (row.kind, row.signature) == (kind, signature)


def test_a_hook_is_told_by_its_reason_and_a_dropped_call_by_its_sibling() -> None:
    story = Story().tool(Tool.WRITE, "Write", "a.py", "BLOCKED: tests are protected.", failed=True)
    story.shell("ls", "<tool_use_error>Sibling tool call errored</tool_use_error>", None,
                Status.UNKNOWN, Basis.INTERRUPTED)  # fmt: skip
    assert [row.signature for row in story.failures()] == [
        "Write: refused by a hook: BLOCKED: tests are protected.",
        "ls: Sibling tool call errored",
    ]
