"""`hansei skills curate`, typed in a repository."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import NOW
from git_world import Repo, repository
from hansei.cli import app
from hansei.cli.root import root
from hansei.config import Environment
from hansei.errors import NotFound, UsageError

CLAUDE = """\
# House rules

- Line length is 88.
- Run `make types` after each edit of a TypeScript file.
- Deploy as `docs/deploy.md` says.
"""
AGENTS = """\
# House rules

- Line length is 100.
"""


class Desk:
    """A repository with a history, a home, and what is printed when a command is typed there."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.repo: Repo = repository(folder / "app")
        self.home = folder / "home"
        self.home.mkdir()
        self.capsys = capsys
        self.clock = NOW
        self.repo.git("config", "user.name", "Ana")
        files = {"CLAUDE.md": CLAUDE, "AGENTS.md": AGENTS, "docs/deploy.md": "x\n"}
        self.repo.commit("Begin", {**files, "tools/ship.sh": "true\n"})
        self.repo.commit("Ship by hand no more", {"docs/deploy.md": None, "tools/ship.sh": None})

    def type(self, *arguments: str) -> str:
        self.clock += 60_000
        self.capsys.readouterr()
        with app.elsewhere(app.Place(Environment(self.home, {}), self.repo.folder)):
            root.main(args=["skills", *arguments], standalone_mode=False)
        return self.capsys.readouterr().out

    def told(self, *arguments: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.type(*arguments, "--json"))
        return found

    def add(self, name: str, body: str, *more: str) -> None:
        self.type("add", name, "-d", f"{name}: use it after an edit.", "--body", body, *more)

    def everything(self) -> dict[str, bytes]:
        """Every file that a curation may touch, but for the history, which only grows."""
        found = [it for it in (self.home, self.repo.folder) for it in sorted(it.rglob("*.md"))]
        return {str(it): it.read_bytes() for it in found}


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Desk]:
    made = Desk(tmp_path, capsys)
    monkeypatch.setattr(app, "now", lambda: made.clock)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    made.add("types", "Run `make types`, then read what it says.")
    made.add("check-types", "Run `make types`, then read what it says.")
    made.add("types-first", "Run `make types`, then read what it says, and mend it at once.")
    made.add("no-types", "Never run `make types` after each edit of a TypeScript file.")
    made.add("ship", "Ship with `tools/ship.sh`.", "--user")
    yield made
    monkeypatch.undo()
    time.tzset()


def test_it_prints_what_the_golden_files_say(
    desk: Desk, golden: Callable[[str, str], None]
) -> None:
    golden("skills-curate.txt", desk.type("curate"))
    golden("skills-curate-apply.txt", desk.type("curate", "--apply"))


def test_showing_the_plan_changes_nothing(desk: Desk) -> None:
    before = desk.everything()
    desk.type("curate")
    assert desk.everything() == before


def test_one_undo_takes_the_whole_curation_back_byte_for_byte(desk: Desk) -> None:
    before = desk.everything()
    (stale,) = [it["id"] for it in desk.told("curate")["steps"] if it["kind"] == "stale"]
    # The one is merged in the book of the workspace, the other retired in the one for everywhere.
    done = desk.told("curate", "--apply", stale)
    assert len(done["changes"]) == 2
    states = {it["name"]: it["state"] for it in desk.told("list", "--all")["skills"]}
    assert (states["check-types"], states["ship"]) == ("retired", "retired")
    assert not (desk.repo.folder / ".claude/skills/check-types").exists()
    desk.type("undo")
    assert desk.everything() == before


def test_after_the_steps_are_taken_the_plan_has_them_no_more(desk: Desk) -> None:
    desk.type("curate", "--apply")
    left = desk.told("curate")["steps"]
    assert not any(it["by_itself"] for it in left)
    assert {it["kind"] for it in left} == {"similar", "conflict", "stale"}


def test_a_conflict_is_for_a_person_to_decide(desk: Desk) -> None:
    (step,) = [it for it in desk.told("curate")["steps"] if it["kind"] == "conflict"]
    assert not step["can_be_applied"]
    assert any("CLAUDE.md:4" in it for it in step["details"])
    with pytest.raises(UsageError, match="for you to decide"):
        desk.type("curate", "--apply", step["id"])


def test_a_step_that_is_not_in_the_plan_is_refused(desk: Desk) -> None:
    with pytest.raises(NotFound, match="no step"):
        desk.type("curate", "--apply", "000000")


def test_instruction_files_are_told_of_and_never_edited(desk: Desk) -> None:
    found = desk.told("curate", "--apply")["findings"]
    places = {it["kind"]: [(at["path"], at["line"]) for at in it["places"]] for it in found}
    assert places == {
        "conflict": [("AGENTS.md", 3), ("CLAUDE.md", 3)],
        "stale": [("CLAUDE.md", 5)],
    }
    assert (desk.repo.folder / "CLAUDE.md").read_text() == CLAUDE
