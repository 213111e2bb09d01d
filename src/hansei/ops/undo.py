"""Taking back what was written into instruction files, and what was remembered of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hansei.errors import NotFound, UnusableInstructions, UsageError
from hansei.hook.repository import top
from hansei.instructions import carrying
from hansei.learn.compile import REFERENCE
from hansei.ops.apply import bet_of, must_be_writable, settle, take_back
from hansei.ops.skill_places import skill_of
from hansei.store import bets as memory
from hansei.store import journal, workspaces

if TYPE_CHECKING:
    from hansei.instructions.carrying import Undone
    from hansei.store.database import Store
    from hansei.store.journal import Entry


_COMPILED = "skills compiled by `hansei prompt`"


@dataclass(frozen=True)
class Line:
    """One change of the journal, as a list shows it."""

    entry: int
    at: int
    workspace: str
    repository: str
    paths: tuple[str, ...]
    state: str
    commit: str | None
    undone_at: int | None
    bet: str | None
    claim: str | None
    """What it was made for, where that is remembered."""


@dataclass(frozen=True)
class Reversal:
    """What undoing a change does."""

    undone: Undone
    line: Line
    repository: Path


def changes(store: Store, workspace: int | None) -> list[Line]:
    """What was written, newest first; None is everywhere."""
    return [_line(store, entry) for entry in carrying.history(store, workspace)]


def _line(store: Store, entry: Entry) -> Line:
    row = store.db.execute(
        "SELECT name FROM workspaces WHERE id = ?", (entry.workspace,)
    ).fetchone()
    bet = bet_of(entry)
    kept = None if bet is None else memory.named(store, bet)
    skill = skill_of(entry)
    claim = (
        _COMPILED if entry.reference == REFERENCE else None if skill is None else f"skill {skill}"
    )
    return Line(
        entry=entry.id,
        at=entry.at,
        workspace=row[0] if row else entry.repository,
        repository=entry.repository,
        paths=tuple(file.path for file in entry.files),
        state=str(entry.state),
        commit=entry.commit,
        undone_at=entry.undone_at,
        bet=bet,
        claim=claim if kept is None else kept.claim,
    )


def undoing(store: Store, number: int | None, here: Path, workspace: int | None) -> Reversal:
    """What undoing a change would do; without a number, the last one here that stands."""
    chosen = _last(store, workspace) if number is None else number
    entry = journal.find(store.db, chosen)
    repository = _repository(store, entry, here)
    undone = carrying.undoing(store, chosen, repository=repository)
    return Reversal(undone, _line(store, entry), repository)


def _last(store: Store, workspace: int | None) -> int:
    entries = journal.listed(store.db, workspace)
    done = [it.id for it in entries if it.state is journal.State.DONE]
    if not done:
        elsewhere = workspace is not None and any(
            it.state is journal.State.DONE for it in journal.listed(store.db)
        )
        hint = (
            "`hansei undo --list --all` shows what was written elsewhere."
            if elsewhere
            else "`hansei undo --list` shows what `hansei apply` wrote; `hansei skills undo` is"
            " for skills."
        )
        raise NotFound("there is nothing to undo here", hint=hint)
    return done[0]


def _repository(store: Store, entry: Entry, here: Path) -> Path:
    """Where the files are: as noted, or where the person stands if it was moved."""
    noted = Path(entry.repository)
    if noted.is_dir():
        return noted
    root = top(str(here))
    if root is not None and workspaces.find(store, root) == entry.workspace:
        return Path(root)
    raise UsageError(
        f"the repository of entry {entry.id} is not on this machine any more: {noted}",
        hint="Where it was moved, run this in its new place.",
    )


def undo(store: Store, shown: Reversal, *, now: int) -> Undone:
    """Take back what was shown, and have its bet be one to act on again."""
    must_be_writable(store)
    settle(store, now)
    number = shown.undone.entry.id
    fresh = carrying.undoing(store, number, repository=shown.repository)
    if fresh.files != shown.undone.files:
        path = ", ".join(file.path for file in shown.undone.files)
        raise UnusableInstructions(
            f"{path} was changed while the difference was shown",
            hint="Nothing was written. Run the command again to see the difference as it is now.",
        )
    done = carrying.undo(store, number, now=now, repository=shown.repository)
    bet = bet_of(done.entry)
    if bet is not None and not done.already:
        take_back(store, number, bet, now)
    return done
