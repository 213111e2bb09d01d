"""Snapshots of a repository with what the store remembers of git."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from git_world import Repo, repository
from hansei.errors import NotFound
from hansei.ops.snapshot import snapshot, started_on
from hansei.projection.snapshots import StartBasis
from hansei.store.database import Store, open_store

CODE = "import os\n\n\ndef harbour():\n    return os\n"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return repository(tmp_path / "repo")


def test_what_was_found_once_is_remembered(repo: Repo, tmp_path: Path) -> None:
    first = repo.commit("Start", {"app.py": CODE, "README.md": "words\n"})
    repo.commit("More", {"app.py": f"{CODE}# more\n"})
    with closing(open_store(tmp_path / "store", now=repo.now)) as store:
        now = snapshot(store, str(repo.folder))
        assert [(it.path, it.holds.lines) for it in now.files] == [("README.md", 1), ("app.py", 6)]
        assert snapshot(store, str(repo.folder), first).commit == first
        assert _remembered(store) == 5  # three blobs, two commits
        assert snapshot(store, str(repo.folder), "main") == now
        assert _remembered(store) == 5


def _remembered(store: Store) -> int:
    (rows,) = store.db.execute("SELECT count(*) FROM git_facts").fetchone()
    return int(rows)


@pytest.mark.parametrize("name", ["no-such-branch", "--all", ""])
def test_a_commit_that_git_does_not_know_is_told(repo: Repo, tmp_path: Path, name: str) -> None:
    repo.commit("Start", {"app.py": CODE})
    with (
        closing(open_store(tmp_path / "store", now=repo.now)) as store,
        pytest.raises(NotFound, match="has no commit"),
    ):
        snapshot(store, str(repo.folder), name)


def test_the_start_of_a_session_is_looked_up_where_it_worked(repo: Repo, tmp_path: Path) -> None:
    commit = repo.commit("Start", {"app.py": CODE})
    with closing(open_store(tmp_path / "store", now=repo.now)) as store:
        store.db.execute(
            "INSERT INTO workspaces (identity, name, basis, folder) VALUES ('x', 'x', 'folder', ?)",
            (str(repo.folder),),
        )
        store.db.execute(
            "INSERT INTO sessions (agent, native, workspace, cwd, started_at)"
            " VALUES ('a', 'abcdefgh', 1, '/no/such/folder', ?)",
            (repo.now + 1000,),
        )
        assert started_on(store, 1) == (commit, StartBasis.REFLOG, True)
