"""What a shell call is told in: plain values, cheap to store as rows."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from hansei.config import CommandClass as Class
from hansei.projection.commands.syntax import Dialect

if TYPE_CHECKING:
    from hansei.projection.commands.arguments import Arguments

__all__ = ["Class", "Command", "Dialect", "How", "Read", "Script", "Write", "Writing"]


class How(StrEnum):
    """How much of a file reaches the output."""

    LINES = "lines"  # the lines told, as they are
    PART = "part"  # some of the lines told, such as those that match a pattern
    HIDDEN = "hidden"  # none: it is counted, stored or handed on


class Read(NamedTuple):
    """A file that a command reads."""

    path: str
    """From the folder the call began in, or whole; may hold `*` and `?`, and may be a folder."""
    first: int | None = None
    """First line, counted from 1; below 0 counted from the end; None is the beginning."""
    last: int | None = None
    """Last line, likewise; None is the end."""
    how: How = How.LINES
    revision: str | None = None
    """The commit it is read from, where that is not the file on disk."""


class Writing(StrEnum):
    """What a command does to a file."""

    REPLACE = "replace"
    APPEND = "append"
    EDIT = "edit"
    CREATE = "create"
    DELETE = "delete"
    MOVE = "move"  # it is where something was moved to
    RESTORE = "restore"  # it gets back what git has
    CLEAN = "clean"  # what git does not know is deleted from it


class Write(NamedTuple):
    """A file that a command changes."""

    path: str
    how: Writing


class Command(NamedTuple):
    """One program that was run."""

    program: str
    subcommand: str | None
    flags: tuple[str, ...]
    """Names of its options, without what they were given."""
    targets: tuple[str, ...]
    """Its other words."""
    kind: Class
    directory: str | None
    """Where it ran: "" is the folder the call began in; None is unknown (`cd "$X"`)."""
    stage: int
    """Its place in its pipe, from 0."""
    inside: bool
    """Whether it only fills in a word of another command, as in `echo $(pwd)`."""
    masked: bool
    """Whether the call may end well although this failed."""
    wrappers: tuple[str, ...]
    """What stood before it: `sudo`, `timeout 60`, `uv run`."""
    variables: tuple[str, ...]
    """Names of variables set for it."""
    reads: tuple[Read, ...]
    writes: tuple[Write, ...]
    arguments: Arguments
    """Its words told apart, which normal forms are made from."""


class Script(NamedTuple):
    """Everything that one call told the shell to run, in the order of the text."""

    dialect: Dialect
    parsed: bool
    """False where the text follows no grammar we have: then only its first words are told."""
    commands: tuple[Command, ...]
    main: int | None
    """Which command the call is about: the last one that is no filter, `cd` or `echo`."""
    decides: int | None
    """Which command's status the call ends with when it gets that far; None: no program's."""

    @property
    def masked(self) -> bool:
        """Whether the call may end well although what it is about failed."""
        return self.main is not None and self.commands[self.main].masked
