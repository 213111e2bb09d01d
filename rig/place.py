"""A scratch world for one run: a home, a git repository, a store. Nothing outside it is touched."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Place:
    """Folders of one run."""

    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def project(self) -> Path:
        return self.folder / "project"

    @property
    def store(self) -> Path:
        return self.folder / "store"

    @property
    def told(self) -> Path:
        """Where the rig's own hook keeps what it was told."""
        return self.folder / "told"

    def write(self, path: Path, text: str, *, mode: int = 0o644) -> None:
        """A file, with the folders it needs."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)

    def variables(self) -> dict[str, str]:
        """The whole environment of everything that runs here."""
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.home),
            "HANSEI_HOME": str(self.store),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
        }


def settle(folder: Path) -> Place:
    """A fresh place: an empty home, and a repository with one commit."""
    shutil.rmtree(folder, ignore_errors=True)
    place = Place(folder)
    place.home.mkdir(parents=True)
    place.told.mkdir()
    place.write(place.project / "README.md", "# A small project\n")
    identity = ("-c", "user.name=Rig", "-c", "user.email=rig@example.invalid")
    for arguments in (
        ("init", "--quiet", "--initial-branch=trunk"),
        ("add", "README.md"),
        (*identity, "commit", "--quiet", "--message=Begin"),
    ):
        subprocess.run(
            ["git", *arguments], cwd=place.project, env=place.variables(), check=True, timeout=30
        )
    return place


def commit(place: Place) -> str:
    """The commit the repository stands at."""
    done = subprocess.run(
        ["git", "rev-parse", "HEAD"],
        cwd=place.project,
        env=place.variables(),
        check=True,
        timeout=30,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()
