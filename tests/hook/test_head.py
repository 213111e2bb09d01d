"""Commit and branch are read from git's files as git itself would tell them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hansei.hook.repository import head


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    done = subprocess.run(
        ["git", "-C", str(folder), *identity, *arguments],
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "app"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "one")
    return folder


def test_a_branch_and_a_folder_below(repository: Path) -> None:
    below = repository / "src" / "deep"
    below.mkdir(parents=True)
    commit = git(repository, "rev-parse", "HEAD")
    assert head(str(repository)) == head(str(below)) == (commit, "main")


def test_packed_references(repository: Path) -> None:
    git(repository, "branch", "other-main")
    git(repository, "pack-refs", "--all")
    assert head(str(repository)) == (git(repository, "rev-parse", "HEAD"), "main")


def test_a_worktree_and_a_branch_with_a_slash(repository: Path, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere"
    git(repository, "worktree", "add", "-q", "-b", "feature/x", str(other))
    git(other, "commit", "-q", "--allow-empty", "-m", "two")
    assert head(str(other)) == (git(other, "rev-parse", "HEAD"), "feature/x")


def test_no_branch(repository: Path) -> None:
    git(repository, "checkout", "-q", "--detach")
    assert head(str(repository)) == (git(repository, "rev-parse", "HEAD"), None)


def test_no_commit_yet(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    assert head(str(tmp_path)) == (None, "main")


@pytest.mark.parametrize("text", ["", "gitdir: /nowhere\n", "garbage", "ref: refs/heads/../../x"])
def test_what_is_no_repository_has_no_commit(tmp_path: Path, text: str) -> None:
    (tmp_path / ".git").write_text(text)
    assert head(str(tmp_path))[0] is None
    assert head("/nowhere/at/all") == (None, None)
