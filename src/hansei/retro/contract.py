"""What a heuristic is: a frozen value whose fields are its knobs, and one pure function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hansei.bets.model import Finding
    from hansei.projection.window import Window


class Heuristic(Protocol):
    """One thing that goes wrong or costs too much again and again."""

    @property
    def name(self) -> str:
        """What it is called in settings, in the reference and in a bet's identity."""

    def find(self, window: Window) -> Iterable[Finding]:
        """Every case of it, each with all its occurrences; in a fixed order."""
