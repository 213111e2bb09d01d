"""What failed, and what was different when it worked."""

from __future__ import annotations

import pytest

from hansei.learn.detectors.error_recovery import ErrorRecovery
from learn_window import found
from retro_window import ROOT, Telling


def fixed(failing: str, complaint: str, working: str, code: int = 1) -> Telling:
    return Telling().say("go on").run(failing, complaint, code).run(working, "done")


def test_the_words_that_were_wrong_are_told_before_and_after() -> None:
    telling = fixed(
        "pip install request",
        "ERROR: No matching distribution found for request",
        "pip install requests",
    )
    (offer,) = found(ErrorRecovery(), telling)
    assert offer.name == "error-pip-install"
    assert "| `pip install request` | `pip install requests` |" in offer.body
    assert "- `request` → `requests`" in offer.body
    assert offer.commands == ("pip install requests",)
    assert offer.predicates.avoid == ("pip install request",)
    assert offer.predicates.do == ("pip install requests",)
    assert "No matching distribution" in offer.predicates.error


@pytest.mark.parametrize(
    ("failing", "complaint", "working", "change"),
    [
        (
            "pytest -q",
            "E   ModuleNotFoundError: No module named 'quay'",
            "PYTHONPATH=. pytest -q",
            "Put `PYTHONPATH=.` before it.",
        ),
        ("quay list --all", "Error: unknown flag: --all", "quay list", "Leave out `--all`."),
        ("npm test", 'npm error Missing script: "test"', "cd web && npm test", "Run it in `web`."),
        (
            "quay ship",
            "Error: accepts 1 arg(s), received 0",
            "quay ship north",
            "Add `north`.",
        ),
    ],
    ids=["variable", "option", "folder", "argument"],
)
def test_one_session_is_enough_where_the_complaint_is_about_the_words(
    failing: str, complaint: str, working: str, change: str
) -> None:
    (offer,) = found(ErrorRecovery(), fixed(failing, complaint, working))
    assert change in offer.body
    assert offer.sessions == 1


@pytest.mark.parametrize(
    "telling",
    [
        fixed("node server.js", "Error: listen EADDRINUSE: :::3000", "PORT=3100 node server.js"),
        fixed("pytest -q tests", "E   assert 1 == 2\n1 failed in 0.1s", "pytest -q tests/a.py"),
        fixed("cat src/a.py", "cat: src/a.py: No such file or directory", "cat src/b.py"),
        fixed("quay ship", "exit 1", "quay ship --soon"),
        fixed("cargo build", "error: no such crate", "git status"),
        fixed("git push", "rejected: fetch first", "git push --force"),
        fixed("quay log", "Error: unknown flag: --all", "quay log > /tmp/log.txt"),
    ],
    ids=["moment", "code", "looking", "vague", "unrelated", "force", "passing"],
)
def test_what_says_nothing_about_the_next_time_is_not_kept(telling: Telling) -> None:
    assert found(ErrorRecovery(), telling) == []


def test_an_edit_in_between_was_the_fix() -> None:
    telling = Telling().say("go on")
    telling.run("quay ship east", "Error: quay east not found", 1)
    telling.edit(f"{ROOT}/quays.toml")
    telling.run("quay ship west", "done")
    assert found(ErrorRecovery(), telling) == []


def test_what_a_program_does_not_have_is_told_together() -> None:
    tellings = [
        fixed("quay list --all", "Error: unknown flag: --all", "quay list"),
        fixed("quay ship --fast", "Error: unknown flag: --fast", "quay ship"),
        fixed("quay send pending", 'Error: unknown command "pending"', "quay send all-pending"),
    ]
    (offer,) = found(ErrorRecovery(), *tellings)
    assert offer.name == "error-quay"
    assert offer.sessions == 3
    assert [line for line in offer.body.splitlines() if line.startswith("| `")] == [
        "| `quay list --all` | `quay list` |",
        "| `quay ship --fast` | `quay ship` |",
        "| `quay send pending` | `quay send all-pending` |",
    ]
    assert len(offer.evidence) == 6


