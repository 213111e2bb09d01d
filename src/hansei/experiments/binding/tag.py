"""Sessions that a person put in an arm by hand; no others count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hansei.experiments.placing import Candidate, Placed, Why, out


@dataclass(frozen=True)
class ByTag:
    """Tags alone: they win over every binding, so here is nothing left to say."""

    randomised: ClassVar[bool] = False

    def place(self, _: Candidate, /) -> Placed:
        return out(Why.NO_TAG)
