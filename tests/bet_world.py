"""A repository with sessions in a store, and bets planted in it, for tests of what acts on bets."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from findings import each, finding
from hansei.bets.model import Change, Design, Finding
from hansei.git.repository import identify
from hansei.projection.window import Window
from hansei.store import workspaces
from hansei.store.database import Store, open_store

NOW = 1_790_000_000_000
DAY = 86_400_000
SESSIONS = 10
DATE = "2026-09-01T12:00:00Z"
"""Of every commit: a repository is known by its first one."""


@dataclass(frozen=True)
class Bets:
    """A heuristic that proposes these changes, each seen in every session."""

    changes: Mapping[str, Change]
    name: str = "planted"

    def find(self, window: Window) -> Iterator[Finding]:
        for seq, (key, change) in enumerate(self.changes.items(), 1):
            found = finding(each(window.sessions, seq=seq), key=key, heuristic=self.name)
            yield replace(found, change=change)


def line(text: str, path: str | None = None) -> Change:
    return Change(Design.LINE, text, path)


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", *who, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"GIT_AUTHOR_DATE": DATE, "GIT_COMMITTER_DATE": DATE},
    )
    return done.stdout.strip()


def repository(folder: Path) -> Path:
    """A repository with one commit."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "user.name", "A")
    git(folder, "config", "user.email", "a@example.org")
    (folder / "README.md").write_text("here\n", encoding="utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def stocked(store_folder: Path, place: Path, *, agent: str = "claude_code") -> Store:
    """A store that holds a session a day in a repository."""
    store = open_store(store_folder, now=NOW)
    with store.transaction() as db:
        identity = identify(str(place))
        number = workspaces.number_of(db, identity)
        workspaces.remember(db, {str(place): identity})
        for day in range(SESSIONS):
            at = NOW - (SESSIONS - day) * DAY
            made = db.execute(
                "INSERT INTO sessions (agent, native, workspace, driver, cwd, started_at, ended_at,"
                " next_seq) VALUES (?, ?, ?, 'human', ?, ?, ?, 5)",
                (agent, f"{day:08x}-session", number, str(place), at, at + 60_000),
            )
            db.execute(
                "INSERT INTO spend (session, quarter, model, requests, input, cache_read, output,"
                " unmeasured, unpriced, cost, copies, removed)"
                " VALUES (?, ?, 'claude-sonnet-4-5', 20, 100, 9000, 50, 0, 0, 1000, 0, 0)",
                (made.lastrowid, at // 900_000),
            )
    return store
