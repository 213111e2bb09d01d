"""A coin decides for each session; the hook delivers the text to those in the treatment arm.

A session counts for the arm it was put in, whatever it then did with the text. One whose transcript
ought to show the delivery and does not is left out, and so is one that shows it and should not:
both are rare, and both are told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hansei.experiments.placing import Arm, Candidate, Placed, Why, out


@dataclass(frozen=True)
class ByExposure:
    """Delivered by the hook, or not: at the start, or when a known failure was met."""

    item: str
    unseen: Why = Why.NO_HOOK
    """Why a session is left out that no hook put in an arm."""
    randomised: ClassVar[bool] = True

    def place(self, it: Candidate) -> Placed:
        if not it.takes:
            return out(Why.TAKES_NOTHING)
        told = None if it.assigned is None else it.assigned.get(self.item)
        if told is None:
            return out(self.unseen)
        arm = Arm(told)
        if it.shows and (self.item in it.shown) != (arm is Arm.TREATMENT):
            return out(Why.NOT_READ_BACK)
        return Placed(arm)
