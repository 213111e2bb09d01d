"""Sessions whose instruction file held a text, against sessions whose file did not.

What a hook read in the file decides, else the file of the commit. A text that we wrote and nobody
has committed is in the folder it was written to from then on, and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hansei.experiments.placing import CONTROL, TREATMENT, Candidate, Placed, Why, out


@dataclass(frozen=True)
class ByText:
    """One text in one file, written at one moment."""

    path: str
    holding: frozenset[str]
    """Hashes of the file with the text in it."""
    lacking: frozenset[str]
    """Hashes of the file without it."""
    folder: str
    """The repository that it was written to."""
    moment: int
    """When it was written."""
    until: int | None = None
    """When it was taken out again."""
    committed: bool = False
    """Whether any commit holds it."""
    randomised: ClassVar[bool] = False

    def place(self, it: Candidate) -> Placed:
        if it.started is None or it.ended is None:
            return out(Why.NO_TIME)
        turns = [moment for moment in (self.moment, self.until) if moment is not None]
        if any(it.started < moment <= it.ended for moment in turns):
            return out(Why.STRADDLES)
        if self.until is not None and it.started >= self.until:
            return out(Why.AFTER)
        mark = None if it.texts is None else it.texts.get(self.path)
        if mark in self.holding:
            return TREATMENT
        if it.started < self.moment:
            return CONTROL
        if it.seen and it.texts is not None and (mark is None or mark in self.lacking):
            return CONTROL
        return self._unseen(it)

    def _unseen(self, it: Candidate) -> Placed:
        """Of a session since, whose file nobody read as it was."""
        here = it.folder is not None and f"{it.folder}/".startswith(f"{self.folder.rstrip('/')}/")
        if not here:
            return out(Why.UNTOLD)
        if self.committed and not it.seen and it.texts is not None:
            # Its commit lacks the text that another one holds: the tree may have had it or not.
            return out(Why.DIRTY)
        return TREATMENT
