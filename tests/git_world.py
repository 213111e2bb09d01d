"""A small repository that a test writes commit by commit."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

HOUR = 3_600_000
DAY = 24 * HOUR
START = 1_750_000_000_000


@dataclass
class Repo:
    """Every commit is an hour after the last one, unless said otherwise."""

    folder: Path
    now: int = START

    def git(self, *arguments: str) -> str:
        quiet = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
        dates = dict.fromkeys(
            ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), f"@{self.now // 1000} +0000"
        )
        done = subprocess.run(
            [
                *("git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org"),
                *("-c", "protocol.file.allow=always", *arguments),
            ],
            cwd=self.folder,
            env=os.environ | quiet | dates,
            capture_output=True,
            check=True,
        )
        return done.stdout.decode("utf-8", "replace").strip()

    def commit(self, message: str, files: dict[str, str | None], *, after: int = HOUR) -> str:
        """Write or delete files and commit everything; returns the commit."""
        self.now += after
        for name, content in files.items():
            path = self.folder / name
            if content is None:
                path.unlink()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")


def repository(folder: Path) -> Repo:
    folder.mkdir(parents=True)
    repo = Repo(folder)
    repo.git("init", "--quiet", "--template=", "--initial-branch=main")
    return repo
