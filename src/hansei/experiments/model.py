"""What an experiment is judged by, and what may be said of it: frozen values, no arithmetic.

One observation is one session with everything it started. Who got the change is the arm; what
shares one throw of the coin is the block; what may be compared is the stratum.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, NamedTuple

from hansei.errors import UsageError
from hansei.experiments.placing import Arm

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "Arm",
    "ArmCount",
    "Design",
    "Interval",
    "Observation",
    "Verdict",
    "Why",
    "Word",
]


@dataclass(frozen=True, slots=True)
class Observation:
    """One session, as an experiment sees it."""

    session: str
    arm: Arm
    stratum: str
    """Agent and model: only sessions of one stratum are compared."""
    day: int
    """Days since 1970, where the person sits."""
    block: str
    """What shares one throw of the coin: the session's tree, or the day of a switchback."""
    hit: bool | None
    """Whether the target came up; None where the session cannot tell."""
    opportunities: int | None = None
    """How often it could have come up."""
    values: Mapping[str, float | None] = field(default_factory=dict)
    """Other metrics by name."""


@dataclass(frozen=True, slots=True)
class Design:
    """What was laid down before the first session."""

    randomised: bool
    """Only then may a verdict say helped or harmed."""
    share: float = 0.5
    """The chance of a block to be treated."""
    margin: float = 0.1
    """A difference in the share of sessions that would not matter."""
    alpha: float = 0.05
    """The chance of a wrong verdict, however often one looks."""
    unit: Literal["session", "day"] = "session"
    """What the coin was thrown for."""
    ratio: float = 1.25
    """A factor between typical values that would not matter."""

    def __post_init__(self) -> None:
        if not (0 < self.share < 1 and 0 < self.alpha < 1):
            raise UsageError(
                f"A share of {self.share} at a risk of {self.alpha} cannot be judged",
                "both lie between 0 and 1",
            )
        if not (self.margin > 0 and self.ratio > 1):
            raise UsageError(
                f"A margin of {self.margin} and a ratio of {self.ratio} leave no room",
                "the margin is above 0, the ratio above 1",
            )


class Word(StrEnum):
    """What may be said."""

    HELPED = "helped"
    HARMED = "harmed"
    NO_EFFECT = "no effect"
    LOWER = "lower since"
    HIGHER = "higher since"
    NO_CHANGE = "no change"
    INCONCLUSIVE = "inconclusive"


class Why(StrEnum):
    """Why a verdict is inconclusive."""

    MORE = "more sessions are needed"
    EMPTY = "an arm has no sessions"
    UNBALANCED = "the arms are not as large as the coin would make them"
    NO_HISTORY = "too few weeks before the change to compare with"


class Interval(NamedTuple):
    """From where to where."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ArmCount:
    """What an arm consists of."""

    sessions: int
    known: int
    """Sessions that could tell whether the target came up, or what the value was."""
    hits: int | None
    """Of the known ones; None for other metrics."""
    opportunities: int | None
    """Of sessions that tell them; None where none does."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What may be said, and everything it rests on."""

    word: Word
    randomised: bool
    control: ArmCount
    treatment: ArmCount
    difference: float | None
    """Treatment less control: shares of sessions, or the natural logarithm of a typical ratio."""
    interval: Interval | None
    """Holds for the difference at every look at once."""
    lower: tuple[float, ...]
    """Evidence for less in the treatment after each step: how many times one's stake has grown."""
    higher: tuple[float, ...]
    bar: float
    """What evidence has to reach."""
    steps: tuple[str, ...]
    """The session that ended each step."""
    decided_by: str | None = None
    """The session with which the verdict was reached; it stands from then on."""
    why: Why | None = None
    """Of an inconclusive verdict."""
    needed: int | None = None
    """Sessions still needed if they go on like those so far; None where that cannot be told."""
    days: int | None = None
    """Until then, at the present pace."""
    left_out: int = 0
    """Known sessions that compare with nothing yet: a stratum or a week without its counterpart."""
