"""How work came to the main line, read from its commits."""

from __future__ import annotations

from pathlib import Path

import pytest

from git_world import Repo, repository
from hansei.git.merges import main_line_of, told

MESSAGES = {
    "Merge pull request #12 from acme/feature/login\n\nLog people in": (
        "#12",
        "feature/login",
        "Log people in",
    ),
    "Add search (#13)\n\n* first\n* second": ("#13", None, "Add search"),
    'Revert "Add search (#13)" (#14)': ("#14", None, 'Revert "Add search (#13)"'),
    "Merge branch 'fix/tide' into 'main'\n\nTell the tide\n\nSee merge request acme/port!7": (
        "!7",
        "fix/tide",
        "Tell the tide",
    ),
    "Tell the tide\n\nSee merge request !8": ("!8", None, "Tell the tide"),
    "Merged in fix/tide (pull request #9)\n\nTell the tide": ("#9", "fix/tide", "Tell the tide"),
    "Merged PR 10: Tell the tide": ("#10", None, "Tell the tide"),
    "Merge branch 'fix/tide'": (None, "fix/tide", "Merge branch 'fix/tide'"),
    "Merge remote-tracking branch 'origin/fix'": (
        None,
        "fix",
        "Merge remote-tracking branch 'origin/fix'",
    ),
    "Merge branch 'main' of example.org:acme/port": (
        None,
        None,
        "Merge branch 'main' of example.org:acme/port",
    ),
    "Close #12 at last": (None, None, "Close #12 at last"),
    "": (None, None, ""),
}


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_tells_the_request_and_the_branch(message: str) -> None:
    found = told("abc", 5, message)
    assert (found.request, found.branch, found.title) == MESSAGES[message]


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return repository(tmp_path / "repo")


def merged(repo: Repo, branch: str, message: str) -> str:
    """A branch merged into main, and deleted as forges do."""
    repo.git("checkout", "--quiet", "main")
    repo.now += 3_600_000
    repo.git("merge", "--quiet", "--no-ff", "--message", message, branch)
    repo.git("branch", "--quiet", "-D", branch)
    return repo.git("rev-parse", "HEAD")


def test_a_commit_was_brought_by_the_first_merge_that_contains_it(repo: Repo) -> None:
    start = repo.commit("Start", {"a": "a\n"})
    repo.git("checkout", "--quiet", "-b", "one")
    first = repo.commit("One", {"b": "b\n"})
    repo.git("checkout", "--quiet", "-b", "two")
    second = repo.commit("Two", {"c": "c\n"})
    merge_one = merged(repo, "one", "Merge pull request #1 from acme/one")
    merge_two = merged(repo, "two", "Merge pull request #2 from acme/two")
    line = main_line_of(str(repo.folder))
    expected = {start: start, first: merge_one, second: merge_two}
    assert {it: line.brought[it] for it in expected} == expected
    bringing = line.bringing(first)
    assert bringing is not None
    assert (bringing.branch, bringing.request) == ("one", "#1")


def test_what_was_never_merged_was_brought_by_nothing(repo: Repo) -> None:
    repo.commit("Start", {"a": "a\n"})
    repo.git("checkout", "--quiet", "-b", "side")
    side = repo.commit("Side", {"b": "b\n"})
    assert main_line_of(str(repo.folder)).bringing(side) is None


def test_the_main_line_has_the_name_that_the_remote_gives_it(repo: Repo, tmp_path: Path) -> None:
    repo.commit("Start", {"a": "a\n"})
    repo.git("branch", "--move", "main", "trunk")
    repo.git("clone", "--quiet", str(repo.folder), str(tmp_path / "copy"))
    assert main_line_of(str(tmp_path / "copy")).names == {"main", "master", "trunk"}


def test_where_there_is_no_repository_there_is_no_main_line(tmp_path: Path) -> None:
    assert not main_line_of(str(tmp_path)).merges
