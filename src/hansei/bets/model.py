"""What a bet is told in: frozen values, cheap to store and to print."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Occurrence(NamedTuple):
    """One time that it happened."""

    session: int
    seq: int
    """The event to open."""
    tokens: int | None
    """Billed tokens that would not have been spent without it; None where no agent tells."""
    minutes: float | None = None
    """Waiting that would not have been."""


class Category(StrEnum):
    """What acting on a bet takes."""

    FIX = "fix"  # the change is known and small
    INVESTIGATE = "investigate"  # a person has to look and decide


class Design(StrEnum):
    """What a change is."""

    LINE = "line"  # a line for the instruction file
    REMOVAL = "removal"  # something that is in force goes away
    BRIEF = "brief"  # a task for a person or an agent


@dataclass(frozen=True)
class Change:
    """The exact change that a bet proposes."""

    design: Design
    text: str
    """The line to write, the text to remove, or the task in Markdown."""
    path: str | None = None
    """The file it is about; None leaves the instruction file to be chosen."""


@dataclass(frozen=True)
class Metric:
    """What is counted in later sessions to see whether it helped: sessions in which it recurs."""

    fact: str
    """Which facts are looked at: `failures`, `corrections`, `touches` …"""
    subject: str
    """What among them: a signature, the name of a cluster, a path."""


@dataclass(frozen=True)
class Finding:
    """What a heuristic found."""

    heuristic: str
    key: str
    """What makes it the same bet next week: a signature, a path, a cluster's name."""
    claim: str
    """One line that a senior engineer would act on."""
    because: tuple[str, ...]
    """What was seen, in a few short lines."""
    occurrences: tuple[Occurrence, ...]
    change: Change
    category: Category
    effort: float
    """Minutes it takes to act on it."""
    disproof: str
    """What would show that it is wrong."""
    metric: Metric
    fix: str | None = None
    """What ended it, where something is known to."""


class Range(NamedTuple):
    """An amount with the interval it lies in four times out of five."""

    low: float
    middle: float
    high: float


@dataclass(frozen=True)
class Bet:
    """A finding with everything that is counted from its occurrences."""

    id: str
    """The same in every week: made from heuristic, workspace and key."""
    finding: Finding
    sessions: int
    """In which it happened."""
    of_sessions: int
    """In which it could have happened."""
    total: int | None
    """Tokens it took in the window."""
    minutes: float | None
    weekly: Range | None
    """Tokens a week; None below seven active days, where no week can be told."""
    rent: int | None
    """Tokens a week that the change itself would cost; taken off already."""
    confidence: float
    """The chance that it happens again next week, at least (80%)."""
    score: float
    last_at: int | None

    @property
    def saving(self) -> float:
        """Tokens that acting on it is expected to save: a week's, else the window's."""
        if self.weekly is not None:
            return self.weekly.middle
        return float(self.total or 0)
