"""Sessions that were told one set of instructions against sessions that were told another."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, ClassVar

from hansei.experiments.placing import CONTROL, TREATMENT, Candidate, Placed, Why, out

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class ByPrompt:
    """Two fingerprints; without one of control, one against all others."""

    treatment: str
    control: str | None = None
    randomised: ClassVar[bool] = False

    def place(self, it: Candidate) -> Placed:
        if it.prompt is None:
            return out(Why.NO_PROMPT)
        if it.prompt.startswith(self.treatment):
            return TREATMENT
        if self.control is None or it.prompt.startswith(self.control):
            return CONTROL
        return out(Why.OTHER_PROMPT)


def fingerprint(texts: Mapping[str, str]) -> str:
    """The same for the same instruction files with the same content."""
    told = "\n".join(f"{path} {mark}" for path, mark in sorted(texts.items()))
    return blake2b(told.encode(), digest_size=6).hexdigest()
