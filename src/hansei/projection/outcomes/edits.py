"""The edits of one session, and which of their lines the session itself took back.

A fold over the session's events. A later edit that removes a line takes it back from the newest
edit that wrote it; a shell command that restores or deletes a file takes back all that is in it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from hansei.events.model import Basis, FileEdit, Status, Tool, ToolCall, ToolResult
from hansei.projection.outcomes.lines import replaced, telling
from hansei.projection.outcomes.model import TakenBack, Written
from hansei.projection.outcomes.shell import Covers, restores

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hansei.store.reading import Numbered

_NEVER_RAN: Final = (Basis.DECLINED,)


@dataclass
class _Draft:
    """A hunk while the session goes on."""

    seq: int
    call: str
    hunk: int
    path: str
    at: int | None
    created: bool
    added: tuple[str, ...]
    removed: tuple[str, ...]
    lines: int
    taken_back: list[TakenBack] = field(default_factory=list)


@dataclass
class _Desk:
    """What the session has written so far, by file and line."""

    drafts: list[_Draft] = field(default_factory=list)
    open: dict[tuple[str, str], list[_Draft]] = field(default_factory=lambda: defaultdict(list))

    def write(self, draft: _Draft) -> None:
        """Put a hunk down, after taking what it removes from those that wrote it."""
        for line in draft.removed:
            copies = self.open.get((draft.path, line))
            if copies:
                earlier = copies.pop()
                back = _goes_back(earlier, draft)
                earlier.taken_back.append(TakenBack(line, draft.seq, draft.at, back))
        for line in draft.added:
            self.open[draft.path, line].append(draft)
        self.drafts.append(draft)

    def restore(self, seq: int, at: int | None, covers: Iterable[Covers]) -> None:
        """A command put files back or deleted them."""
        for what in covers:
            for (path, line), copies in self.open.items():
                for draft in [it for it in copies if what.covers(path, created=it.created)]:
                    copies.remove(draft)
                    draft.taken_back.append(TakenBack(line, seq, at, restored=True, by_shell=True))

    def overwrite(self, path: str, seq: int, at: int | None) -> None:
        """A file was written anew: nothing of what was there before is left."""
        for key in [key for key in self.open if key[0] == path]:
            for draft in self.open.pop(key):
                draft.taken_back.append(TakenBack(key[1], seq, at, restored=False))

    def rename(self, old: str, new: str) -> None:
        for path, line in [key for key in self.open if key[0] == old]:
            copies = self.open.pop((path, line))
            self.open[new, line] += copies
            for draft in copies:
                draft.path = new


def written(events: Sequence[Numbered], session: str) -> list[Written]:
    """The hunks that a session wrote, in order; edits that failed or were refused wrote nothing."""
    results = {it.event.call: it.event for it in events if isinstance(it.event, ToolResult)}
    desk = _Desk()
    now: int | None = None
    for seq, event in events:
        now = event.at if event.at is not None else now
        if isinstance(event, FileEdit):
            if _took_place(event, results.get(event.call)):
                _edit(desk, seq, event, now)
        elif isinstance(event, ToolCall) and event.tool is Tool.SHELL and event.text:
            result = results.get(event.call)
            if result is not None and result.status is not Status.FAILED:
                desk.restore(seq, now, restores(event.text, event.cwd))
    return [_row(draft, session) for draft in desk.drafts]


def _took_place(edit: FileEdit, result: ToolResult | None) -> bool:
    if edit.applied is not None:
        return edit.applied
    return result is None or (result.status is not Status.FAILED and result.basis not in _NEVER_RAN)


def _edit(desk: _Desk, seq: int, edit: FileEdit, at: int | None) -> None:
    if edit.operation == "delete":
        desk.restore(seq, at, [Covers(edit.path, tracked=True, untracked=True)])
    if edit.operation == "create":
        desk.overwrite(edit.path, seq, at)
    for number, hunk in enumerate(edit.hunks):
        change = replaced(hunk.old, hunk.new)
        lines = sum(1 for line in change.added if line)
        added, removed = tuple(telling(change.added)), tuple(telling(change.removed))
        created = edit.operation == "create"
        desk.write(_Draft(seq, edit.call, number, edit.path, at, created, added, removed, lines))
    if edit.moved_to:
        desk.rename(edit.path, edit.moved_to)


def _goes_back(earlier: _Draft, later: _Draft) -> bool:
    """Whether one hunk undoes another: all it wrote goes, and all it removed comes back."""
    gone = set(earlier.added) <= set(later.removed)
    return gone and set(later.added) == set(earlier.removed)


def _row(draft: _Draft, session: str) -> Written:
    return Written(
        session,
        draft.seq,
        draft.call,
        draft.hunk,
        draft.path,
        draft.at,
        draft.added,
        draft.removed,
        draft.lines,
        tuple(draft.taken_back),
    )


def told_once(hunks: Iterable[Written]) -> list[Written]:
    """Hunks without those that a fork or resume told again: the same lines of the same call.

    The path does not count, because a fork may stand in another worktree.
    """
    first: dict[tuple[str, int, tuple[str, ...], tuple[str, ...]], Written] = {}
    for hunk in hunks:
        first.setdefault((hunk.call, hunk.hunk, hunk.added, hunk.removed), hunk)
    return list(first.values())
