"""Committing exactly the files we touched, and nothing a person has not committed in them.

git commits a path as a whole, so a file that holds a person's uncommitted work is refused before
anything is written. Hooks of the repository run as always.
"""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from hansei.config import Environment
from hansei.errors import GitError
from hansei.git.repository import own_environment

if TYPE_CHECKING:
    from collections.abc import Sequence

SECONDS = 300.0
"""For a commit: hooks may run tests."""
_WHO = ("GIT_AUTHOR_", "GIT_COMMITTER_")


def must_be_clean(folder: str, paths: Sequence[str]) -> None:
    """Refuse files whose commit would take a person's own changes along."""
    if _run(folder, "rev-parse", "--is-inside-work-tree").stdout.strip() != "true":
        raise GitError(
            f"{folder} is not a git repository", hint="Leave out --commit, or `git init` first."
        )
    for path in paths:
        ignored = _run(folder, "check-ignore", "--quiet", "--", f"./{path}").returncode == 0
        tracked = bool(_run(folder, "ls-files", "--", path).stdout)
        if ignored and not tracked:
            raise GitError(
                f"git ignores {path}, so it cannot be committed",
                hint="Leave out --commit, or choose another file.",
            )
    told = _checked(folder, "status", "--porcelain=v1", "--untracked-files=all", "--", *paths)
    if told.strip():
        changed = ", ".join(sorted({line[3:] for line in told.splitlines()}))
        raise GitError(
            f"{changed} has changes of yours that are not committed",
            hint="Commit or stash them first, or leave out --commit.",
        )


def commit(folder: str, paths: Sequence[str], message: str) -> str:
    """Commit these files and nothing else; returns the commit's id.

    Where git or a hook refuses, the files stay written and the index is as before.
    """
    try:
        _checked(folder, "add", "--", *paths)
        _checked(folder, "commit", "--quiet", "--only", "--message", message, "--", *paths)
    except GitError:
        _run(folder, "reset", "--quiet", "--", *paths)
        raise
    return _checked(folder, "rev-parse", "HEAD").strip()


def _checked(folder: str, *arguments: str) -> str:
    done = _run(folder, *arguments)
    if done.returncode:
        told = (done.stderr.strip() or done.stdout.strip() or "it gave no reason").splitlines()
        raise GitError(
            f"git {arguments[0]} refused: {told[0]}" + "".join(f"\n  {it}" for it in told[1:10]),
            hint="The files are written but not committed; commit them by hand, or undo.",
        )
    return done.stdout


def _run(folder: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    variables = Environment.current().variables
    # That command alone knows no literal paths, and takes them as they are.
    literal = [] if arguments[0] == "check-ignore" else ["--literal-pathspecs"]
    options = [*literal, "-c", "core.quotepath=false"]
    who = {name: value for name, value in variables.items() if name.startswith(_WHO)}
    try:
        return subprocess.run(
            ["git", "-C", folder, *options, *arguments],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
            env=own_environment() | who,
        )
    except FileNotFoundError:
        raise GitError("git is not installed", hint="Leave out --commit, or install git.") from None
    except subprocess.TimeoutExpired:
        raise GitError(
            f"git {arguments[0]} took longer than {SECONDS:.0f} seconds",
            hint="The files are written but not committed; commit them by hand, or undo.",
        ) from None
