"""Every heuristic, in the order they are run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.retro.heuristics.recurring_failure import RecurringFailure

if TYPE_CHECKING:
    from hansei.retro.contract import Heuristic

HEURISTICS: tuple[Heuristic, ...] = (RecurringFailure(),)
