"""Which arm a session belongs to, or why it belongs to none.

A binding looks at what is known of one session and nothing else, so that the answer never depends
on how the session went. Who decides that a session is left out says why: those are counted and
shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping


class Arm(StrEnum):
    """Without the change, and with it."""

    CONTROL = "control"
    TREATMENT = "treatment"


class Why(StrEnum):
    """Why a session is in no arm, as a person reads it."""

    EVIDENCE = "it led to the change"
    STRADDLES = "the change came while it ran"
    NO_COMMIT = "the commit it began on is not known"
    NOT_HERE = "this clone lacks the commit it began on, or the change"
    IN_PART = "its tree holds a part of the change"
    DIRTY = "its tree had uncommitted edits"
    ELSEWHERE = "it ran on another line of history"
    NO_HOOK = "no hook saw it begin"
    NOT_MET = "no hook saw it meet a failure with a known fix"
    TAKES_NOTHING = "its agent takes no text from a hook"
    NOT_READ_BACK = "the transcript does not show what was delivered"
    NO_BRANCH = "the branch it ran on is not known"
    OTHER_BRANCH = "it ran on neither branch"
    NO_PROMPT = "what it was told at the start is not known"
    OTHER_PROMPT = "it was told neither text"
    NO_TAG = "nobody tagged it"
    NO_TIME = "when it ran is not known"
    BEFORE = "it began before the experiment"
    AFTER = "it began after the experiment"
    AHEAD = "its clock is ahead of this machine's"
    GOING = "it may still be going on"
    UNTOLD = "what its instruction file said is not known"
    OUT_OF_STEP = "the file did not read as it should have on that day"


class Placed(NamedTuple):
    """Where a session belongs."""

    arm: Arm | None
    why: Why | None = None


CONTROL: Final = Placed(Arm.CONTROL)
TREATMENT: Final = Placed(Arm.TREATMENT)


def out(why: Why) -> Placed:
    return Placed(None, why)


@dataclass(frozen=True)
class Candidate:
    """What is known of a session before anybody looks at how it went."""

    native: str
    agent: str
    started: int | None
    ended: int | None
    commit: str | None = None
    dirty: bool | None = None
    branch: str | None = None
    folder: str | None = None
    """Where it worked."""
    texts: Mapping[str, str] | None = None
    """Hashes of the instruction files it had, by path; None where nobody looked."""
    seen: bool = True
    """Whether a hook read these files; else they are those of the commit."""
    assigned: Mapping[str, str] | None = None
    """The arm that a hook put it in, by item; None where no hook saw it begin."""
    shown: frozenset[str] = frozenset()
    """Items whose text the transcript holds."""
    takes: bool = True
    """Whether a hook can give its agent a text."""
    shows: bool = True
    """Whether its agent writes into the transcript what a hook delivers."""
    prompt: str | None = None
    """A fingerprint of all that it was told at the start."""


class Binding(Protocol):
    """One way of telling the arms apart."""

    @property
    def randomised(self) -> bool:
        """Whether a coin decided, so that the arms differ in nothing else."""

    def place(self, it: Candidate, /) -> Placed:
        """The arm of a session."""


def placed(binding: Binding, it: Candidate, tags: Mapping[str, Arm]) -> Placed:
    """What a binding says, unless a person said otherwise: a tag always wins."""
    tag = tags.get(it.native)
    return binding.place(it) if tag is None else Placed(tag)
