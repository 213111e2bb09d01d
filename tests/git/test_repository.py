"""Which repository a folder belongs to."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hansei.git.repository import clean_remote, identify


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


def repository(folder: Path) -> Path:
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


def test_worktrees_and_subfolders_are_one_workspace(tmp_path: Path) -> None:
    main = repository(tmp_path / "app")
    git(main, "worktree", "add", "-q", str(tmp_path / "app-fix"), "-b", "fix")
    (main / "src").mkdir()
    places = [main, main / "src", tmp_path / "app-fix"]
    assert len({identify(str(place)).id for place in places}) == 1
    assert identify(str(tmp_path / "app-fix")).name == "app"


def test_a_clone_with_the_same_remote_is_the_same_workspace(tmp_path: Path) -> None:
    first = repository(tmp_path / "app")
    git(first, "remote", "add", "origin", "git@example.org:team/app.git")
    git(tmp_path, "clone", "-q", str(first), "again")
    git(tmp_path / "again", "remote", "set-url", "origin", "https://me:pass@example.org/team/app")
    assert identify(str(first)).id == identify(str(tmp_path / "again")).id


def test_a_fork_with_another_remote_is_another_workspace(tmp_path: Path) -> None:
    first = repository(tmp_path / "app")
    git(first, "remote", "add", "origin", "git@example.org:team/app.git")
    git(tmp_path, "clone", "-q", str(first), "fork")
    git(tmp_path / "fork", "remote", "set-url", "origin", "git@example.org:other/app.git")
    assert identify(str(first)).id != identify(str(tmp_path / "fork")).id


def test_a_repository_without_commits_is_known_by_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    git(folder, "init", "-q")
    assert identify(str(folder)).basis == "git_folder"


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("/gone/long/ago", "ago"),
        ("C:\\Users\\me\\shop", "shop"),
        ("/tmp/\x00bad", "\x00bad"),
        ("/", "/"),
    ],
)
def test_a_folder_that_is_gone_is_known_by_its_path(folder: str, name: str) -> None:
    identity = identify(folder)
    assert identity.name == name
    if folder != "/":
        assert identity.id == f"folder:{folder}"


@pytest.mark.parametrize("folder", ["c:\\Users\\me\\shop", "c:/Users/me/shop", "c:"])
def test_the_case_of_a_drive_letter_makes_no_other_workspace(folder: str) -> None:
    assert identify(folder) == identify(f"C{folder[1:]}")
    assert identify(folder).folder == f"C{folder[1:]}"


@pytest.mark.parametrize("folder", ["c/shop", "src:c:/shop", "c:shop"])
def test_what_is_no_drive_stays_as_it_is(folder: str) -> None:
    assert identify(folder).id == f"folder:{folder}"


@pytest.mark.parametrize(
    "url",
    [
        "git@example.org:team/app.git",
        "ssh://git@example.org/team/app.git",
        "https://example.org/team/app",
        "https://user:token@example.org/team/app.git/",
    ],
)
def test_remotes_are_compared_without_protocol_or_password(url: str) -> None:
    assert clean_remote(url) == "example.org/team/app"
