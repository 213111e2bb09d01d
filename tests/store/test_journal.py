"""The journal of what we wrote is kept over a rebuild, by age, and goes with its workspace."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hansei.config import Config
from hansei.instructions import carrying
from hansei.instructions.plans import Item, plan_add
from hansei.ops.rebuild import rebuild
from hansei.ops.removal import chosen, remove
from hansei.store import journal, log
from hansei.store.database import Store, open_store
from hansei.store.removal import forget
from pieces import piece, prompt


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / "AGENTS.md").write_text("rules\n")
    return folder


@pytest.fixture
def written(config: Config, repository: Path, now: int) -> Iterator[Store]:
    store = open_store(config.store, now=now)
    one = piece([prompt("s1", 1, now, text="hi")], path="/t/s1", cwd=str(repository))
    log.commit(store, [one], now=now, seal_before=0)
    for number in (1, 2):
        plan = plan_add(store, repository, "AGENTS.md", Item(f"bet:{number}", f"- {number}"))
        carrying.carry_out(store, plan, now=now)
    yield store
    store.close()


def test_it_is_kept_over_a_rebuild(
    written: Store, config: Config, repository: Path, now: int
) -> None:
    before = carrying.history(written)
    written.close()
    assert rebuild(config, now=now).choices_kept
    store = open_store(config.store, now=now)
    assert carrying.history(store) == before
    for entry in before:
        carrying.undo(store, entry.id, now=now)
    assert (repository / "AGENTS.md").read_text() == "rules\n"
    store.close()


def test_it_is_in_the_workspace_of_its_sessions(written: Store) -> None:
    (number,) = written.db.execute("SELECT workspace FROM sessions").fetchone()
    assert [entry.workspace for entry in carrying.history(written)] == [number, number]


def test_it_outlives_the_last_session(written: Store, now: int) -> None:
    (number,) = written.db.execute("SELECT id FROM sessions").fetchone()
    forget(written, [number], now=now)
    assert len(carrying.history(written)) == 2


def test_it_goes_with_its_workspace(written: Store, config: Config, now: int) -> None:
    doomed = chosen(written, config, "app")
    assert doomed.written == 2
    remove(written, doomed, config, now=now)
    assert carrying.history(written) == []
    assert written.db.execute("SELECT count(*) FROM journal_files").fetchone() == (0,)


def test_a_workspace_without_sessions_can_be_forgotten(
    written: Store, config: Config, now: int
) -> None:
    (number,) = written.db.execute("SELECT id FROM sessions").fetchone()
    forget(written, [number], now=now)
    doomed = chosen(written, config, "app")
    assert not doomed.empty
    remove(written, doomed, config, now=now)
    assert carrying.history(written) == []
    assert written.db.execute("SELECT count(*) FROM workspaces").fetchone() == (0,)


def test_an_entry_that_is_not_there_is_named(written: Store) -> None:
    from hansei.errors import NotFound

    with pytest.raises(NotFound, match="no change 99"):
        journal.find(written.db, 99)
