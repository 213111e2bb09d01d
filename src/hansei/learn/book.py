"""A book of skills: a folder with one file per skill, and the history of what was done to it.

A file that cannot be read is a problem that is told with its line; it never keeps the others from
being used, and it is never overwritten. Files are plain files in this very folder: a link is
refused, because writing through one would write elsewhere.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.errors import NotFound, StoreUnwritable, UnusableSkill, UsageError
from hansei.installation import files as disk
from hansei.learn import files, history, seals
from hansei.learn.heads import Broken
from hansei.learn.history import Change, Entry, Progress
from hansei.learn.model import LIVE, Skill, State
from hansei.learn.validation import name_problem, normal, unfit
from hansei.store.lock import exclusive

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

SHARED_FILE: Final = 0o644
LOCK_SECONDS: Final = 30.0
_IGNORED: Final = frozenset(("README.md",))
_TEXT: Final = ("description", "body", "predicates", "topic", "action", "auto_load")
"""What an agent gets to read or obey; a change of it makes a new version."""
_ADDED: Final = ("evidence", "votes", "told")
"""What grows beside the text, without a new date: so git can merge what two people add."""


class Problem(NamedTuple):
    """A file of a book that cannot be used, and why."""

    path: Path
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}, line {self.line}: {self.message}"


class Tampering(NamedTuple):
    """A skill as its file tells it, and as a person last let it be; None if nobody did."""

    now: Skill
    pinned: Skill | None

    @property
    def message(self) -> str:
        if self.pinned is None:
            return "never promoted on this machine"
        return "changed since promoted" if self.pinned.state in LIVE else "made usable by hand"


def _skill_of(content: bytes | None, name: str) -> Skill | None:
    """The skill of a file of the history; None if there was none, or it is read no more."""
    try:
        return None if content is None else files.read(content.decode("utf-8"), name)
    except (Broken, UnicodeDecodeError):
        return None


@dataclass(frozen=True)
class Book:
    """One folder of skills."""

    folder: Path
    records: Path | None = None
    """Where its history is kept; beside the skills if nothing else is said."""
    shared: bool = False
    """Whether others read these files too: a book in a repository."""

    @property
    def _history(self) -> Path:
        return self.records or self.folder / "history.jsonl"

    # --- reading ----------------------------------------------------------------------------------

    def skills(self) -> list[Skill]:
        """Every skill that can be read, by name; one that nobody let be so here is quarantined."""
        return [self._held(found) for found in self._looked_at() if isinstance(found, Skill)]

    def problems(self) -> list[Problem]:
        """Every file that cannot."""
        return [found for found in self._looked_at() if isinstance(found, Problem)]

    def find(self, name: str) -> Skill:
        """The skill of that name; refuses a file that cannot be read."""
        wrong = name_problem(name)
        if wrong:
            raise NotFound(f"{name!r} is no name of a skill: {wrong}")
        found = self._look(self.file(name))
        if isinstance(found, Problem):
            raise UnusableSkill(
                str(found), hint="Mend that line, or take an earlier version of the file from git."
            )
        if found is None:
            raise NotFound(f"there is no skill {name!r} in {self.folder}")
        return self._held(found)

    def has(self, name: str) -> bool:
        """Whether there is a file of that name, readable or not."""
        return name_problem(name) is None and os.path.lexists(self.file(name))

    def file(self, name: str) -> Path:
        return self.folder / f"{name}{files.SUFFIX}"

    def _looked_at(self) -> Iterator[Skill | Problem]:
        try:
            listed = sorted(self.folder.iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return
        for path in listed:
            if path.suffix == files.SUFFIX and path.name not in _IGNORED:
                found = self._look(path)
                if found is not None:
                    yield found

    def _look(self, path: Path) -> Skill | Problem | None:
        wrong = name_problem(path.stem)
        if wrong:
            return Problem(path, 1, wrong)
        try:
            content = self._content(path.stem)
            if content is None:
                return None
            skill = files.read(content.decode("utf-8"), path.stem)
        except UnicodeDecodeError as problem:
            line = problem.object.count(b"\n", 0, problem.start) + 1
            return Problem(path, line, "it is not UTF-8 text")
        except Broken as problem:
            return Problem(path, problem.line, str(problem))
        except UnusableSkill as problem:
            return Problem(path, 1, problem.message)
        faults = unfit(skill)
        return Problem(path, 1, faults[0]) if faults else skill

    def _content(self, name: str) -> bytes | None:
        """The bytes of a skill's file; refuses what is no ordinary file of this folder."""
        path = self.file(name)
        try:
            status = path.lstat()
            if not stat.S_ISREG(status.st_mode):
                raise UnusableSkill(f"{path} is not an ordinary file", hint="Put a file there.")
            if status.st_size > files.LARGEST:
                raise UnusableSkill(
                    f"{path} has {status.st_size:,} bytes, too many for a skill",
                    hint=f"A skill has at most {files.LARGEST:,}.",
                )
            return path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as problem:
            raise UnusableSkill(f"{path} cannot be read: {problem.strerror}") from problem

    # --- what a person let be so ------------------------------------------------------------------

    def tampered(self) -> dict[str, Tampering]:
        """Skills whose file says they may be used, which nobody here said of them as they are."""
        return {
            found.name: Tampering(found, self.pinned(found.name))
            for found in self._looked_at()
            if isinstance(found, Skill) and not self._is_pinned(found)
        }

    def pinned(self, name: str) -> Skill | None:
        """A skill as a person last let it be in this book; None if nobody did."""
        return _skill_of(history.standing(self._history).get((str(self.folder), name)), name)

    def _held(self, found: Skill) -> Skill:
        return found if self._is_pinned(found) else replace(found, state=State.QUARANTINED)

    def _is_pinned(self, skill: Skill) -> bool:
        """Whether a skill may be what its file says: not in use, or as a person let it be.

        A book that was never changed here may be a copy of one that was: a clone, a worktree.
        """
        if skill.state not in LIVE:
            return True
        told = history.standing(self._history)
        if (str(self.folder), skill.name) in told:
            known = [told[str(self.folder), skill.name]]
        else:
            known = [content for (_, name), content in told.items() if name == skill.name]
        kept = (_skill_of(content, skill.name) for content in known)
        return any(it is not None and seals.pin(it) == seals.pin(skill) for it in kept)

    # --- writing ----------------------------------------------------------------------------------

    def keep(self, skill: Skill, now: int, *, operation: str = "keep", by: str = "") -> Skill:
        """Have the book hold a skill; a changed text makes a new version. Returns what is kept."""
        self.change(operation, {skill.name: skill}, now, by=by)
        return self.find(skill.name)

    def remove(self, name: str, now: int, *, by: str = "") -> None:
        """Have the book hold a skill no more; its history can bring it back."""
        self.find(name)
        self.change("remove", {name: None}, now, by=by)

    def change(
        self, operation: str, wanted: Mapping[str, Skill | None], now: int, *, by: str = ""
    ) -> Entry | None:
        """Have several skills be so, all or none; None where they were already."""
        with self._writing(now):
            changes = [self._changed(name, skill, now) for name, skill in sorted(wanted.items())]
            real = tuple(it for it in changes if it.before != it.after)
            if not real:
                return None
            number = history.next_number(self._history)
            entry = Entry(number, now, operation, real, str(self.folder), by)
            history.intend(self._history, entry)
            self._write(entry, [(it.name, it.before, it.after) for it in real])
            history.mark(self._history, number, Progress.DONE)
            return self.entry(number)

    def _changed(self, name: str, skill: Skill | None, now: int) -> Change:
        wrong = name_problem(name)
        if wrong or (skill is not None and skill.name != name):
            raise UnusableSkill(f"{name!r} is no name of a skill: {wrong or 'it has another'}")
        before = self._content(name)
        if skill is None:
            return Change(name, before, None)
        old = None if before is None else self.find(name)
        new = versioned(old, normal(skill), now)
        must_be_fit(new)
        return Change(name, before, files.written(new).encode("utf-8"))

    def _write(
        self, entry: Entry, changes: Sequence[tuple[str, bytes | None, bytes | None]]
    ) -> None:
        """Replace files, all or none."""
        made: list[tuple[str, bytes | None, bytes | None]] = []
        try:
            for name, before, after in changes:
                made.append((name, before, after))
                self._replace(name, before, after)
        except BaseException:
            for name, before, after in reversed(made):
                if self._content(name) == after:
                    self._replace(name, after, before)
            gone_back = entry.progress is not Progress.DONE
            state = Progress.VOID if gone_back else Progress.DONE
            history.mark(self._history, entry.id, state)
            raise

    def _replace(self, name: str, before: bytes | None, after: bytes | None) -> None:
        path = self.file(name)
        try:
            self._must_hold(name, before)
            if after is None:
                disk.remove(path, [])
            else:
                new = SHARED_FILE if self.shared and before is None else None
                disk.replace(path, after, expected=before, mode=new)
        except disk.ChangedMeanwhile:
            raise UnusableSkill(
                f"{path} was changed by someone else just now", hint="Run the command again."
            ) from None
        except OSError as problem:
            raise StoreUnwritable(
                f"{path} cannot be written: {problem.strerror}",
                hint="Nothing was changed. Make room or allow writing, then try again.",
            ) from problem

    def _must_hold(self, name: str, content: bytes | None) -> None:
        if self._content(name) != content:
            raise disk.ChangedMeanwhile

    @contextmanager
    def _writing(self, now: int) -> Iterator[None]:
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o755 if self.shared else 0o700)
            self._history.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as problem:
            raise StoreUnwritable(
                f"{self.folder} cannot be made: {problem.strerror}",
                hint="Allow writing there, then try again.",
            ) from problem
        lock = self._history.with_suffix(".lock")
        with exclusive(lock, wait_seconds=LOCK_SECONDS):
            self._settle(now)
            yield

    def forget(self, now: int) -> None:
        """Remove every file of the book, and all that its history tells of it, for good."""
        import shutil

        with self._writing(now):
            history.forget(self._history, str(self.folder))
            shutil.rmtree(self.folder)

    # --- history ----------------------------------------------------------------------------------

    def history(self) -> list[Entry]:
        """What was done to the book, newest first."""
        told = history.entries(self._history)
        return [entry for entry in reversed(told) if entry.book == str(self.folder)]

    def entry(self, number: int) -> Entry:
        found = next((it for it in self.history() if it.id == number), None)
        if found is None:
            raise NotFound(f"the history of this book has no change {number}")
        return found

    def undoing(self, number: int | None = None) -> Entry:
        """The change that undoing would take back; refuses where something stands on it."""
        done = [it for it in self.history() if it.progress is Progress.DONE]
        if number is None and not done:
            raise NotFound("there is nothing to undo in this book")
        entry = done[0] if number is None else self.entry(number)
        if entry.progress is not Progress.DONE:
            raise UsageError(f"change {entry.id} was undone already")
        names = {it.name for it in entry.changes}
        for later in done:
            if later.id > entry.id and names & {it.name for it in later.changes}:
                raise UsageError(
                    f"change {later.id} changed the same skill after change {entry.id}",
                    hint=f"Undo change {later.id} first.",
                )
        for change in entry.changes:
            if self._content(change.name) != change.after:
                raise UnusableSkill(
                    f"{self.file(change.name)} was changed by hand or by git since",
                    hint="Undoing would lose that. `hansei skills edit` changes it further.",
                )
        return entry

    def undo(self, number: int | None, now: int) -> Entry:
        """Put back every byte that a change found."""
        with self._writing(now):
            entry = self.undoing(number)
            history.mark(self._history, entry.id, Progress.UNDOING)
            self._write(entry, [(it.name, it.after, it.before) for it in entry.changes])
            history.mark(self._history, entry.id, Progress.UNDONE, now)
        return self.entry(entry.id)

    def _settle(self, now: int) -> None:
        """Finish or take back what a crash cut short."""
        for entry in self.history():
            if entry.progress not in (Progress.INTENDED, Progress.UNDOING):
                continue
            there = {it.name: self._content(it.name) for it in entry.changes}
            whole = all(there[it.name] == it.after for it in entry.changes)
            if entry.progress is Progress.INTENDED and whole:
                history.mark(self._history, entry.id, Progress.DONE)
                continue
            for change in entry.changes:
                if there[change.name] == change.after != change.before:
                    self._replace(change.name, change.after, change.before)
            undone = entry.progress is Progress.UNDOING
            state = Progress.UNDONE if undone else Progress.VOID
            history.mark(self._history, entry.id, state, now)


