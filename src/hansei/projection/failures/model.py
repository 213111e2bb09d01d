"""What failures are told in: plain values, cheap to store as rows."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from hansei.events.model import Basis, Status


class Kind(StrEnum):
    """What it means that a call did not simply succeed."""

    FAILURE = "failure"  # the thing itself went wrong
    HARNESS = "harness"  # the agent program refused or gave up: nothing is said about the code
    DECLINED = "declined"  # a person, a hook or a permission rule said no: it never ran
    INTERRUPTED = "interrupted"  # it was stopped while it ran, or together with another call
    NEGATIVE = "negative"  # it ran well and its answer is no: nothing found, not equal, not there


class Refuser(StrEnum):
    """Who said no to a call; the value is the line of its failure."""

    PERSON = "declined"
    RULE = "not permitted"  # a permission rule, or nobody was there to ask
    HOOK = "refused by a hook"


class Verdict(NamedTuple):
    """How a call ended, and what that means."""

    seq: int
    status: Status
    basis: Basis
    kind: Kind | None
    """None where it succeeded or nobody knows."""
    command: int | None
    """Which command of the call's script it rests on; None for other tools."""


class Failure(NamedTuple):
    """A call that did not simply succeed, known again in other sessions by its signature."""

    seq: int
    at: int | None
    kind: Kind
    basis: Basis
    exit_code: int | None
    program: str
    """The program, or the name of a tool that is no shell."""
    subcommand: str | None
    line: str
    """The line that says what went wrong, as it was printed."""
    signature: str


class Ending(StrEnum):
    """How an episode ended."""

    RECOVERED = "recovered"
    MOVED_ON = "moved_on"  # other work followed, it was not tried again
    SESSION_ENDED = "session_ended"


class Episode(NamedTuple):
    """From a first failure to the next success of the same thing."""

    seq: int
    """The first call that failed."""
    kind: Kind
    signature: str
    program: str
    ending: Ending
    end: int
    """The call that succeeded; else the last one that failed."""
    failures: tuple[int, ...]
    """Calls that failed on the way, the first one included."""
    calls: int
    """Calls after the first failure, up to the end and with it."""
    minutes: float | None
    """From the first failing call to the answer of the last one."""
    before: str
    """The last command that failed, in its normal form."""
    after: str
    """What succeeded, likewise; empty where nothing did."""
    removed: tuple[str, ...]
    """Words of the failing command that the succeeding one no longer has."""
    added: tuple[str, ...]
    edited: tuple[str, ...]
    """Files edited on the way."""
    input: int | None
    """Input tokens billed, cached ones included, for the requests that followed the first failure
    up to the one that asked for the last call; None where the transcript tells none."""
    output: int | None


class Family(NamedTuple):
    """The same failure wherever it was met."""

    signature: str
    kind: Kind
    program: str
    sessions: tuple[int, ...]
    times: int
    first: int | None
    last: int | None
    recovered: int
    """Episodes that ended well."""
    recovery: str
    """What succeeded most often afterwards; empty where nothing did."""
    recoveries: int
    """How often that was."""
