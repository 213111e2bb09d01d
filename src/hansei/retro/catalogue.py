"""Every heuristic, in the order they are run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.retro.heuristics.big_file import BigFile
from hansei.retro.heuristics.idle_rent import IdleRent
from hansei.retro.heuristics.large_output import LargeOutput
from hansei.retro.heuristics.recurring_failure import RecurringFailure
from hansei.retro.heuristics.rediscovered import Rediscovered
from hansei.retro.heuristics.reread import Reread

if TYPE_CHECKING:
    from hansei.retro.contract import Heuristic

HEURISTICS: tuple[Heuristic, ...] = (
    RecurringFailure(),
    Rediscovered(),
    Reread(),
    LargeOutput(),
    BigFile(),
    IdleRent(),
)
