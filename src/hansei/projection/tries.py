"""Calls that asked for something that is not here: a command, option, script, module or file.

What makes two of them the same is the key. For files it is the folder that was wrong: `src/a.ts`
that turned out to be `app/src/a.ts` in one session and `src/b.ts` in another are one slip, so files
are brought together by the folders that were taken for one another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hansei.events.model import Status
from hansei.projection.failures import Ending
from hansei.projection.failures.missing import What, missing
from hansei.projection.slips import Slip, located, slip
from hansei.projection.ways import about, parted
from hansei.projection.wording import before_options, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.projection.failures import Episode, Failure
    from hansei.projection.failures.missing import Missing
    from hansei.projection.places import Place
    from hansei.projection.window import Window


class Try(NamedTuple):
    """One call that asked for something that is not there."""

    session: int
    key: str
    failure: Failure
    episode: Episode
    lost: Missing
    slip: Slip | None
    path: str
    """Of a file, where it was looked for."""
    shown: str
    """What was tried, in a few words."""
    shows: bool
    """Whether what got past it is the way that the slip tells, and not another one."""
    found: int
    """The call that got past it; of a file the first one that opened something in that folder."""

    @property
    def recovered(self) -> bool:
        return self.episode.ending is Ending.RECOVERED


class Aim(NamedTuple):
    """What a key says about who could run into it; empty where it says nothing."""

    tool: str = ""
    """The program with its subcommand."""
    folder: str = ""
    """Where things lie that are looked for elsewhere."""


def tries(window: Window) -> Iterator[Try]:
    """Every such call that says something of this project, in order."""
    rows = {(session, row.seq): row for session, row in window.failures}
    for session, episode in parted(window):
        for seq in episode.failures:
            found = _try(window, session, episode, rows[session, seq])
            if found is not None:
                yield found


def aim(key: str) -> Aim:
    """Who could run into what a key stands for, read off the key alone."""
    kind, _, rest = key.partition(" ")
    if kind == "folder":
        right = rest.rpartition(" for ")[2]
        return Aim(folder="" if right == "/" else right)
    if kind in (What.PROGRAM, What.FILE):
        return Aim()
    return Aim(tool=rest.rpartition(" ")[0])


def _try(window: Window, session: int, episode: Episode, row: Failure) -> Try | None:
    lost = missing(row)
    if lost is None:
        return None
    moved = slip(window, session, row, episode) if lost.what is What.FILE else None
    path = located(window, session, row, lost.name) if lost.what is What.FILE else None
    key = moved.key if moved else _key(row, lost, path)
    if not key:
        return None
    where = path.path if path else ""
    shown = where or _shown(window, session, row, lost)
    if moved is not None and moved.spelling:
        shown = lost.name  # shows only as it was typed
    end = _opened(window, session, row.seq, episode.end, moved)
    shows = moved is None or not moved.spelling or _same_tool(window, session, row, episode.end)
    return Try(session, key, row, episode, lost, moved, where, shown, shows, end)


def _same_tool(window: Window, session: int, row: Failure, end: int) -> bool:
    """Whether the tool that failed got past it: another one may take either spelling."""
    ran = about(window, session, end)
    if ran is not None:
        return ran.program == row.program
    return any(it.name == row.program for it in window.calls_of(session, end - 1, end + 1))


def _opened(window: Window, session: int, failed: int, end: int, moved: Slip | None) -> int:
    """Where the right folder was known: whoever opened one file in it knew it for the others."""
    if moved is None or not moved.right:
        return end
    for row in window.calls_of(session, failed, end):
        touches = window.touched_by.get((session, row.seq), ())
        if row.status is Status.OK and any(
            it.path.startswith(moved.right) and not it.path.endswith("/") for it in touches
        ):
            return row.seq
    return end


def _key(row: Failure, lost: Missing, path: Place | None) -> str:
    """What makes two tries the same; empty for what says nothing of this project."""
    if path is not None:
        return f"{What.FILE} {path.path}" if path.inside and "*" not in path.path else ""
    if lost.what is What.PROGRAM:
        return f"{What.PROGRAM} {lost.name}"
    tool = " ".join(part for part in (row.program, row.subcommand) if part)
    if lost.what is What.OPTION and lost.name.startswith("/"):
        return ""  # an option of another shell: agents know better at the next call
    return f"{lost.what} {tool} {lost.name}"


def _shown(window: Window, session: int, row: Failure, lost: Missing) -> str:
    """What was tried, in a few words: the program with its subcommands, and what it lacks."""
    if lost.what is What.PROGRAM:
        return lost.name
    tool = [word for part in (row.program, row.subcommand) if part for word in part.split()]
    ran = about(window, session, row.seq)
    if lost.what is What.OPTION and ran is not None:
        return " ".join((*before_options(ran.form), lost.name))
    if lost.what is What.MODULE:
        return " ".join(tool)
    name = words(lost.name)[0]
    return " ".join(tool if name in tool else [*tool, name])
