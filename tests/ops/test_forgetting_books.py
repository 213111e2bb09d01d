"""A workspace that is forgotten takes this person's skills for it along, with their history."""

from __future__ import annotations

import subprocess
from pathlib import Path

from conftest import NOW
from hansei.config import Config, Environment, Settings
from hansei.git.repository import identify
from hansei.learn.model import Scope, Skill
from hansei.ops import removal, skills
from hansei.ops.skills import Desk
from hansei.store.database import open_store
from hansei.store.workspaces import number_of


def test_forgetting_a_workspace_removes_its_book_and_nothing_else(tmp_path: Path) -> None:
    here, home = tmp_path / "app", tmp_path / "home"
    here.mkdir()
    home.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=here, check=True)
    config = Config(home / ".hansei", Settings(), Environment(home, {}))
    store = open_store(config.store, now=NOW)
    desk = Desk(store, config, here, NOW)
    skills.add(desk, Skill("mine", "For here.", "Say `zebra`."), place=False)
    wide = Skill("wide", "For everywhere.", "Run `make b`.", scope=Scope.GLOBAL)
    last = skills.add(desk, wide, place=False).change
    with store.transaction() as db:
        number_of(db, identify(str(here)))
    doomed = removal.chosen(store, config, str(here))
    assert doomed.book is not None
    removal.remove(store, doomed, config, now=NOW)
    assert not doomed.book.folder.exists()
    assert b"zebra" not in (home / ".hansei/skills/history.jsonl").read_bytes()
    assert [skill.name for _, skill in skills.listed(config, here)[0]] == ["wide"]
    again = skills.add(desk, Skill("next", "For here.", "Run `make c`."), place=False).change
    assert last is not None
    assert again == last + 1
    store.close()
