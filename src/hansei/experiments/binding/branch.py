"""Sessions on one branch against sessions on another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hansei.experiments.placing import CONTROL, TREATMENT, Candidate, Placed, Why, out


@dataclass(frozen=True)
class ByBranch:
    """Two branches by name; without a control branch, one against all others."""

    treatment: str
    control: str | None = None
    randomised: ClassVar[bool] = False

    def place(self, it: Candidate) -> Placed:
        if it.branch is None:
            return out(Why.NO_BRANCH)
        if it.branch == self.treatment:
            return TREATMENT
        if self.control in (None, it.branch):
            return CONTROL
        return out(Why.OTHER_BRANCH)
