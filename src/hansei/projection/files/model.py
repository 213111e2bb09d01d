"""What touching files is told in: plain rows."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Verb(StrEnum):
    """What a call did to a file."""

    READ = "read"
    SEARCH = "search"  # looked for something in it, or in the files of a folder
    LIST = "list"  # looked for names in a folder
    EDIT = "edit"
    WRITE = "write"  # wrote all of it anew
    CREATE = "create"
    DELETE = "delete"
    RENAME = "rename"  # it is the old or the new name of a moved file
    RESTORE = "restore"  # it got back what git has


LOOKS = frozenset((Verb.READ, Verb.SEARCH, Verb.LIST))
"""What leaves a file as it is."""


class By(StrEnum):
    """What a call touched a file with."""

    TOOL = "tool"
    SHELL = "shell"


class Extent(StrEnum):
    """Which lines of the file it was about."""

    WHOLE = "whole"
    LINES = "lines"  # `first` to `last`; None is the beginning or the end
    PART = "part"  # some lines; which ones is not told
    NOTHING = "nothing"  # none came into the context: counted, listed, sent elsewhere
    UNKNOWN = "unknown"


class Again(StrEnum):
    """Why a file was read again."""

    REPEAT = "repeat"  # nothing gave a reason to
    FAILED_EDIT = "failed_edit"  # an edit of it had just failed
    NOTICE = "notice"  # the agent said that it is unchanged, and no text came


class Touch(NamedTuple):
    """One file that one call touched, in one way."""

    seq: int
    """The call."""
    turn: int
    at: int | None
    path: str
    """From the top of the repository; outside of it whole. A folder ends in `/`; may hold `*`."""
    inside: bool
    """Whether it lies in the repository."""
    verb: Verb
    by: By
    extent: Extent
    first: int | None
    """First line, counted from 1; below 0 counted from the end. Of an edit: in the new file."""
    last: int | None
    bytes: int | None
    """What it brought into the context; None where the output holds other things too."""
    redundant: int | None
    """The call that brought the same lines, unchanged since and still in the context."""
    again: Again | None


class FanOut(NamedTuple):
    """How often the calls of one turn touched one file."""

    turn: int
    path: str
    calls: int
    reads: int
    """Calls that read it or searched in it."""
    edits: int
    """Calls that changed it."""
