"""One file at a time: what would change, and changing it with a way back.

A change is first a value that can be shown. Making it lays the old bytes aside, notes what is about
to happen, and only then replaces the file. Undoing it puts the very bytes back where the file is as
we left it, and else takes out what is ours.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hansei.errors import UnusableSettings
from hansei.installation import files
from hansei.installation.journal import Entry, Journal, digest
from hansei.installation.jsonc import Malformed

if TYPE_CHECKING:
    from collections.abc import Callable

    from hansei.installation.contract import Edit, Target

ATTEMPTS = 3
"""How often to start over where the agent itself writes its settings at the same moment."""


@dataclass(frozen=True)
class Change:
    """What a file holds and what it should hold; None is no file."""

    agent: str
    path: Path
    before: bytes | None
    after: bytes | None
    exact: bool = False
    """Whether `after` is byte for byte what was there before us."""
    mode: int | None = None

    @property
    def needed(self) -> bool:
        return self.before != self.after

    def diff(self) -> str:
        """The change as a unified difference, with little around it: settings hold keys too."""
        before, after = (_lines(content) for content in (self.before, self.after))
        old, new = (
            str(self.path) if x is not None else "/dev/null" for x in (self.before, self.after)
        )
        return "\n".join(difflib.unified_diff(before, after, old, new, lineterm="", n=1))


def _lines(content: bytes | None) -> list[str]:
    return (content or b"").decode("utf-8", "replace").splitlines()


def installing(agent: str, target: Target, mode: int | None = None) -> Change:
    """The change that puts our hooks into a file; raises UnusableSettings where it cannot."""
    before = files.read(target.path)
    text = None if before is None else files.decoded(target.path, before)
    wanted = _careful(target.path, text, target.edit.install)
    after = None if wanted is None else files.encoded(wanted, before)
    change = Change(agent, target.path, before, after, mode=mode)
    if change.needed:
        files.must_be_writable(target.path)
    return change


def uninstalling(agent: str, target: Target, journal: Journal) -> Change:
    """The change that takes our hooks out of a file again."""
    before = files.read(target.path)
    if before is None:
        return Change(agent, target.path, None, None)
    last = journal.last(target.path)
    if last is not None and last.after == digest(before):
        original = None if last.original is None else journal.kept(target.path, last.original)
        if last.original is None or original is not None:
            return _checked(Change(agent, target.path, before, original, exact=True))
    text = files.decoded(target.path, before)
    left = _careful(target.path, text, target.edit.uninstall)
    made_by_us = last is not None and last.original is None
    if left is not None and made_by_us and target.edit.is_empty(left):
        left = None
    after = None if left is None else files.encoded(left, before)
    return _checked(Change(agent, target.path, before, after))


def _checked(change: Change) -> Change:
    if change.needed:
        files.must_be_writable(change.path)
    return change


def _careful(path: Path, text: str | None, edit: Callable[..., str | None]) -> str | None:
    try:
        return edit(text)
    except Malformed as problem:
        raise UnusableSettings(
            f"{path}, line {problem.line}, column {problem.column}: {problem}",
            hint="Mend it (or delete it if it is not yours), then run `hansei init` again.",
        ) from None


def make(change: Change, edit: Edit, journal: Journal, *, now: int) -> None:
    """Carry out an installing change."""
    last = journal.last(change.path)
    folders = files.make_folders(change.path.resolve().parent)
    if last is not None and last.after == digest(change.before):
        original, made = last.original, [*last.folders, *map(str, folders)]
    else:
        journal.keep(change.path, change.before)
        original = journal.keep(change.path, _without(change, edit))
        made = [str(folder) for folder in folders]
    journal.note(
        Entry(
            at=now,
            agent=change.agent,
            path=str(change.path),
            before=digest(change.before),
            after=digest(change.after),
            original=original,
            folders=made,
        )
    )
    _write(change)


def _without(change: Change, edit: Edit) -> bytes | None:
    """What the file would hold had we never been there."""
    if change.before is None:
        return None
    left = edit.uninstall(files.decoded(change.path, change.before))
    return None if left is None else files.encoded(left, change.before)


def unmake(change: Change, journal: Journal, *, now: int) -> None:
    """Carry out an uninstalling change."""
    last = journal.last(change.path)
    folders = [Path(folder) for folder in last.folders] if last is not None else []
    kept = journal.keep(change.path, change.after)
    journal.keep(change.path, change.before)
    journal.note(
        Entry(
            at=now,
            agent=change.agent,
            path=str(change.path),
            before=digest(change.before),
            after=kept,
            original=kept,
        )
    )
    if change.after is None:
        files.remove(change.path, folders)
    else:
        _write(change)


def _write(change: Change) -> None:
    if change.after is None:
        files.remove(change.path, [])
        return
    try:
        files.replace(change.path, change.after, expected=change.before, mode=change.mode)
    except OSError as problem:
        raise UnusableSettings(
            f"{change.path} cannot be written: {problem.strerror}",
            hint="Nothing of it was changed. Make room or allow writing, then try again.",
        ) from problem