def versioned(old: Skill | None, new: Skill, now: int) -> Skill:
    """The skill with the version and dates that follow from what was kept before."""
    if old is None:
        return replace(new, created_at=new.created_at or now, changed_at=new.changed_at or now)
    rewritten = any(getattr(old, name) != getattr(new, name) for name in _TEXT)
    dated = replace(
        new,
        version=old.version + 1 if rewritten else old.version,
        created_at=old.created_at,
        changed_at=old.changed_at,
    )
    grown = {name: getattr(new, name) for name in _ADDED}
    return dated if replace(old, **grown) == dated else replace(dated, changed_at=now)


def must_be_fit(skill: Skill) -> None:
    """Refuse a skill that may not be kept, or that could not be read again."""
    faults = unfit(skill)
    if not faults:
        text = files.written(skill)
        try:
            same = files.read(text, skill.name) == skill
            faults = [] if same else ["it would not be read as it was written"]
        except Broken as problem:
            faults = [f"line {problem.line} of its file: {problem}"]
        if len(text.encode("utf-8")) > files.LARGEST:
            faults.append(f"it would take more than {files.LARGEST:,} bytes")
    if faults:
        raise UnusableSkill(
            f"skill {skill.name[:64]!r} cannot be kept: {faults[0]}",
            hint="; ".join(faults[1:4]) or None,
        )
