"""A synthetic world and the few ways in which tests look at it."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa

from hansei.synth import build

if TYPE_CHECKING:
    from pathlib import Path

    from hansei.synth import Truth, World

NOW = 1_760_000_000_000
"""The clock of the world: 9 October 2025."""


@dataclass(frozen=True)
class Shelf:
    world: World

    @property
    def truth(self) -> Truth:
        return self.world.truth

    def lines(self, path: str) -> list[dict[str, Any]]:
        return [msgspec.json.decode(line) for line in self.text(path).split("\n") if line]

    def text(self, path: str) -> str:
        """A transcript's text, unpacked where it is packed."""
        if not path.endswith(".zst"):
            return (self.world.home / path).read_text(encoding="utf-8")
        with pa.input_stream(str(self.world.home / path), compression="zstd") as packed:
            return packed.read().decode()

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=self.world.repo, capture_output=True, text=True, check=True
        )
        return done.stdout


def stock(folder: Path) -> Shelf:
    """A world of middling size, in which everything is planted several times."""
    agents = ("claude_code", "codex")
    return Shelf(build(folder, seed=11, now_ms=NOW, sessions=60, weeks=6, agents=agents))


def evened(folder: Path) -> Path:
    """A new folder below one, whose path is made of as many letters, digits and marks as any other.

    Lists of skills in a history tell whole paths, so what they take depends on where it lies.
    """
    there = str(folder)
    letters, digits = sum(map(str.isalpha, there)), sum(map(str.isdigit, there))
    marks = len(there) - letters - digits + 1
    made = folder / ("w" * (100 - letters) + "1" * (30 - digits) + "-" * (30 - marks))
    made.mkdir()
    return made
