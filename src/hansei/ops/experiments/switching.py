"""The block of a switchback: in the file on days of one arm, out of it on the others.

Every switch is a change of the journal like any other, so each can be shown and undone. A line that
a person edited is theirs: it is left alone, and the days from then on count for nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hansei.config import DAY_MS
from hansei.experiments.binding.days import arm_of_day
from hansei.experiments.experiment import Bind
from hansei.experiments.placing import Arm
from hansei.instructions import carrying, plans
from hansei.ops.experiments.bound import reference
from hansei.ops.experiments.places import repository
from hansei.store import journal

if TYPE_CHECKING:
    from pathlib import Path

    from hansei.experiments.experiment import Experiment
    from hansei.instructions.plans import Plan
    from hansei.store.database import Store
    from hansei.store.journal import Entry


class Switched(NamedTuple):
    """What became of the block today."""

    experiment: str
    arm: Arm
    path: str
    changed: bool
    entry: int | None = None
    problem: str | None = None


def switch(store: Store, it: Experiment, here: Path, now: int) -> Switched:
    """Put the block in or take it out, as the coin says for today."""
    assert it.bind is Bind.DAYS
    arm = arm_of_day(it.terms.salt or "", now // DAY_MS, it.terms.share)
    path = it.terms.path or ""
    folder = repository(store, it.workspace, here)
    if folder is None:
        return Switched(it.id, arm, path, False, problem="its repository is not on this machine")
    if arm is Arm.TREATMENT:
        return put_in(store, it, folder, now)
    return take_out(store, it, folder, now)


def put_in(store: Store, it: Experiment, folder: Path, now: int) -> Switched:
    """Have the block stand in the file."""
    plan = planned(store, it, folder)
    path = it.terms.path or ""
    told = Switched(it.id, Arm.TREATMENT, path, changed=False)
    if plan.problems:
        return told._replace(problem=plan.problems[0].message)
    if not plan.files:
        note = "; ".join(note.message for note in plan.notes)
        return told if _standing(store, it.id) else told._replace(problem=note)
    entry = carrying.carry_out(store, plan, now=now)
    return told._replace(changed=True, entry=entry.id)


def take_out(store: Store, it: Experiment, folder: Path, now: int) -> Switched:
    """Have the block stand in the file no more."""
    told = Switched(it.id, Arm.CONTROL, it.terms.path or "", changed=False)
    entry = _standing(store, it.id)
    if entry is None:
        return told
    done = carrying.undo(store, entry.id, now=now, repository=folder)
    left = [file.message for file in done.files if file.change is None]
    problem = "; ".join(left) if left else None
    return told._replace(changed=True, entry=entry.id, problem=problem)


def planned(store: Store, it: Experiment, folder: Path) -> Plan:
    """What putting the block in would do."""
    item = plans.Item(reference(it.id), it.terms.text or "")
    return plans.plan_add(store, folder, it.terms.path or "", item)


def _standing(store: Store, experiment: str) -> Entry | None:
    """The change by which the block stands in the file now."""
    wanted = reference(experiment)
    found = journal.listed(store.db)
    done = (it for it in found if it.reference == wanted and it.state is journal.State.DONE)
    return next(done, None)
