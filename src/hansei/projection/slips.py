"""Files that were looked for in the wrong folder: which folder was taken for which.

The path that failed and the one that was then read are cut where they stop being the same from the
end. What is left is the slip, and it is the same for every file in that folder.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.projection.failures import Ending
from hansei.projection.failures.missing import What, missing
from hansei.projection.places import ground, place
from hansei.projection.wording import code

if TYPE_CHECKING:
    from hansei.projection.failures import Episode, Failure
    from hansei.projection.places import Ground, Place
    from hansei.projection.window import Window

_GIT_BASH: Final = re.compile(r"/[a-z]/")
"""How one shell of Windows spells a drive; most other programs do not understand it."""


class Slip(NamedTuple):
    """A folder that was taken for another one."""

    key: str
    claim: str
    line: str
    fix: str
    spelling: bool = False
    """Whether the file was the right one, spelled in a way that was not understood."""
    wrong: str = ""
    right: str = ""
    """The folders, each with a slash at its end; empty for the top."""


def slip(window: Window, session: int, row: Failure, episode: Episode) -> Slip | None:
    """The slip behind a file that was then found; None where it was not, or was made meanwhile."""
    lost = missing(row)
    if lost is None or lost.what is not What.FILE or episode.ending is not Ending.RECOVERED:
        return None
    bad = located(window, session, row, lost.name)
    name = bad.path.rstrip("/").rsplit("/", 1)[-1]
    touches = window.touched_by.get((session, episode.end), ())
    good = next(
        (it.path for it in touches if it.path.rsplit("/", 1)[-1].lower() == name.lower()), None
    )
    if good is None:
        return None
    if good == bad.path:
        return _misspelled(row, lost.name)
    return _moved(bad.path, good)


def _misspelled(row: Failure, name: str) -> Slip | None:
    """The right file in a spelling that the tool does not understand."""
    if not _GIT_BASH.match(name):
        return None
    drive = f"{name[1].upper()}:/"
    return Slip(
        f"spelling {row.program} {name[:3]}",
        f"{code(row.program)} does not find paths that begin with {code(name[:3])};"
        f" it wants {code(drive)}",
        f"Give {code(row.program)} paths that begin with {code(drive)}, never {code(name[:3])}.",
        drive,
        spelling=True,
    )


def _moved(bad: str, good: str) -> Slip:
    wrong, right = bad.split("/"), good.split("/")
    while len(wrong) > 1 and len(right) > 1 and wrong[-1] == right[-1]:
        wrong.pop()
        right.pop()
    shared = ""
    if wrong[-1] == right[-1]:  # one of them has no folder before what they share
        shared = wrong.pop()
        right.pop()
    old, new = "/".join(wrong), "/".join(right)
    if not old:
        name = shared if bad == shared else f"{shared}/"
        return Slip(
            f"folder {new}/",
            f"{code(name)} is in {code(f'{new}/')}; agents look for it at the top",
            f"Paths begin with {code(f'{new}/')}: {code(f'{new}/{name}')}, not {code(name)}.",
            f"{new}/",
            wrong=name,
            right=f"{new}/",
        )
    there = code(f"{new}/") if new else "the top folder"
    return Slip(
        f"folder {old}/ for {new}/",
        f"Agents look in {code(f'{old}/')} for what is in {there}",
        f"Look in {there}, not in {code(f'{old}/')}.",
        f"{new}/" if new else "the top folder",
        wrong=f"{old}/",
        right=f"{new}/" if new else "",
    )


def located(window: Window, session: int, row: Failure, name: str) -> Place:
    """A path that a failure names, from the top of the repository."""
    ran = next((it for it in window.ran_by.get((session, row.seq), ()) if it.about), None)
    folder = ran.directory if ran is not None else None
    return place(name, folder or None, _ground(window.roots.get(session, ())))


@lru_cache(maxsize=256)
def _ground(roots: tuple[str, ...]) -> Ground:
    return ground(roots)
