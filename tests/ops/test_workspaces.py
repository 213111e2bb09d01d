"""A workspace stays one while its repository grows."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from claude_home import session
from hansei.config import Config, Environment, remember_local_store, store_folder
from hansei.ops.ingest import ingest
from hansei.ops.scope import Scope, current_workspace
from hansei.ops.sessions import sessions
from hansei.ops.summary import summary
from hansei.store.database import Store


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


def one_session(config: Config, name: str, folder: Path, now: int) -> None:
    one = session(config.environment.home, name, now, cwd=str(folder))
    one.prompt("go")
    one.say("done")


def test_init_commit_and_remote_leave_it_the_same_workspace(
    store: Store, config: Config, now: int, tmp_path: Path
) -> None:
    folder = tmp_path / "two"
    (folder / "src").mkdir(parents=True)
    steps = [
        (),
        ("init", "-q"),
        ("commit", "-q", "--allow-empty", "-m", "first"),
        ("remote", "add", "origin", "git@example.org:team/two.git"),
    ]
    for number, step in enumerate(steps):
        if step:
            git(folder, *step)
        place = folder if number % 2 else folder / "src" if number == 2 else folder
        one_session(config, f"{number}{number}{number}{number}-s", place, now + number)
        ingest(store, config, now=now)
        found, _ = current_workspace(store, folder)
        assert found is not None
        assert len(sessions(store, Scope(workspace=found))) == number + 1


def test_a_variable_about_another_repository_is_not_believed(
    store: Store, config: Config, now: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "three"):
        (tmp_path / name).mkdir()
        git(tmp_path / name, "init", "-q")
        git(tmp_path / name, "commit", "-q", "--allow-empty", "-m", name)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "three" / ".git"))
    one_session(config, "1111-s", tmp_path / "one", now)
    ingest(store, config, now=now)
    assert [line.workspace for line in sessions(store, Scope())] == ["one"]


def test_repositories_of_one_name_are_told_apart(store: Store, config: Config, now: int) -> None:
    one_session(config, "1111-s", Path("/one/app"), now)
    one_session(config, "2222-s", Path("/two/app"), now)
    ingest(store, config, now=now)
    labels = {line.labels["repo"] for line in summary(store, Scope(), ["repo"]).lines}
    assert labels == {"app (/one/app)", "app (/two/app)"}


def test_since_counts_sessions_and_requests_alike(store: Store, config: Config, now: int) -> None:
    one_session(config, "1111-s", Path("/one/app"), now)
    ingest(store, config, now=now)
    for late in range(0, 3_600_000, 300_000):
        answer = summary(store, Scope(since=now + late))
        assert (answer.total.requests > 0) == (sum(answer.drivers.values()) > 0)


def test_a_store_that_came_with_a_clone_is_not_used(home: Path, tmp_path: Path) -> None:
    foreign = tmp_path / "clone" / ".hansei"
    foreign.mkdir(parents=True)
    (foreign / "hansei.db").write_bytes(b"")
    environment = Environment(home, {})
    assert store_folder(environment, tmp_path / "clone") == home / ".hansei"
    remember_local_store(environment, foreign)
    assert store_folder(environment, tmp_path / "clone" / "deep") == foreign
