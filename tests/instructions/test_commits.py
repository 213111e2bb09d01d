"""Exactly our files are committed, and nothing a person has not committed in them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hansei.errors import GitError
from hansei.instructions import carrying
from hansei.instructions.plans import Item, plan_add, together
from hansei.store import journal
from hansei.store.database import Store

BET = Item("bet:1", "- use `make types`")
MESSAGE = "Say how types are checked"


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet")
    git(folder, "config", "user.name", "A Person")
    git(folder, "config", "user.email", "person@example.com")
    (folder / "AGENTS.md").write_text("rules\n")
    (folder / "code.py").write_text("one\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "first")
    return folder


def commit(store: Store, repository: Path, now: int, *targets: str) -> journal.Entry:
    plans = (plan_add(store, repository, target, BET) for target in targets or ("AGENTS.md",))
    return carrying.carry_out(store, together(*plans), now=now, message=MESSAGE)


def test_only_our_files_are_committed(store: Store, repository: Path, now: int) -> None:
    (repository / "code.py").write_text("staged\n")
    git(repository, "add", "code.py")
    (repository / "code.py").write_text("not staged\n")
    entry = commit(store, repository, now, "AGENTS.md", "a [b]/AGENTS.md")
    assert entry.commit == git(repository, "rev-parse", "HEAD").strip()
    told = git(repository, "show", "--format=%s", "--name-only", "HEAD").splitlines()
    assert told == [MESSAGE, "", "AGENTS.md", "a [b]/AGENTS.md"]
    assert git(repository, "diff", "--cached", "--name-only") == "code.py\n"
    assert git(repository, "show", ":code.py") == "staged\n"


@pytest.mark.parametrize("staged", [True, False])
def test_a_file_with_a_persons_own_changes_is_refused_before_anything_is_written(
    store: Store, repository: Path, now: int, staged: bool
) -> None:
    (repository / "AGENTS.md").write_text("rules\nmine\n")
    if staged:
        git(repository, "add", "AGENTS.md")
    with pytest.raises(GitError, match=r"AGENTS\.md has changes of yours") as refused:
        commit(store, repository, now)
    assert refused.value.hint
    assert (repository / "AGENTS.md").read_text() == "rules\nmine\n"
    assert carrying.history(store) == []


def test_an_ignored_file_is_refused(store: Store, repository: Path, now: int) -> None:
    (repository / ".gitignore").write_text("CLAUDE.md\n")
    with pytest.raises(GitError, match=r"git ignores CLAUDE\.md"):
        commit(store, repository, now, "CLAUDE.md")
    assert not (repository / "CLAUDE.md").exists()


def test_without_a_repository_it_says_so(store: Store, tmp_path: Path, now: int) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    with pytest.raises(GitError, match="is not a git repository"):
        commit(store, folder, now)
    assert list(folder.iterdir()) == []


def test_without_git_it_says_so(
    store: Store, repository: Path, now: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(GitError, match="git is not installed"):
        commit(store, repository, now)
    assert (repository / "AGENTS.md").read_text() == "rules\n"


def test_hooks_run_and_their_refusal_is_told(store: Store, repository: Path, now: int) -> None:
    hook = repository / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'no commits on Mondays' >&2\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(GitError, match="no commits on Mondays"):
        commit(store, repository, now, "AGENTS.md", "GEMINI.md")
    assert git(repository, "diff", "--cached", "--name-only") == ""
    (entry,) = carrying.history(store)
    assert entry.commit is None
    carrying.undo(store, entry.id, now=now)
    assert git(repository, "status", "--porcelain") == ""


def test_a_first_commit_can_be_ours(store: Store, tmp_path: Path, now: int) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    git(folder, "init", "--quiet")
    git(folder, "config", "user.name", "A Person")
    git(folder, "config", "user.email", "person@example.com")
    commit(store, folder, now)
    assert git(folder, "log", "--format=%s").strip() == MESSAGE


def test_the_difference_applies_with_git(store: Store, repository: Path) -> None:
    for name, text in (("AGENTS.md", b"one\r\ntwo"), ("GEMINI.md", b"a\n\n```\nx\n```\n")):
        (repository / name).write_bytes(text)
    plan = together(
        *(
            plan_add(store, repository, name, BET)
            for name in ("AGENTS.md", "GEMINI.md", "a/AGENTS.md")
        )
    )
    subprocess.run(
        ["git", "-C", str(repository), "apply", "-"], input=plan.diff.encode(), check=True
    )
    for file in plan.files:
        assert file.change.file.read_bytes() == file.change.after
