"""A synthetic world and the few ways in which tests look at it."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa

from hansei.synth import build

if TYPE_CHECKING:
    from collections.abc import Iterator

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


@contextmanager
def even_place() -> Iterator[Path]:
    """A folder for a while, whose path is of the same length and without a digit every time.

    Lists of skills in a history tell whole paths, so what they take depends on where it lies.
    """
    letters = uuid.uuid4().hex.translate(str.maketrans("0123456789", "ghijklmnop"))
    folder = Path(tempfile.gettempdir()) / f"hansei-{letters[:12]}"
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
