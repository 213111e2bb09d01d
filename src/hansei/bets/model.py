"""What a bet is told in: frozen values, cheap to store and to print."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from hansei.bets.recurring import Fact, in_words


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


class State(StrEnum):
    """How far a bet got."""

    PROPOSED = "proposed"
    ACCEPTED = "accepted"  # a person means to act on it
    APPLIED = "applied"  # the change is made, and being measured
    KEPT = "kept"  # it helped, and stays
    REVERTED = "reverted"  # it did not help, and was taken back
    DISMISSED = "dismissed"  # a person does not want to hear of it


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

    fact: Fact
    subject: str
    """Which one: a signature, the name of a cluster, a path."""

    @property
    def words(self) -> str:
        """What is counted, as a person would say it."""
        return in_words(self.fact, self.subject)


@dataclass(frozen=True)
class Chances:
    """How often it could have happened: tasks in which agents did what leads to it."""

    met: int
    """In which it happened."""
    of: int
    """Up to and with the last of these."""
    spared: int
    """After that one: the same was done, and it did not happen."""


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
    chances: Chances | None = None
    """None where it cannot be told who could have run into it."""
    anywhere: bool = False
    """Whether a line holds in every project of the machine, and not only in this one."""
    on_demand: bool = False
    """Whether it is told only in the list of all: true, and seldom worth the reader's time."""


@dataclass(frozen=True)
class Range:
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
    """Tokens it took in the window; None where no agent tells."""
    untold: int
    """Occurrences of which no agent tells the tokens: they are in no sum."""
    minutes: float | None
    weekly: Range | None
    """Tokens it takes a week; None below seven active days, where no week can be told."""
    size: int | None
    """Tokens of the text that the change adds; None where it adds none."""
    rent: int | None
    """What carrying that text would take: a week, or in the window where no week can be told."""
    net: int | None
    """What acting on it would save at most, of the same span: what it takes less the rent."""
    confidence: float
    """The chance that it happens again next week, at least (80%)."""
    score: float
    last_at: int | None
    days: frozenset[int]
    """Days since 1970 on which a session began in which it happened."""
    silent: int
    """Active days since."""
