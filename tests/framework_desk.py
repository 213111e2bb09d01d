"""A repository, a hansei home, and programs that run there: the whole loop as a person has it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SKILL, ADVICE = "look-out", "Look out of the window before you ask."


@dataclass(frozen=True)
class Desk:
    """Where a program of a framework runs."""

    home: Path
    folder: Path
    variables: dict[str, str]

    @classmethod
    def at(cls, place: Path, **variables: str) -> Desk:
        folder, home = place / "harbour", place / "home"
        folder.mkdir()
        home.mkdir()
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
        return cls(home, folder, variables)

    @property
    def live(self) -> Path:
        return self.home / ".hansei" / "live"

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        return {**kept, "HOME": str(self.home), "COLUMNS": "120", **self.variables}

    def python(self, program: str, timeout: float = 60) -> str:
        """Run a program and return what it prints."""
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout

    def hansei(self, *arguments: str) -> str:
        """What a command prints."""
        return self.python(f"from hansei.cli.main import main; main({list(arguments)!r})")

    def asked(self, *arguments: str) -> Any:
        """What a command answers in JSON."""
        return json.loads(self.hansei(*arguments, "--json"))

    def sessions(self) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = self.asked("sessions")["sessions"]
        return listed

    def approve_a_skill(self) -> None:
        """Have one approved skill in the book."""
        self.hansei("skills", "add", SKILL, "-d", ADVICE, "--body", "Then say what you saw.")
        self.hansei("skills", "approve", SKILL)