USAGE = "\nUsage:\n  quay list [flags]\n\nFlags:\n  -a, --all   Show all\n"


def test_an_option_that_means_something_else_is_no_replacement() -> None:
    other = fixed("quay list --limit 5", "Error: unknown flag: --limit", "quay list -a")
    same = fixed("quay list --limit 5", "Error: unknown flag: --limit", "quay list -n 5")
    assert found(ErrorRecovery(), other) == []
    assert len(found(ErrorRecovery(), same)) == 1
    (meant,) = found(ErrorRecovery(), other, other, other)
    assert meant.sessions == 3


def test_what_the_complaint_lists_itself_needs_three_sessions() -> None:
    telling = fixed("quay list --every", f"Error: unknown flag: --every{USAGE}", "quay list")
    assert found(ErrorRecovery(), telling) == []
    (offer,) = found(ErrorRecovery(), telling, telling, telling)
    assert offer.sessions == 3


def test_what_a_text_tells_wrongly_is_kept_at_once() -> None:
    telling = Telling().say("Go through the list: run `quay list --every` first.")
    telling.run("quay list --every", f"Error: unknown flag: --every{USAGE}", 1).run("quay list")
    assert len(found(ErrorRecovery(), telling)) == 1


def test_sessions_that_ran_into_it_count_though_they_did_not_get_past() -> None:
    complaint = f"Error: unknown flag: --every{USAGE}"
    stuck = Telling().say("go on").run("quay list --every", complaint, 1)
    (offer,) = found(
        ErrorRecovery(), fixed("quay list --every", complaint, "quay list"), stuck, stuck
    )
    assert offer.sessions == 3
    assert "Got past in 1 session by other words, without any edit. 3 sessions ran into it." in (
        offer.body
    )


def test_what_is_said_of_a_replacement_is_told_with_it() -> None:
    step = (
        "```\n# Look at what waits\nquay send pending\n```\n"
        "**At night** (nobody there):\nThe porter uses `quay send all-pending` then.\n"
    )
    listed = "\nAvailable Commands:\n  all-pending   Send everything off (night only)\n"
    telling = Telling().say("go on").run("quay step 4", step)
    telling.run("quay send pending", f'Error: unknown command "pending" for "quay send"{listed}', 1)
    telling.run("quay send all-pending", "done")
    (offer,) = found(ErrorRecovery(), telling)
    assert "- Wanted was: “Look at what waits”" in offer.body
    assert "is listed as: “Send everything off (night only)”" in offer.body
    assert "“At night (nobody there): The porter uses quay send all-pending then.”" in offer.body


def migrated(place: str) -> Telling:
    complaint = "Error: connection to the database was refused"
    working = "docker compose up -d db && make migrate"
    return fixed("make migrate", complaint, working, 2).read(f"{ROOT}/{place}")


def test_what_three_sessions_got_past_the_same_way_needs_no_other_reason() -> None:
    assert found(ErrorRecovery(), migrated("a"), migrated("b")) == []
    (offer,) = found(ErrorRecovery(), migrated("a"), migrated("b"), migrated("c"))
    assert offer.sessions == 3
    assert "First run `docker compose up -d db`." in offer.body


def test_a_session_and_its_subagents_are_one() -> None:
    child = migrated("b")
    child.parent = 1
    assert found(ErrorRecovery(), migrated("a"), child, migrated("c")) == []


def test_a_folder_that_sessions_look_for_in_the_wrong_place_is_told() -> None:
    def lost(name: str) -> Telling:
        complaint = f"sed: can't read Use cases/{name}.md: No such file or directory"
        return fixed(
            f"sed -n '1,20p' 'Use cases/{name}.md'",
            complaint,
            f"sed -n '1,20p' 'Use Cases/{name}.md'",
            2,
        )

    (offer,) = found(ErrorRecovery(), *map(lost, ("one", "two", "three")))
    assert offer.name == "error-path-use-cases"
    assert "| `Use cases` | `Use Cases` |" in offer.body
    assert offer.commands == ()
