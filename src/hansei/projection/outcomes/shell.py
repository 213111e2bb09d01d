"""What shell calls do to files that the session has edited: put back, delete, move, commit.

Only calls that a parser understood are believed, and only those that may have run to their end.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.events.model import Basis, Status
from hansei.projection.commands.model import Writing
from hansei.projection.commands.paths import is_absolute, locate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.projection.calls import Call
    from hansei.projection.commands.model import Command

_MATTER: Final = frozenset((Writing.DELETE, Writing.RESTORE, Writing.CLEAN))
_PATTERN: Final = frozenset("*?[")
_PATCHES: Final = ("apply_patch", "applypatch")
"""Their changes are told as edits too."""


class Undone(NamedTuple):
    """A file or folder that a command put back or deleted."""

    path: str
    how: Writing
    everywhere: bool = False
    """Whether it concerns the whole repository, wherever that is."""

    def covers(self, path: str, *, created: bool) -> bool:
        """Whether an edited file is in there; one that the session created git does not know."""
        if self.how is not Writing.DELETE and created is not (self.how is Writing.CLEAN):
            return False
        return self.everywhere or inside(path, self.path) is not None


class Moved(NamedTuple):
    """A file or folder that a command gave another name."""

    old: str
    new: str


class Committed(NamedTuple):
    """From here on git knows the files that the session created."""


Done = Undone | Moved | Committed


def inside(path: str, place: str) -> str | None:
    """What follows a file or folder in a path; None where the path is not in there.

    A place nobody told the folder of is looked for at any depth.
    """
    if not is_absolute(place):
        place = "" if place == "." else place
        at = f"/{path}".rfind(f"/{place}") if place else 0
        rest = f"/{path}"[at + len(place) + 1 :] if at >= 0 else path
        return rest if at >= 0 and (not rest or not place or rest[0] == "/") else None
    if path.startswith(place) and (len(path) == len(place) or path[len(place)] == "/"):
        return path[len(place) :]
    if not _PATTERN.isdisjoint(place):
        return "" if fnmatchcase(path, place) or fnmatchcase(path, f"{place}/*") else None
    return None


def done_to_files(call: Call) -> Iterator[Done]:
    """What a call did to files, in order; nothing if it failed, was refused or has no answer."""
    script, result = call.script, call.result
    if script is None or result is None or result.status is Status.FAILED:
        return
    if result.basis is Basis.DECLINED:
        return
    for command in script.commands:
        if command.writes and command.program not in _PATCHES:
            yield from _of_command(command, call.event.cwd)
        elif command.subcommand == "commit" and command.program == "git":
            yield Committed()


def _of_command(command: Command, cwd: str | None) -> Iterator[Done]:
    writes = command.writes
    for at, write in enumerate(writes):
        if write.how not in _MATTER:
            continue
        path = locate(write.path, cwd)
        following = writes[at + 1] if at + 1 < len(writes) else None
        if following is not None and following.how is Writing.MOVE:
            yield Moved(path, locate(following.path, cwd))
        else:
            yield Undone(path, write.how, everywhere=command.subcommand == "reset")
