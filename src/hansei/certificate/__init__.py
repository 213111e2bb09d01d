"""The counting certificate: home folders as agents leave them, with the true totals of each.

The cases are plain files, so that any program can be put to the same test; README.md beside them
says how. Nothing here reads a transcript: this only says which cases there are and what is true.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

CASES = Path(__file__).parent / "cases"
TOKENS = ("input", "cache_read", "cache_write_5m", "cache_write_1h", "output")
"""Disjoint fields; their sum is what was billed."""


class Totals(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the requests of a case took."""

    input: int
    cache_read: int
    cache_write_5m: int
    cache_write_1h: int
    output: int
    reasoning: int | None
    """The part of `output` spent on reasoning, where the files tell it."""
    requests: int
    """Requests whose tokens the files tell."""
    unmeasured: int = 0
    """Requests of which the files tell, but not their tokens."""
    web_searches: int = 0

    @property
    def tokens(self) -> int:
        counts: list[int] = [getattr(self, name) for name in TOKENS]
        return sum(counts)


class Share(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one session of a case took."""

    tokens: int
    requests: int


class Expected(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A case's `expected.json`."""

    case: str
    agent: str
    """The agent that wrote the files; two are joined by `+`."""
    totals: Totals
    naive_total: int
    sessions: dict[str, Share] | None = None


@dataclass(frozen=True)
class Case:
    """One case: a home folder and what is true of it."""

    home: Path
    expected: Expected

    @property
    def agents(self) -> list[str]:
        return self.expected.agent.split("+")


def cases(folder: Path = CASES) -> Iterator[Case]:
    """Every case, by name."""
    for path in sorted(folder.glob("*/expected.json")):
        expected = msgspec.json.decode(path.read_bytes(), type=Expected)
        yield Case(path.parent / "home", expected)
