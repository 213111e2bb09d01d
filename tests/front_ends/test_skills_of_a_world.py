"""`hansei skills list` and `why` on a generated history in which a skill's outcomes are planted."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from hansei.cli import app
from hansei.cli.root import root
from hansei.config import Config, Environment, Settings
from hansei.learn.model import Evidence, Predicates, Skill
from hansei.ops import skills
from hansei.ops.ingest import ingest
from hansei.ops.skills import Desk
from hansei.store.database import open_store
from hansei.synth import build
from hansei.synth.guides import AVOID, CHECK, DO, GUIDE, SIGN

NOW = 1_790_000_000_000
BEGIN = NOW - 28 * 86_400_000
TOLD = Predicates(error=f"python: {SIGN}", do=(DO,), avoid=(AVOID,), check=CHECK)
SKILL = Skill(GUIDE.name, GUIDE.about, f"Run `{DO}`.", predicates=TOLD, origin="error-recovery")
Typed = Callable[..., str]


@pytest.fixture
def type_(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Typed]:
    """What is printed when a command of the skillbook is typed in the world's repository."""
    agents = ("claude_code", "codex")
    world = build(tmp_path, seed=5, now_ms=NOW, sessions=40, weeks=4, agents=agents, guided=True)
    subprocess.run(["git", "config", "user.name", "Ana"], cwd=world.repo, check=True)
    config = Config(world.home / ".hansei", Settings(), Environment(world.home, {}))
    store = open_store(config.store, now=NOW)
    ingest(store, config, now=NOW)
    desk = Desk(store, config, world.repo, BEGIN)
    guide = replace(SKILL, owner="Ana", evidence=(Evidence("5e551011", 7),))
    skills.add(desk, guide, place=False)
    skills.vote(replace(desk, now=NOW), GUIDE.name, helpful=True, note="saved a round")
    skills.add(desk, Skill("tides", "About tides.", "Look at the table."), place=False)
    store.close()
    monkeypatch.setattr(app, "now", lambda: NOW)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()

    def typed(*words: str) -> str:
        capsys.readouterr()
        with app.elsewhere(app.Place(Environment(world.home, {}), world.repo)):
            root.main(args=["skills", *words], standalone_mode=False)
        return capsys.readouterr().out

    yield typed
    monkeypatch.undo()
    time.tzset()


def test_it_prints_what_the_golden_files_say(
    type_: Typed, golden: Callable[[str, str], None]
) -> None:
    golden("skills-list-counted.txt", type_("list"))
    golden("skills-why-counted.txt", type_("why", GUIDE.name))


def test_the_whole_story_can_be_read_by_a_program(type_: Typed) -> None:
    told = json.loads(type_("why", GUIDE.name, "--json"))
    counters = told["counters"]
    total = counters["total"]
    votes = [it["vote"] for it in counters["cases"]]
    for word in ("helpful", "harmful", "neutral"):
        assert votes.count(word) == total[word]["sessions"]
    assert total["exposed"] == len(votes)
    assert type_("why", GUIDE.name, "--json") == type_("why", GUIDE.name, "--json")
    (listed,) = [
        it for it in json.loads(type_("list", "--json"))["skills"] if it["name"] == GUIDE.name
    ]
    assert listed["counts"]["helpful"] == total["helpful"]["sessions"]
    assert listed["counts"]["votes"] == {"helpful": 1, "harmful": 0}


def test_every_event_it_names_can_be_opened(type_: Typed) -> None:
    told = json.loads(type_("why", GUIDE.name, "--json"))
    events = [
        it
        for case in told["counters"]["cases"]
        for kind in ("triggered", "followed", "violated")
        for it in case[kind]
    ]
    assert events
    assert all(it["session"] and it["event"] > 0 for it in events)
