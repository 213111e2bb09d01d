"""Whether a tree holds a change, in repositories of every shape that history takes."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from git_world import Repo, repository
from hansei.git.containment import Containment
from hansei.git.objects import Objects

RULES = "# Rules\n\nBuild with make.\nAsk before you deploy.\n"
RULE = "# Rules\n\nBuild with make.\nRun the tests with uv run pytest.\nAsk before you deploy.\n"
Shape = Callable[[Repo], tuple[str, dict[str, bool | None]]]
"""Makes a history; tells the change, and of which commits it is held."""


def linear(repo: Repo) -> tuple[str, dict[str, bool | None]]:
    before = repo.commit("start", {"AGENTS.md": RULES})
    change = repo.commit("rule", {"AGENTS.md": RULE})
    after = repo.commit("work", {"a.py": "1\n"})
    return change, {before: False, change: True, after: True}


def merge(repo: Repo) -> tuple[str, dict[str, bool | None]]:
    before = repo.commit("start", {"AGENTS.md": RULES})
    repo.git("switch", "-qc", "topic")
    change = repo.commit("rule", {"AGENTS.md": RULE})
    repo.git("switch", "-q", "main")
    other = repo.commit("work", {"a.py": "1\n"})
    repo.git("merge", "-q", "--no-ff", "-m", "merge", "topic")
    return change, {before: False, other: False, repo.git("rev-parse", "HEAD"): True}


def merge_as_change(repo: Repo) -> tuple[str, dict[str, bool | None]]:
    _, told = merge(repo)
    *others, merged = told
    after = repo.commit("later", {"b.py": "1\n"})
    return merged, {**dict.fromkeys(others, False), merged: True, after: True}


def squash(repo: Repo) -> tuple[str, dict[str, bool | None]]:
    before = repo.commit("start", {"AGENTS.md": RULES})
    repo.git("switch", "-qc", "topic")
    change = repo.commit("rule", {"AGENTS.md": RULE})
    repo.commit("more", {"b.py": "2\n"})
    repo.git("switch", "-q", "main")
    other = repo.commit("work", {"a.py": "1\n"})
    repo.git("merge", "-q", "--squash", "topic")
    squashed = repo.commit("squashed", {})
    repo.git("branch", "-qD", "topic")
    return change, {before: False, other: False, squashed: True}


def rebase(repo: Repo) -> tuple[str, dict[str, bool | None]]:
    repo.commit("start", {"AGENTS.md": RULES})
    repo.git("switch", "-qc", "topic")
    change = repo.commit("rule", {"AGENTS.md": RULE})
    repo.git("switch", "-q", "main")
    moved = repo.commit("above", {"AGENTS.md": "A new head.\n" + RULES})
    repo.git("switch", "-q", "topic")
    repo.git("rebase", "-q", "main")
    return change, {moved: False, repo.git("rev-parse", "HEAD"): True}


def revert(repo: Repo) -> tuple[str, dict[str, bool | None]]:
    _, told = linear(repo)
    change = list(told)[1]
    repo.git("revert", "--no-edit", change)
    reverted = repo.git("rev-parse", "HEAD")
    later = repo.commit("later", {"c.py": "3\n"})
    repo.git("revert", "--no-edit", reverted)
    again = repo.git("rev-parse", "HEAD")
    return change, told | {reverted: False, later: False, again: True}


def cherry_pick(repo: Repo) -> tuple[str, dict[str, bool | None]]:
    before = repo.commit("start", {"AGENTS.md": RULES})
    repo.git("switch", "-qc", "topic")
    change = repo.commit("rule", {"AGENTS.md": RULE})
    repo.git("switch", "-qc", "release", before)
    other = repo.commit("fix", {"a.py": "1\n"})
    repo.git("cherry-pick", change)
    return change, {other: False, repo.git("rev-parse", "HEAD"): True}


def rewritten_since(repo: Repo) -> tuple[str, dict[str, bool | None]]:
    change, told = linear(repo)
    rewritten = repo.commit("rewrite", {"AGENTS.md": "Everything is different now.\n"})
    return change, told | {rewritten: True}


def reverted_and_rewritten(repo: Repo) -> tuple[str, dict[str, bool | None]]:
    change, told = revert(repo)
    repo.commit("out again", {"AGENTS.md": RULES})
    rewritten = repo.commit("rewrite", {"AGENTS.md": "Everything is different now.\n"})
    return change, told | {rewritten: False}


def a_new_file(repo: Repo) -> tuple[str, dict[str, bool | None]]:
    before = repo.commit("start", {"a.py": "1\n"})
    change = repo.commit("rules", {"AGENTS.md": RULE})
    edited = repo.commit("edit", {"AGENTS.md": RULE + "More.\n"})
    gone = repo.commit("gone", {"AGENTS.md": None})
    return change, {before: False, change: True, edited: True, gone: False}


def a_moved_file(repo: Repo) -> tuple[str, dict[str, bool | None]]:
    before = repo.commit("start", {"a.py": "1\n"})
    change = repo.commit("rules", {"AGENTS.md": RULE})
    moved = repo.commit("move", {"AGENTS.md": None, "CLAUDE.md": RULE})
    return change, {before: False, moved: True}


def a_deleted_file(repo: Repo) -> tuple[str, dict[str, bool | None]]:
    before = repo.commit("start", {"CLAUDE.md": RULE, "a.py": "1\n"})
    change = repo.commit("gone", {"CLAUDE.md": None})
    again = repo.commit("again", {"CLAUDE.md": RULE})
    return change, {before: False, change: True, again: False}


def held_in_part(repo: Repo) -> tuple[str, dict[str, bool | None]]:
    repo.commit("start", {"AGENTS.md": RULES, "CLAUDE.md": RULES})
    change = repo.commit("rule", {"AGENTS.md": RULE, "CLAUDE.md": RULE})
    half = repo.commit("half of it taken back", {"CLAUDE.md": RULES})
    return change, {change: True, half: None}


def another_line(repo: Repo) -> tuple[str, dict[str, bool | None]]:
    repo.commit("start", {"AGENTS.md": RULES})
    repo.git("switch", "-qc", "topic")
    change = repo.commit("rule", {"AGENTS.md": RULE})
    repo.git("switch", "-q", "main")
    rewritten = repo.commit("rewrite", {"AGENTS.md": "Everything is different now.\n"})
    return change, {rewritten: False}


def windows_lines(repo: Repo) -> tuple[str, dict[str, bool | None]]:
    change, told = linear(repo)
    turned = repo.commit("line ends", {"AGENTS.md": RULE.replace("\n", "\r\n")})
    return change, told | {turned: True}


SHAPES: tuple[Shape, ...] = (
    *(linear, merge, merge_as_change, squash, rebase, revert, cherry_pick, rewritten_since),
    *(reverted_and_rewritten, a_new_file, a_moved_file, a_deleted_file, held_in_part),
    *(another_line, windows_lines),
)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda it: it.__name__)
def test_a_tree_holds_a_change_however_it_came_there(shape: Shape, tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    change, told = shape(repo)
    with Objects(str(repo.folder)) as objects:
        containment = Containment(objects, change)
        assert {commit: containment.held(commit) for commit in told} == told


def test_a_worktree_and_its_repository_say_the_same(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    change, told = linear(repo)
    repo.git("worktree", "add", "-q", str(tmp_path / "other"), "HEAD~2")
    with Objects(str(tmp_path / "other")) as objects:
        containment = Containment(objects, change)
        assert {commit: containment.held(commit) for commit in told} == told


def test_a_shallow_clone_says_what_it_knows_and_no_more(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    change, told = linear(repo)
    last = repo.commit("last", {"b.py": "2\n"})
    clone = tmp_path / "clone"
    command = ["git", "clone", "-q", "--depth", "2", f"file://{repo.folder}", str(clone)]
    subprocess.run(command, check=True, capture_output=True)
    with Objects(str(clone)) as objects:
        assert not Containment(objects, change).is_known
        assert Containment(objects, change).held(last) is None
        cut_off = list(told)[-1]
        assert Containment(objects, cut_off).held(last) is None


def test_a_commit_that_is_not_here_is_unknown(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    change, _ = linear(repo)
    with Objects(str(repo.folder)) as objects:
        assert Containment(objects, change).held("f" * 40) is None
        assert Containment(objects, "e" * 40).held(change) is None
