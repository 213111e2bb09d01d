"""A coin decides for each day; the block stands in the file on some days and on others not.

For agents without a hook. A session counts for the day it began on, and only if the file then read
as it should have: somebody has to switch it, and on a day when nobody did nothing is known. What a
hook read in the file counts; where none did, what our journal says was in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from hansei.config import DAY_MS
from hansei.experiments.placing import Arm, Candidate, Placed, Why, out
from hansei.hook.delivery import arm


class Span(NamedTuple):
    """A time in which the block stood in the file; None is up to now."""

    start: int
    end: int | None


@dataclass(frozen=True)
class ByDays:
    """In the file on the days of one arm."""

    salt: str
    share: float
    path: str
    """The file that holds the block."""
    hashes: frozenset[str]
    """What the file's hash was whenever it held the block."""
    spans: tuple[Span, ...] = ()
    """When it held the block, as far as we wrote it."""
    randomised: ClassVar[bool] = True

    def place(self, it: Candidate) -> Placed:
        if it.started is None or it.ended is None:
            return out(Why.NO_TIME)
        if it.started // DAY_MS != it.ended // DAY_MS:
            return out(Why.STRADDLES)
        if it.seen and it.texts is None:
            return out(Why.NO_COMMIT)
        if it.seen and it.texts is not None:
            held = it.texts.get(self.path) in self.hashes
        else:
            turns = [moment for span in self.spans for moment in span if moment is not None]
            if any(it.started < moment <= it.ended for moment in turns):
                return out(Why.STRADDLES)
            held = any(stood(span, it.started) for span in self.spans)
        planned = arm_of_day(self.salt, it.started // DAY_MS, self.share)
        return Placed(planned) if held == (planned is Arm.TREATMENT) else out(Why.OUT_OF_STEP)


def stood(span: Span, at: int) -> bool:
    """Whether the block was in the file at a moment."""
    return span.start <= at and (span.end is None or at < span.end)


def arm_of_day(salt: str, day: int, share: float) -> Arm:
    """The arm of a day since 1970, the same wherever it is asked."""
    return Arm(arm(salt, f"day {day}", share))
