"""Sessions on trees that hold the change, against sessions on trees that do not.

The change is a commit, or all that came after a pinned one. An uncommitted edit can hold the change
or hide it: where a hook saw the instruction files their hashes decide, else such a session is left
out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from hansei.experiments.placing import CONTROL, TREATMENT, Candidate, Placed, Why, out

Holds = Callable[[str], bool | None]
"""Whether the tree of a commit holds the change; None where this clone cannot tell."""


@dataclass(frozen=True)
class ByCommit:
    """Bound to one commit, however it reached the tree."""

    holds: Holds
    moment: int
    """When the change was made."""
    files: tuple[tuple[str, str | None, str | None], ...] = ()
    """Path of each file of the change, with its hash before and after."""
    randomised: ClassVar[bool] = False

    def place(self, it: Candidate) -> Placed:
        if it.started is None or it.ended is None:
            return out(Why.NO_TIME)
        held = self._by_files(it) if it.dirty else None
        if it.dirty and held is None:
            return out(Why.DIRTY)
        if held is None:
            if it.commit is None:
                return out(Why.NO_COMMIT)
            held = self.holds(it.commit)
        if held is None:
            return out(Why.NOT_HERE)
        if not held and it.started < self.moment <= it.ended:
            return out(Why.STRADDLES)
        return TREATMENT if held else CONTROL

    def _by_files(self, it: Candidate) -> bool | None:
        """What the files say that a hook saw; None where they say nothing."""
        texts = it.texts or {}
        seen = [(texts.get(path), old, new) for path, old, new in self.files]
        if not seen or it.texts is None:
            return None
        if all(now == new for now, _, new in seen):
            return True
        return False if all(now == old for now, old, _ in seen) else None


@dataclass(frozen=True)
class SincePin:
    """Bound to a pinned commit: what was there by then, against what came after it."""

    is_ancestor: Callable[[str, str], bool]
    """Whether the first commit is the second or came before it."""
    is_here: Callable[[str], bool]
    pin: str
    moment: int
    """When the commit was pinned."""
    randomised: ClassVar[bool] = False

    def place(self, it: Candidate) -> Placed:
        if it.started is None or it.ended is None:
            return out(Why.NO_TIME)
        if it.commit is None:
            return out(Why.NO_COMMIT)
        if not self.is_here(it.commit) or not self.is_here(self.pin):
            return out(Why.NOT_HERE)
        if self.is_ancestor(it.commit, self.pin):
            late = it.started < self.moment <= it.ended
            return out(Why.STRADDLES) if late else self._of_pin(it)
        return TREATMENT if self.is_ancestor(self.pin, it.commit) else out(Why.ELSEWHERE)

    def _of_pin(self, it: Candidate) -> Placed:
        """After the pin, an edited tree may hold the change before it is committed."""
        after = it.started is not None and it.started >= self.moment
        return out(Why.DIRTY) if after and it.dirty is not False else CONTROL
