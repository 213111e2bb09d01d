"""`hansei skills backtest`, typed in a generated history."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hansei.cli import app
from hansei.cli.root import root
from hansei.config import Environment
from hansei.errors import NotFound, UsageError
from hansei.synth import World, build
from synthetic_world import NOW, even_place


class Place(NamedTuple):
    """A world and its store."""

    world: World
    store: Path
    capsys: pytest.CaptureFixture[str]

    def type(self, *arguments: str, folder: Path | None = None) -> str:
        variables = {"HANSEI_HOME": str(self.store), "PATH": "/usr/bin:/bin", "COLUMNS": "120"}
        here = app.Place(Environment(self.world.home, variables), folder or self.world.repo)
        self.capsys.readouterr()
        with app.elsewhere(here):
            words = ["skills", "backtest", *arguments, "--no-ingest"]
            root.main(args=words, standalone_mode=False)
        return self.capsys.readouterr().out

    def told(self, *arguments: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.type(*arguments, "--json"))["reports"]
        return found


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, Path]]:
    store = tmp_path_factory.mktemp("store")
    with even_place() as folder:
        agents = ("claude_code", "codex")
        world = build(folder, seed=11, now_ms=NOW, sessions=60, weeks=6, agents=agents)
        here = Environment(world.home, {"HANSEI_HOME": str(store), "PATH": "/usr/bin:/bin"})
        with app.elsewhere(app.Place(here, world.repo)):
            root.main(args=["facts", "--json"], standalone_mode=False)
        yield world, store


@pytest.fixture
def place(
    built: tuple[World, Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Place:
    monkeypatch.setattr(app, "now", lambda: NOW)
    monkeypatch.setenv("COLUMNS", "120")
    return Place(*built, capsys)


def test_it_prints_what_the_golden_file_says(
    place: Place, golden: Callable[[str, str], None]
) -> None:
    golden("skills-backtest.txt", place.type("--classic"))


def test_two_runs_print_the_same_bytes(place: Place) -> None:
    assert place.type("--json") == place.type("--json")


def test_json_holds_both_rules_with_their_intervals_and_chances(place: Place) -> None:
    ours, simple = place.told("--classic")
    assert (ours["rules"], simple["rules"]) == ("ours", "classic")
    assert ours["after"]["tasks"] == simple["after"]["tasks"] > 0
    made = ours["after"]["troubles"]
    right = made["by_offer"]["right"]
    assert right["low"] <= right["per_hundred"] <= right["high"]
    assert made["right_by_chance"]["high"] < right["count"]
    assert sum(it["count"] for it in made["by_offer"].values()) == made["offers"]
    assert made["tokens"] > 0


def test_a_day_decides_what_is_learned_from(place: Place) -> None:
    (early,), (late,) = place.told("--before", "2025-09-01"), place.told("--before", "2025-10-01")
    one, other = early["workspaces"][0], late["workspaces"][0]
    assert one["split_at"] < other["split_at"]
    assert one["tasks_before"] < other["tasks_before"]
    assert one["tasks_after"] > other["tasks_after"]


def test_before_everything_there_is_nothing_to_learn_and_that_is_said(place: Place) -> None:
    out = place.type("--before", "2020-01-01")
    assert "Learned from 0 tasks" in out
    assert "Nobody had these skills then" in out


def test_it_never_claims_that_a_session_would_have_gone_otherwise(place: Place) -> None:
    out = " ".join(place.type().split())
    assert "this does not say that a session would have gone otherwise" in out
    assert not any(it in out for it in ("saved", "prevented", "would have saved", "helped"))


def test_a_kept_skill_is_tested_since_it_was_learned(place: Place, tmp_path: Path) -> None:
    shutil.copytree(place.store, tmp_path / "own")
    place = place._replace(store=tmp_path / "own")
    variables = {"HANSEI_HOME": str(place.store), "PATH": "/usr/bin:/bin"}
    here = Environment(place.world.home, variables)
    words = ["learn", "--since", "2025-08-01", "--until", "2025-09-20", "--yes", "--no-ingest"]
    with app.elsewhere(app.Place(here, place.world.repo)):
        root.main(args=words, standalone_mode=False)
    (report,) = place.told("error-pytest")
    assert report["rules"] == "book"
    assert report["workspaces"][0]["offers"] == 1
    assert report["after"]["offers"][0]["verdict"] == "right"
    assert "error-pytest" in place.type("error-pytest").splitlines()[0]


def test_a_folder_without_sessions_says_so(place: Place, tmp_path: Path) -> None:
    assert "No sessions" in place.type(folder=tmp_path)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--before", "4w", "--share", "50"], "both say where to split"),
        (["error-pytest", "--all"], "only --before goes with it"),
        (["error-pytest", "--classic"], "only --before goes with it"),
        (["--before", "someday"], "not a time we understand"),
    ],
)
def test_what_contradicts_itself_is_refused(place: Place, arguments: list[str], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        place.type(*arguments)


def test_a_skill_that_is_not_there_is_named(place: Place) -> None:
    with pytest.raises(NotFound, match="no-such-skill"):
        place.type("no-such-skill")
