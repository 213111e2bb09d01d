"""Skills where agents read them: SKILL.md folders, written and taken out through `instructions`.

Which folder follows from the skill's scope: the repository's own for one of a workspace, the
person's for the rest. A live skill is written, one that is not is taken out. What a person edited
or deleted there is theirs: it is neither overwritten nor put back, and the notes say so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hansei.errors import HanseiError, UnusableInstructions
from hansei.instructions import carrying, disk, plans
from hansei.instructions.plans import Plan
from hansei.instructions.targets import SKILL_FOLDERS, skill_path
from hansei.learn.formats.agent_skills import skill_md
from hansei.learn.model import LIVE
from hansei.store import journal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hansei.instructions.plans import Note
    from hansei.learn.model import Skill
    from hansei.store.database import Store
    from hansei.store.journal import Entry

_REFERENCE: Final = "skill:"


@dataclass(frozen=True)
class Placed:
    """What became of a skill's files in one tree."""

    root: Path
    paths: tuple[str, ...]
    notes: tuple[Note, ...]
    entry: int | None
    """The change in the journal of instruction files; None where nothing changed."""
    written: bool
    """Whether files were written rather than taken out."""


def reference(name: str) -> str:
    """What the journal knows a skill's files by."""
    return f"{_REFERENCE}{name}"


def skill_of(entry: Entry) -> str | None:
    """The skill that a change of instruction files was made for."""
    named = entry.reference.removeprefix(_REFERENCE)
    return named if named != entry.reference else None


def planned(store: Store, skill: Skill, root: Path, *, again: bool = False) -> Plan:
    """What placing a skill in a tree would do; writes nothing.

    `again` puts back what a person deleted by hand.
    """
    live = skill.state in LIVE
    text = skill_md(skill) if live else None
    plan = Plan(root.resolve(), reference(skill.name))
    for path in _paths(root, skill.name):
        if not live and not _standing(store, plan.repository, path):
            continue
        if live and not again and _taken_out(store, plan.repository, path):
            note = plans.Note(path, "taken out by hand since; not put back")
            plan = replace(plan, notes=(*plan.notes, note))
            continue
        one = plans.plan_file(store, root, path, text, plan.reference)
        plan = plans.together(plan, one)
    notes = tuple(note for note in plan.notes if note.message != plans.UNCHANGED)
    return replace(plan, notes=notes)


def _paths(root: Path, name: str) -> list[str]:
    """The files of a skill, each once though one folder may be a link to the other."""
    found: dict[str, str] = {}
    for folder in SKILL_FOLDERS:
        path = skill_path(folder, name)
        try:
            real = disk.find(root, path).path
        except HanseiError:  # the plan says what is wrong
            real = path
        found.setdefault(real, path)
    return list(found.values())


def _standing(store: Store, root: Path, path: str) -> bool:
    """Whether a file of ours is to be there."""
    known = journal.standing(store.db, str(root), disk.find(root, path).path)
    return bool(known) and known[-1][1].after is not None


def _taken_out(store: Store, root: Path, path: str) -> bool:
    try:
        return disk.find(root, path).content is None and _standing(store, root, path)
    except HanseiError:
        return False


def is_placed(store: Store, name: str, root: Path) -> bool:
    """Whether we have files of a skill in a tree."""
    places = _paths(root, name)
    try:
        return any(_standing(store, root.resolve(), path) for path in places)
    except HanseiError:
        return False


def must_be_possible(plan: Plan) -> None:
    """Refuse a plan that something stands against, before anything is written."""
    if plan.problems:
        raise UnusableInstructions(plan.problems[0].message, hint=plan.problems[0].hint)


def carry_out(store: Store, plan: Plan, *, now: int) -> Placed:
    """Write what a plan says."""
    must_be_possible(plan)
    entry = carrying.carry_out(store, plan, now=now) if plan.files else None
    return Placed(
        plan.repository,
        tuple(file.path for file in plan.files),
        plan.notes,
        None if entry is None else entry.id,
        any(file.change.after is not None for file in plan.files),
    )


def edited(store: Store) -> list[str]:
    """Files of skills that somebody changed where agents read them, since we wrote them."""
    last: dict[Path, str | None] = {}
    for entry in sorted(journal.listed(store.db), key=lambda it: it.id):
        if skill_of(entry) is not None and entry.state is journal.State.DONE:
            last |= {Path(entry.repository) / it.path: it.after for it in entry.files}
    return sorted(str(path) for path, after in last.items() if _differs(path, after))


def _differs(path: Path, after: str | None) -> bool:
    try:
        return after is not None and disk.digest(path.read_bytes()) != after
    except OSError:
        return False


def changes_of(store: Store, names: Sequence[str], at: int) -> list[Entry]:
    """Changes of instruction files that were made at one moment for some skills, newest first."""
    wanted = {reference(name) for name in names}
    return [
        entry
        for entry in journal.listed(store.db)
        if entry.at == at and entry.reference in wanted and entry.state is journal.State.DONE
    ]
