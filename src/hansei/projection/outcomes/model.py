"""What an edit wrote, and what became of it: one value is one row."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

DAY_MS = 24 * 60 * 60 * 1000


class Fate(StrEnum):
    """Where the lines of an edit are, as far as git can say."""

    LANDED = "landed"  # at least half of them came in with a commit
    PARTLY = "partly_landed"  # some did
    NOT_COMMITTED = "never_committed"
    WAITING = "waiting"  # not committed so far, and written less than a week ago
    TAKEN_BACK = "taken_back"  # a later step of the same session put back what was there before
    REPLACED = "replaced"  # a later step of the same session wrote something else in their place
    UNKNOWN = "unknown"


class Later(StrEnum):
    """What happened to lines after they had landed."""

    KEPT = "kept"
    REFORMATTED = "reformatted"  # same words, other layout
    MOVED = "moved"
    REWORKED = "reworked"  # some of them were changed
    REMOVED = "removed"  # all of them are gone, but not by going back
    REVERTED = "reverted"  # a commit went back to what was there before


class By(StrEnum):
    """Who changed lines that had landed."""

    PERSON = "person"  # no edit of any session that we know wrote what is there now
    AGENT = "agent"
    UNKNOWN = "unknown"


class TakenBack(NamedTuple):
    """A line that a later step of the same session removed."""

    line: int
    """Which of the hunk's telling lines, from 0."""
    seq: int
    at: int | None
    restored: bool
    """Whether that step put back what had been there before."""
    by_shell: bool = False


class Written(NamedTuple):
    """One hunk of an edit, as far as it can be looked for."""

    seq: int
    call: str
    hunk: int
    path: str
    """As the agent recorded it; of a file that was renamed later in the session, the last name."""
    at: int | None
    added: tuple[str, ...]
    """The normal forms of its lines that say something."""
    removed: tuple[str, ...]
    lines: int
    """All lines it added, also those that could stand anywhere."""
    taken_back: tuple[TakenBack, ...] = ()
    created: bool = False
    """Whether it is the text of a file that the session created."""


class Instead(NamedTuple):
    """A line that a person changed, and what stands there since; both in their normal form."""

    line: str
    now: str
    commit: str


class Outcome(NamedTuple):
    """What became of a hunk. Counts are of its telling lines."""

    seq: int
    hunk: int
    path: str
    """From the top of the repository where it lies in there."""
    fate: Fate
    reason: str
    """Why a fate is unknown; empty otherwise."""
    lines: int
    landed: int = 0
    landed_commit: str | None = None
    """The commit that brought most of the lines."""
    landed_at: int | None = None
    on_main: bool = False
    reformatted: bool = False
    """Whether lines landed in another layout than they were written in."""
    landed_in: str | None = None
    """The file they landed in, where that is another one."""
    later: Later | None = None
    later_commit: str | None = None
    later_at: int | None = None
    later_by: By | None = None
    alive_7: int | None = None
    alive_14: int | None = None
    alive_30: int | None = None
    """Landed lines still there so many days later; None while that day has not come."""
    taken_back_by: int | None = None
    """The event of the same session that took lines back or replaced them."""
    instead: tuple[Instead, ...] = ()
    """What a person wrote in the place of landed lines within a month, of some of them."""

    @property
    def reworked_at_once(self) -> bool:
        """Whether a person changed landed lines within a day."""
        if self.later is not Later.REWORKED or self.later_by is not By.PERSON:
            return False
        assert self.landed_at is not None
        assert self.later_at is not None
        return self.later_at - self.landed_at <= DAY_MS
