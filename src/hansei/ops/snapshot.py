"""What a repository was like at a commit, and on which commit a session began."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hansei.errors import NotFound
from hansei.events.model import CommitBasis, SessionFacts
from hansei.git.repository import git, need_git
from hansei.projection.snapshots import start_commit, take
from hansei.store.git_facts import GitFacts

if TYPE_CHECKING:
    from hansei.projection.snapshots import Snapshot, Start
    from hansei.store.database import Store


def snapshot(store: Store, folder: str, commit: str = "HEAD") -> Snapshot:
    """The files of a repository at a commit; `commit` is any name that git understands."""
    need_git()
    named = None if commit.startswith("-") else f"{commit}^{{commit}}"
    found = named and git(folder, "rev-parse", "--verify", "--quiet", named)
    taken = take(folder, found, GitFacts(store)) if found else None
    if taken is None:
        raise NotFound(
            f"{folder} has no commit {commit}",
            hint="Give a commit, branch or tag of a git repository: git log --oneline",
        )
    return taken


def started_on(store: Store, number: int) -> Start:
    """The commit a session began on, and how that is known."""
    native, cwd, branch, commit, basis, at, home = store.db.execute(
        'SELECT s.native, s.cwd, s.branch, s."commit", s.commit_basis, s.started_at, w.folder'
        " FROM sessions s JOIN workspaces w ON w.id = s.workspace WHERE s.id = ?",
        (number,),
    ).fetchone()
    seen_at = at if basis == CommitBasis.HOOK else None
    facts = SessionFacts(id=native, branch=branch, commit=commit, seen_at=seen_at)
    # The working copy has its own reflog; the repository has only that of the main one.
    folder = next((it for it in (cwd, home) if it and _is_here(it)), None)
    return start_commit(facts, folder, at)


def _is_here(folder: str) -> bool:
    try:
        return Path(folder).is_dir() and git(folder, "rev-parse", "--git-dir") is not None
    except (OSError, ValueError):
        return False
