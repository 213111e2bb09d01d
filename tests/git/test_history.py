"""Histories as git tells them, also where git has little to tell."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from git_world import HOUR, START, Repo, repository
from hansei.git.churn import recent, touches
from hansei.git.history import from_graph, from_reflog, listed, read_history, reflog
from hansei.git.objects import Objects


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return repository(tmp_path / "repo")


def test_commits_come_oldest_first_with_the_files_they_changed(repo: Repo) -> None:
    first = repo.commit("One", {"a.txt": "one\n", "b.txt": "two\n"})
    second = repo.commit("Two\n\nwith a body", {"a.txt": "three\n", "b.txt": None})
    history = read_history(str(repo.folder))
    assert [commit.id for commit in history.commits] == [first, second]
    assert history.commits[1].message == "Two\n\nwith a body"
    assert history.commits[1].committed == START + 2 * HOUR
    assert history.main == {first, second}
    assert history.complete_since is None
    changed, deleted = history.commits[1].changes
    assert (changed.path, deleted.path, deleted.after) == ("a.txt", "b.txt", None)
    with Objects(str(repo.folder)) as objects:
        assert objects.blob(changed.after or "", 100) == b"three\n"
        assert objects.blob(changed.after or "", 3) is None
        assert objects.blob(changed.before[0] or "", 100) == b"one\n"


def test_a_merge_tells_only_what_neither_side_had(repo: Repo) -> None:
    repo.commit("Start", {"a.txt": "1\n2\n3\n"})
    repo.git("checkout", "--quiet", "-b", "side")
    repo.commit("Side", {"a.txt": "side\n2\n3\n", "side.txt": "side\n"})
    repo.git("checkout", "--quiet", "main")
    repo.commit("Main", {"a.txt": "main\n2\n3\n"})
    repo.git("merge", "--quiet", "--no-commit", "--strategy=ours", "side")
    repo.git("checkout", "side", "--", "side.txt")
    repo.commit("Merge", {"a.txt": "both\n2\n3\n"})
    merge = read_history(str(repo.folder)).commits[-1]
    assert len(merge.parents) == 2
    (change,) = merge.changes
    assert change.path == "a.txt"
    assert len(change.before) == 2


def test_branches_are_told_but_are_not_the_main_line_and_a_stash_is_neither(repo: Repo) -> None:
    start = repo.commit("Start", {"a.txt": "1\n"})
    repo.git("checkout", "--quiet", "-b", "side")
    side = repo.commit("Side", {"a.txt": "2\n"})
    repo.git("checkout", "--quiet", "main")
    (repo.folder / "a.txt").write_text("put aside\n")
    repo.git("stash")
    history = read_history(str(repo.folder))
    assert [commit.id for commit in history.commits] == [start, side]
    assert history.main == {start}


def test_a_shallow_clone_says_from_when_on_it_is_whole(repo: Repo, tmp_path: Path) -> None:
    for number in range(4):
        repo.commit(f"Number {number}", {"a.txt": f"{number}\n"})
    repo.git("clone", "--quiet", "--depth=2", f"file://{repo.folder}", str(tmp_path / "cut"))
    history = read_history(str(tmp_path / "cut"))
    assert [commit.message for commit in history.commits] == ["Number 3"]
    assert history.complete_since == START + 3 * HOUR


def test_strange_paths_come_through_and_submodules_are_left_out(repo: Repo, tmp_path: Path) -> None:
    other = repository(tmp_path / "other")
    other.commit("Start", {"x": "x\n"})
    (Path(os.fsdecode(os.fsencode(repo.folder) + b"/caf\xe9\ttab.txt"))).write_text("text\n")
    repo.git("submodule", "--quiet", "add", str(other.folder), "module")
    commit = repo.commit("Start", {})
    paths = [change.path for change in read_history(str(repo.folder)).commits[0].changes]
    assert paths == [".gitmodules", "caf\udce9\ttab.txt"]
    assert [path for path, _ in listed(str(repo.folder), commit)] == paths
    ((name, found),) = touches(str(repo.folder), recent(str(repo.folder), commit, START))
    assert (name, found[1].path) == (commit, paths[1])


def test_the_commit_at_a_time_comes_from_the_reflog_or_the_graph(repo: Repo) -> None:
    first = repo.commit("One", {"a.txt": "1\n"})
    between = repo.now + 1
    second = repo.commit("Two", {"a.txt": "2\n"})
    folder = str(repo.folder)
    assert [moved.commit for moved in reflog(folder)] == [second, first]
    assert from_reflog(folder, between) == from_graph(folder, between) == first
    assert from_reflog(folder, repo.now) == from_graph(folder, repo.now, "main") == second
    assert from_reflog(folder, START) is None
    assert from_graph(folder, START) is None


def test_no_repository_and_an_empty_one_have_no_history(repo: Repo, tmp_path: Path) -> None:
    assert read_history(str(tmp_path)).commits == ()
    assert read_history(str(repo.folder)).commits == ()
    assert from_graph(str(repo.folder), START) is None
    assert reflog(str(tmp_path / "nowhere")) == []


def test_without_git_there_is_no_history(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit("One", {"a.txt": "1\n"})
    monkeypatch.setenv("PATH", "")
    assert read_history(str(repo.folder)).commits == ()
    assert list(listed(str(repo.folder), "HEAD")) == []
