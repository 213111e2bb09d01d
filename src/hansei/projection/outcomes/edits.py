"""The edits of one session, and which of their lines the session itself took back.

A fold over the session's events. A later edit that removes a line takes it back from the newest
edit that wrote it; a shell command that restores or deletes a file takes back all that is in it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from hansei.events.model import Basis, FileEdit, Status, ToolCall, ToolResult
from hansei.projection.commands.model import Writing
from hansei.projection.commands.paths import locate
from hansei.projection.outcomes.lines import replaced, telling
from hansei.projection.outcomes.model import TakenBack, Written
from hansei.projection.outcomes.shell import Moved, Undone, done_to_files, inside

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hansei.projection.calls import Call
    from hansei.store.reading import Numbered

_NEVER_RAN: Final = (Basis.DECLINED,)


@dataclass(eq=False)
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


_Lines = dict[str, list[tuple[_Draft, int]]]
"""Who wrote a line of a file, and as which of its lines; the newest last."""


@dataclass
class _File:
    """What the session has written into a file; most files are never asked for it."""

    unread: list[_Draft] = field(default_factory=list)
    read: _Lines = field(default_factory=dict)

    def lines(self) -> _Lines:
        for draft in self.unread:
            for number, line in enumerate(draft.added):
                self.read.setdefault(line, []).append((draft, number))
        self.unread.clear()
        return self.read

    def empty(self, back: TakenBack) -> None:
        """Take back every line."""
        for copies in self.lines().values():
            for draft, number in copies:
                draft.taken_back.append(back._replace(line=number))
        self.read.clear()


@dataclass
class _Desk:
    """What the session has written so far, by file in one spelling."""

    drafts: list[_Draft] = field(default_factory=list)
    files: dict[str, _File] = field(default_factory=lambda: defaultdict(_File))
    created: set[str] = field(default_factory=set)
    """Files that git does not know yet."""

    def write(self, place: str, draft: _Draft) -> None:
        """Put a hunk down, after taking what it removes from those that wrote it."""
        file = self.files[place]
        lines = file.lines() if draft.removed else {}
        goes_back: dict[_Draft, bool] = {}
        for line in draft.removed:
            copies = lines.get(line)
            if copies:
                earlier, number = copies.pop()
                if earlier not in goes_back:
                    goes_back[earlier] = _goes_back(earlier, draft)
                back = TakenBack(number, draft.seq, draft.at, goes_back[earlier])
                earlier.taken_back.append(back)
        file.unread.append(draft)
        self.drafts.append(draft)

    def undo(self, seq: int, at: int | None, undone: Undone) -> None:
        """A command put files back or deleted them."""
        for place, file in self.files.items():
            if undone.covers(place, created=place in self.created):
                file.empty(TakenBack(0, seq, at, restored=True, by_shell=True))

    def overwrite(self, place: str, seq: int, at: int | None) -> None:
        """A file was written anew: nothing of what was there before is left."""
        self.files[place].empty(TakenBack(0, seq, at, restored=False))
        self.created.add(place)

    def rename(self, moved: Moved) -> None:
        for place in list(self.files):
            rest = inside(place, moved.old)
            if rest is not None:
                self._carry(place, moved.new + rest)

    def _carry(self, place: str, target: str) -> None:
        if place in self.created:
            self.created.add(target)
        carried = self.files.pop(place).lines()
        lines = self.files[target].lines()
        for line, copies in carried.items():
            lines.setdefault(line, []).extend(copies)
            for draft, _ in copies:
                draft.path = target


def written(events: Sequence[Numbered], calls: Iterable[Call]) -> list[Written]:
    """The hunks that a session wrote, in order; edits that failed or were refused wrote nothing."""
    results = {it.event.call: it.event for it in events if isinstance(it.event, ToolResult)}
    done = {call.seq: found for call in calls if (found := tuple(done_to_files(call)))}
    desk = _Desk()
    now: int | None = None
    for seq, event in events:
        now = event.at if event.at is not None else now
        if isinstance(event, FileEdit):
            if _took_place(event, results.get(event.call)):
                _edit(desk, seq, event, now)
        elif isinstance(event, ToolCall) and seq in done:
            for change in done[seq]:
                if isinstance(change, Undone):
                    desk.undo(seq, now, change)
                elif isinstance(change, Moved):
                    desk.rename(change)
                else:
                    desk.created.clear()
    return [_row(draft) for draft in desk.drafts]


def _took_place(edit: FileEdit, result: ToolResult | None) -> bool:
    if edit.applied is not None:
        return edit.applied
    return result is None or (result.status is not Status.FAILED and result.basis not in _NEVER_RAN)


def _edit(desk: _Desk, seq: int, edit: FileEdit, at: int | None) -> None:
    place = locate(edit.path, edit.cwd)
    created = edit.operation == "create"
    if edit.operation == "delete":
        desk.undo(seq, at, Undone(place, Writing.DELETE))
    if created:
        desk.overwrite(place, seq, at)
    for number, hunk in enumerate(edit.hunks):
        change = replaced(hunk.old, hunk.new)
        lines = sum(1 for line in change.added if line)
        added, removed = tuple(telling(change.added)), tuple(telling(change.removed))
        draft = _Draft(seq, edit.call, number, edit.path, at, created, added, removed, lines)
        desk.write(place, draft)
    if edit.moved_to:
        desk.rename(Moved(place, locate(edit.moved_to, edit.cwd)))


def _goes_back(earlier: _Draft, later: _Draft) -> bool:
    """Whether one hunk undoes another: all it wrote goes, and all it removed comes back."""
    gone = set(earlier.added) <= set(later.removed)
    return gone and set(later.added) == set(earlier.removed)


def _row(draft: _Draft) -> Written:
    return Written(
        draft.seq,
        draft.call,
        draft.hunk,
        draft.path,
        draft.at,
        draft.added,
        draft.removed,
        draft.lines,
        tuple(draft.taken_back),
        draft.created,
    )
