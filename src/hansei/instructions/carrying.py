"""Plans carried out, and undone.

The journal is written first, then the files, then the journal again. What a crash leaves between is
finished or taken back before the next change: finished if every file has our text, taken back from
those that have it otherwise.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from hansei.errors import HanseiError, UnusableInstructions, UsageError
from hansei.git.repository import identify
from hansei.instructions import commits, disk, edits, plans
from hansei.instructions.edits import Frame, Standing
from hansei.store import journal, workspaces
from hansei.store.journal import State

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence

    from hansei.instructions.disk import Found
    from hansei.instructions.plans import Plan
    from hansei.store.database import Store
    from hansei.store.journal import Entry, Written

LOCK_SECONDS = 30.0

AS_BEFORE = "as it was, byte for byte"
TAKEN_OUT = "ours taken out, what changed since stays"
PUT_BACK = "ours put back, what changed since stays"
OWN_CHANGED = "changed by hand since; left alone"
ITEM_EDITED = "edited by hand; left alone, and yours from now on"
GONE = "not there any more; nothing to undo"
THERE = "there again already; nothing to undo"


@dataclass(frozen=True)
class UndoneFile:
    """What undoing does to one file."""

    path: str
    message: str
    change: disk.Change | None = None
    exact: bool = False
    """Whether the file is byte for byte what it was."""

    @property
    def diff(self) -> str:
        made = self.change
        return "" if made is None else plans.unified(self.path, made.before, made.after)


@dataclass(frozen=True)
class Undone:
    """What undoing an entry does, or did."""

    entry: Entry
    files: tuple[UndoneFile, ...] = ()
    already: bool = False
    """Whether it was undone before; then nothing is done."""

    @property
    def diff(self) -> str:
        return "".join(file.diff for file in self.files)


def carry_out(store: Store, plan: Plan, *, now: int, message: str | None = None) -> Entry:
    """Write what a plan says; with a message, commit exactly these files as well."""
    _must_be_possible(plan)
    folder, paths = str(plan.repository), [file.path for file in plan.files]
    if message is not None:
        commits.must_be_clean(folder, paths)
    identity = identify(folder)
    with store.writing(wait_seconds=LOCK_SECONDS):
        recover(store, now=now)
        with _durable(store) as db:
            number = workspaces.number_of(db, identity)
            written = [file.written for file in plan.files]
            entry = journal.intend(db, number, folder, plan.reference, written, now=now)
        changes = [file.change for file in plan.files]
        _write(store, entry, changes)
        with store.transaction() as db:
            journal.mark(db, entry.id, State.DONE)
    if message is not None:
        commit = commits.commit(folder, paths, message)
        with store.transaction() as db:
            journal.note_commit(db, entry.id, commit)
    return journal.find(store.db, entry.id)


def _must_be_possible(plan: Plan) -> None:
    if plan.problems:
        raise UnusableInstructions(plan.problems[0].message, hint=plan.problems[0].hint)
    if not plan.files:
        told = "; ".join(f"{note.path}: {note.message}" for note in plan.notes)
        raise UsageError(f"nothing to write. {told}".strip())


@contextmanager
def _durable(store: Store) -> Iterator[sqlite3.Connection]:
    """A transaction that a power cut cannot take back: the files are written right after it."""
    store.db.execute("PRAGMA synchronous = FULL")
    try:
        with store.transaction() as db:
            yield db
    finally:
        store.db.execute("PRAGMA synchronous = NORMAL")


def _write(store: Store, entry: Entry, changes: Sequence[disk.Change]) -> None:
    """Write files; where that fails, whatever was reached is taken back and the journal says so."""
    try:
        disk.write(changes)
    except BaseException:
        with suppress(HanseiError):  # what cannot be settled now is settled before the next change
            state = _given_up(entry)
            with store.transaction() as db:
                journal.mark(db, entry.id, state)
        raise


def _given_up(entry: Entry) -> State:
    if entry.state is State.INTENDED:
        return _settle(entry)
    folder = Path(entry.repository)
    whole = all(_has(disk.find(folder, written.path), written) for written in entry.files)
    return State.DONE if whole else State.UNDOING


def history(store: Store, workspace: int | None = None) -> list[Entry]:
    """What was written, newest first."""
    return journal.listed(store.db, workspace)


def undoing(store: Store, number: int, *, repository: Path | None = None) -> Undone:
    """What undoing an entry would do; `repository` says where it is now if it was moved."""
    entry = journal.find(store.db, number)
    if entry.state in (State.UNDONE, State.VOID):
        return Undone(entry, already=True)
    _must_be_last(store, entry)
    folder = repository or Path(entry.repository)
    return Undone(entry, tuple(_undoing(disk.find(folder, it.path), it) for it in entry.files))


def undo(store: Store, number: int, *, now: int, repository: Path | None = None) -> Undone:
    """Take back what an entry wrote, and nothing else."""
    with store.writing(wait_seconds=LOCK_SECONDS):
        recover(store, now=now)
        undone = undoing(store, number, repository=repository)
        if undone.already:
            return undone
        with _durable(store) as db:
            journal.mark(db, number, State.UNDOING)
            entry = journal.find(db, number)
        changes = [file.change for file in undone.files if file.change is not None]
        _write(store, entry, changes)
        with store.transaction() as db:
            journal.mark(db, number, State.UNDONE, undone_at=now)
    return Undone(journal.find(store.db, number), undone.files)


def _must_be_last(store: Store, entry: Entry) -> None:
    """Refuse to take away what a later entry stands on."""
    for file in entry.files:
        for later, other in journal.standing(store.db, entry.repository, file.path):
            if later.id > entry.id and other.item == file.item:
                raise UsageError(
                    f"entry {later.id} changed the same text in {file.path} after entry {entry.id}",
                    hint=f"Undo entry {later.id} first.",
                )


def _undoing(found: Found, written: Written) -> UndoneFile:
    text = disk.text_of(found)
    frame = None if written.frame is None else msgspec.json.decode(written.frame, type=Frame)
    if disk.digest(found.content) == written.after:
        exact = _exactly(found, text, written)
        if disk.digest(exact) == written.before:
            return _changing(found, exact, frame, AS_BEFORE, exact=True)
    if written.item is None:
        return UndoneFile(found.path, GONE if found.content is None else OWN_CHANGED)
    return _undoing_item(found, text, written, written.item, frame)


def _exactly(found: Found, text: str, written: Written) -> bytes | None:
    if written.before is None:
        return None
    start, end = written.position, written.position + len(written.inserted)
    return disk.encoded(text[:start] + written.removed + text[end:], found.content)


def _undoing_item(
    found: Found, text: str, written: Written, name: str, frame: Frame | None
) -> UndoneFile:
    document = plans.document_of(found, text)
    if written.new is None:
        assert written.old is not None
        if edits.text_there(document, name) is not None:
            return UndoneFile(found.path, THERE)
        if found.content is None and written.after is not None:
            return UndoneFile(found.path, GONE)
        after = edits.added(text, name, written.old).text
        return _changing(found, disk.encoded(after, found.content), frame, PUT_BACK)
    standing = edits.standing(document, name, written.new)
    if standing is not Standing.OURS:
        return UndoneFile(found.path, GONE if standing is Standing.GONE else ITEM_EDITED)
    if written.old is not None:
        after = edits.replaced(text, name, written.new, written.old)
        return _changing(found, disk.encoded(after, found.content), frame, PUT_BACK)
    after = edits.removed(text, name, written.new, frame)
    gone = frame is not None and frame.made_file and plans.bare(after, frame)
    content = None if gone else disk.encoded(after, found.content)
    return _changing(found, content, frame, TAKEN_OUT)


def _changing(
    found: Found, content: bytes | None, frame: Frame | None, message: str, *, exact: bool = False
) -> UndoneFile:
    disk.must_be_writable(found)
    folders = frame.folders if frame and (found.content is None or content is None) else ()
    change = disk.Change(found.file, found.content, content, folders)
    return UndoneFile(found.path, message, change, exact)


def recover(store: Store, *, now: int) -> list[Entry]:
    """Finish or take back what a crash cut short; returns the entries that it settled.

    An entry whose files cannot be read now stays as it is: `doctor` counts those.
    """
    settled = []
    for entry in journal.unfinished(store.db):
        try:
            state = _settle(entry)
        except HanseiError:
            continue
        with store.transaction() as db:
            undone_at = now if state is State.UNDONE else None
            journal.mark(db, entry.id, state, undone_at=undone_at)
        settled.append(journal.find(store.db, entry.id))
    return settled


def _settle(entry: Entry) -> State:
    folder = Path(entry.repository)
    places = [(disk.find(folder, written.path), written) for written in entry.files]
    for found, _ in places:
        disk.sweep(found.file)
    have = [(found, written) for found, written in places if _has(found, written)]
    if entry.state is State.INTENDED and len(have) == len(places):
        return State.DONE
    undone = [_undoing(found, written) for found, written in have]
    disk.write([file.change for file in undone if file.change is not None])
    return State.VOID if entry.state is State.INTENDED else State.UNDONE


def _has(found: Found, written: Written) -> bool:
    """Whether a file holds what an entry was to write."""
    if disk.digest(found.content) == written.after:
        return True
    if written.item is None or disk.digest(found.content) == written.before:
        return False
    document = plans.document_of(found, disk.text_of(found))
    if written.new is None:
        return edits.text_there(document, written.item) is None
    return edits.standing(document, written.item, written.new) is Standing.OURS
