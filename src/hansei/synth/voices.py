"""How people and agents put things; the sentences themselves are in `voices.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random


@cache
def _tables() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def pick(rng: Random, table: str, **words: str) -> str:
    """One sentence of a table with its gaps filled."""
    sentence: str = rng.choice(_tables()[table])
    return sentence.format(**words)


def errand(rng: Random, entity: str) -> tuple[str, str, str]:
    """Role, title and prompt of some work for a subagent."""
    chosen: dict[str, str] = rng.choice(_tables()["errands"])
    return chosen["role"], chosen["title"], chosen["prompt"].format(entity=entity)
