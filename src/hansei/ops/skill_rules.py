"""A skill as a rule of its own, which agents read together with the files it is about.

Where an agent has files for patterns the rule is one of these; where it reads a file of its name in
each folder, an item in that one, if the pattern means the whole folder. Written, changed and taken
out through `instructions`, under the same reference as the skill's other files.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hansei.instructions import plans
from hansei.instructions.plans import Plan
from hansei.instructions.targets import SKILL, readers
from hansei.learn import compile as compiling
from hansei.learn import patterns
from hansei.learn.model import LIVE, Rung, Scope
from hansei.learn.outlets import OUTLETS, is_scoped
from hansei.ops.skill_places import reference
from hansei.store import journal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.learn.model import Skill
    from hansei.learn.outlets import Outlet
    from hansei.store.database import Store


def planned(store: Store, skill: Skill, root: Path) -> Plan:
    """What having a skill's rules agree with it would change; writes nothing."""
    there = standing(store, skill.name, root)
    wanted = _wanted(store, skill, root, there)
    made = [_written(store, root, skill, path, it) for path, it in sorted(wanted.items())]
    gone = [
        plans.plan_file(store, root, path, None, reference(skill.name))
        if own
        else plans.plan_remove(store, root, path, reference(skill.name))
        for path, own in sorted(there.items())
        if path not in wanted
    ]
    plan = plans.together(Plan(root.resolve(), reference(skill.name)), *made, *gone)
    return replace(plan, notes=tuple(it for it in plan.notes if it.message != plans.UNCHANGED))


def _wanted(store: Store, skill: Skill, root: Path, there: dict[str, bool]) -> dict[str, Outlet]:
    """The files of a skill's rules; higher up the ladder, those that it came by."""
    if skill.state not in LIVE or skill.rung is Rung.NOTE:
        return {}
    found = dict(spots(store, skill, root))
    return found if skill.rung is Rung.RULE else {it: found[it] for it in found if it in there}


def spots(store: Store, skill: Skill, root: Path) -> Iterator[tuple[str, Outlet]]:
    """The files that the agents used here would read a rule in."""
    pattern = skill.predicates.path
    if skill.scope is not Scope.WORKSPACE or not pattern:
        return
    used = _agents(store, root)
    for outlet in OUTLETS.values():
        if not is_scoped(outlet, pattern, lambda folder: (root / folder).is_dir()):
            continue
        own = outlet.rules.format(skill.name)
        path = own or f"{patterns.folder_of(pattern)}/{outlet.file}"
        if used & readers(path):
            yield path, outlet


def _agents(store: Store, root: Path) -> set[str]:
    rows = store.db.execute(
        "SELECT DISTINCT s.agent FROM sessions s JOIN folders f ON f.workspace = s.workspace"
        " WHERE f.path IN (?, ?)",
        (str(root), str(root.resolve())),
    )
    return {agent for (agent,) in rows}


def _written(store: Store, root: Path, skill: Skill, path: str, outlet: Outlet) -> Plan:
    text = compiling.whole(skill, scoped=True)
    if not outlet.rules:
        item = plans.Item(reference(skill.name), text)
        return plans.plan_add(store, root, path, item)
    head = outlet.header.format(skill.predicates.path)
    whole = head + compiling.wrapped([text])
    return plans.plan_file(store, root, path, whole, reference(skill.name))


def standing(store: Store, name: str, root: Path) -> dict[str, bool]:
    """The files that hold a rule of ours for a skill, and whether all of each is ours."""
    found: dict[str, bool] = {}
    for entry in sorted(journal.listed(store.db), key=lambda it: it.id):
        done = entry.reference == reference(name) and entry.state is journal.State.DONE
        if not done or entry.repository != str(root.resolve()):
            continue
        for file in entry.files:
            if file.new is None:
                found.pop(file.path, None)
            elif Path(file.path).name != SKILL:
                found[file.path] = file.item is None
    return found
