"""What is known about the words of a program: how it says that it failed, or that all is well.

A runner is data. Its patterns are looked for line by line (`^` is the beginning of a line) in what
was printed, without colours.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Runner(NamedTuple):
    """One program's own words."""

    name: str
    programs: tuple[str, ...]
    """`program` or `program subcommand`; the longer one wins."""
    failed: re.Pattern[str] | None = None
    passed: re.Pattern[str] | None = None
    decisive: tuple[re.Pattern[str], ...] = ()
    """What went wrong, best first; the first group is the line that counts."""
    silent: bool = False
    """Whether it prints nothing when all is well."""
    whole: bool = False
    """Whether one line says both how much passed and how much failed."""


def words(*parts: str) -> re.Pattern[str]:
    """Any of several patterns, each at the beginning of a line."""
    return re.compile("|".join(f"^{part}" for part in parts), re.MULTILINE)
