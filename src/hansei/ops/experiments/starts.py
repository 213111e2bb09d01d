"""The commit that sessions began on where neither a hook nor the agent noted it.

As in `projection.snapshots.start`: where the working copy stood by its reflog, else what its branch
held by then. Here it is asked for many sessions at once, so git is asked once for each folder.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hansei.git.history import Moved, contains, listed_commits, main_line, reflog
from hansei.git.repository import git

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hansei.ops.experiments.candidates import Run

MOST: Final = 20_000
"""Commits of a branch that are looked through: years of them."""


@dataclass
class _Asked:
    """What git told of one repository and its working copies."""

    home: Path
    reflogs: dict[str, list[Moved]] = field(default_factory=dict)
    lines: dict[tuple[str, str | None], list[Moved]] = field(default_factory=dict)
    here: dict[str, bool] = field(default_factory=dict)

    def commit(self, folder: str | None, branch: str | None, at: int) -> str | None:
        place = folder if folder is not None and Path(folder).is_dir() else str(self.home)
        if place not in self.reflogs:
            self.reflogs[place] = reflog(place)
        stood = _by_then(self.reflogs[place], at)
        if stood is not None and self._is_here(place, stood):
            return stood
        return _by_then(self._line(place, branch), at)

    def _is_here(self, place: str, commit: str) -> bool:
        if commit not in self.here:
            self.here[commit] = contains(place, commit)
        return self.here[commit]

    def _line(self, place: str, branch: str | None) -> list[Moved]:
        if (place, branch) not in self.lines:
            named = branch and git(
                place, "rev-parse", "--verify", "--quiet", f"{branch}^{{commit}}"
            )
            end = named or main_line(place)
            found = [] if end is None else listed_commits(place, MOST, "--first-parent", end)
            self.lines[place, branch] = [Moved(*it) for it in found]
        return self.lines[place, branch]


def _by_then(moved: Sequence[Moved], at: int) -> str | None:
    return next((it.commit for it in moved if it.at <= at), None)


def with_commits(runs: Iterable[Run], home: Path | None) -> list[Run]:
    """The same sessions, each with the best that is known of the commit it began on."""
    if home is None:
        return list(runs)
    asked = _Asked(home)
    return [_with_commit(run, asked) for run in runs]


def _with_commit(run: Run, asked: _Asked) -> Run:
    it = run.candidate
    if it.commit is not None or it.started is None:
        return run
    found = asked.commit(it.folder, it.branch, it.started)
    return run._replace(candidate=replace(it, commit=found))
