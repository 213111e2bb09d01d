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
        return Telling().say("check it").run("cd web && npx tsc --noEmit")

    assert found(RepeatedAction(), once(), once()) == []
    (offer,) = found(RepeatedAction(), once(), once(), once())
    assert offer.sessions == 3
    assert offer.commands == ("cd web && npx tsc --noEmit",)
