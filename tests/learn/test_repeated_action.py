"""One command, run again and again."""

from __future__ import annotations

import pytest

from hansei.learn.detectors.repeated_action import RepeatedAction
from learn_window import found
from retro_window import ROOT, Telling


def often(command: str, times: int, *others: str, code: int = 0) -> Telling:
    telling = Telling().say("go on with the berths please")
    for other in others or ("ls", "git status", "cat a", "rg b", "pwd", "git log"):
        telling.run(other)
    for _ in range(times):
        telling.edit(f"{ROOT}/app/forms/berth.py").run(command, "", code)
    return telling


def test_a_command_with_something_nobody_would_guess_is_kept() -> None:
    (offer,) = found(RepeatedAction(), often("PYTHONPATH=. pytest -q", 4))
    assert offer.name == "repeated-pytest"
    assert offer.commands == ("PYTHONPATH=. pytest -q",)
    assert "After files in `app/forms/` changed." in offer.body
    assert len(offer.evidence) == 4


@pytest.mark.parametrize(
    "telling",
    [
        often("git status", 9),
        often("npm test", 9),
        often("ls -la --all", 9),
        often("quay show --json", 9),
        often("PYTHONPATH=. pytest -q", 3),
        often("PYTHONPATH=. pytest -q", 9, code=1),
        often("./scripts/send.sh --to /tmp/out", 9),
        often("rm -rf build --verbose --one", 9),
        often("TOKEN=x ./scripts/wipe.sh --force", 9),
    ],
    ids=["git", "known", "looking", "shows", "seldom", "failing", "passing", "rm", "force"],
)
def test_what_everybody_knows_or_does_not_work_is_none(telling: Telling) -> None:
    assert found(RepeatedAction(), telling) == []


def test_a_short_session_has_no_habits() -> None:
    telling = Telling().say("go")
    for _ in range(5):
        telling.run("PYTHONPATH=. pytest -q")
    assert found(RepeatedAction(), telling) == []


def test_what_differs_becomes_a_slot() -> None:
    telling = often("node scripts/sync.js north --dry-run", 2)
    for quay in ("east", "west"):
        telling.run(f"node scripts/sync.js {quay} --dry-run")
    (offer,) = found(RepeatedAction(), telling)
    assert offer.commands == ("node scripts/sync.js <name> --dry-run",)
    assert "`<name>`: for example `north`, `east`, `west`" in offer.body


def test_three_sessions_are_enough_for_one_run_each() -> None:
    def once() -> Telling:
        return Telling().say("check it").run("cd web && npx tsc --project tsconfig.app.json")

    assert found(RepeatedAction(), once(), once()) == []
    (offer,) = found(RepeatedAction(), once(), once(), once())
    assert offer.sessions == 3
    assert offer.commands == ("cd web && npx tsc --project tsconfig.app.json",)


def test_a_script_that_every_session_writes_anew_is_no_command_of_the_project() -> None:
    def own() -> Telling:
        telling = Telling().say("check it").run("cat > try_it.py <<EOF\nprint(1)\nEOF")
        return telling.run("python try_it.py --all --strict")

    def kept() -> Telling:
        return Telling().say("check it").run("python try_it.py --all --strict")

    assert found(RepeatedAction(), own(), own(), own()) == []
    assert len(found(RepeatedAction(), own(), kept(), kept(), kept())) == 1


@pytest.mark.parametrize("command", ["cd web && npx tsc --noEmit", "cd web && npm run build"])
def test_a_check_that_any_agent_runs_is_no_habit(command: str) -> None:
    assert found(RepeatedAction(), often(command, 9)) == []


def test_the_folder_is_told_that_holds_what_was_edited_before_most_runs() -> None:
    telling = often("node scripts/sync.js north --dry-run", 1)
    for folder in ("forms", "pages", "pages", "api"):
        telling.edit(f"{ROOT}/app/{folder}/berth.py").run("node scripts/sync.js north --dry-run")
    (offer,) = found(RepeatedAction(), telling)
    assert "After files in `app/` changed." in offer.body


def test_no_folder_is_told_where_edits_lay_anywhere() -> None:
    telling = often("node scripts/sync.js north --dry-run", 2)
    for folder in ("docs", "web"):
        telling.edit(f"{ROOT}/{folder}/berth.md").run("node scripts/sync.js north --dry-run")
    (offer,) = found(RepeatedAction(), telling)
    assert "changed" not in offer.body


def test_what_follows_is_told_where_it_follows_most_runs() -> None:
    def followed(times: int) -> Telling:
        telling = often("true", 1)
        for number in range(4):
            telling.run("node scripts/sync.js north --dry-run")
            telling.run("docker compose up -d db" if number < times else f"make berth{number}")
        return telling

    (most,) = found(RepeatedAction(), followed(3))
    (half,) = found(RepeatedAction(), followed(2))
    assert "which usually follows" in most.body
    assert "which usually follows" not in half.body
