"""Approved skills in the files that agents read, as a plan that can be shown and carried out.

Files are written through `instructions`, so that every version is in the journal and `hansei undo`
takes the last one back byte for byte.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hansei.errors import UnusableInstructions, UsageError
from hansei.git.repository import git
from hansei.hook.places import governs
from hansei.hook.repository import top
from hansei.instructions import carrying, disk, edits, plans, targets
from hansei.learn import compile as compiling
from hansei.learn import outlets
from hansei.learn.compile import BUDGET, REFERENCE, Room
from hansei.learn.formats.agent_skills import skill_md
from hansei.learn.model import State
from hansei.ops import skill_places
from hansei.ops.apply import must_be_writable
from hansei.ops.prompt import Compiled, Place, as_compiled, from_top, place_of
from hansei.store import journal

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from hansei.config import Config
    from hansei.instructions.plans import Plan
    from hansei.learn.model import Skill
    from hansei.learn.outlets import Outlet
    from hansei.store.database import Store
    from hansei.store.journal import Entry


@dataclass(frozen=True)
class Proposal:
    """What compiling for an outlet would change."""

    outlet: Outlet
    compiled: Compiled
    plan: Plan


def outlet_for(store: Store, here: Path, name: str | None) -> Outlet:
    """An outlet by its name; without one, the file that most sessions here read."""
    if name is None:
        root = Path(top(str(here)) or here)
        rows = store.db.execute(
            "SELECT s.agent FROM sessions s JOIN folders f ON f.workspace = s.workspace"
            " WHERE f.path = ?",
            (str(root),),
        )
        name = targets.default_target(root, Counter(agent for (agent,) in rows))
    known = outlets.OUTLETS.get(name.rstrip("/"))
    if known is not None:
        return known
    if targets.kind_of(name) == "instructions":
        return outlets.Outlet(name, name)
    listed = ", ".join(outlets.OUTLETS)
    raise UsageError(f"{name!r} is no place that skills are compiled for", hint=f"One of {listed}.")


def propose(
    store: Store,
    config: Config,
    here: Path,
    outlet: Outlet,
    *,
    now: int,
    budget: int = BUDGET,
    paths: Sequence[str] = (),
    again: bool = False,
) -> Proposal:
    """What compiling for an outlet would change; writes nothing.

    `again` puts back what a person took out by hand.
    """
    place = place_of(config, here, store, now)
    inside = [from_top(path, here, place.root) for path in paths]
    if outlet.listing is not None:
        return _folders(store, place, outlet, budget, inside)
    chosen = compiling.compiled(
        place.skills,
        _room(store, place, outlet, budget),
        paths=inside,
        languages=place.languages,
        scoped=lambda pattern: outlets.is_scoped(outlet, pattern, place.has_folder),
        told=place.told,
    )
    sheets = outlets.sheets(outlet, chosen)
    made = [
        plans.plan_file(store, place.root, it.path, it.text, REFERENCE)
        if it.own
        else plans.plan_add(store, place.root, it.path, plans.Item(REFERENCE, it.text), again=again)
        for it in sheets
    ]
    made += _taken_out(store, place, outlet, {it.path for it in sheets})
    text = "".join(compiling.blocks(it for it in chosen if it.taken))
    plan = plans.together(plans.Plan(place.root, REFERENCE), *made)
    return Proposal(outlet, as_compiled(place, chosen, text, budget), plan)


def _folders(
    store: Store, place: Place, outlet: Outlet, budget: int, paths: Sequence[str]
) -> Proposal:
    """Skills as folders of their own, as many as the list of an agent has room for."""
    others = [it for it in place.skills if it.state is not State.APPROVED]
    taken = sum(
        len(_listing(it)) for it in others if skill_places.is_placed(store, it.name, place.root)
    )
    room = Room(budget, (outlet.listing or 0) - taken, outlet.limited)
    chosen = compiling.listed(
        place.skills,
        room,
        entry=_listing,
        paths=paths,
        languages=place.languages,
        told=place.told,
    )
    made = [
        plans.plan_file(
            store,
            place.root,
            targets.skill_path(outlet.file, it.skill.name),
            skill_md(it.skill),
            REFERENCE,
        )
        for it in chosen
        if it.taken
    ]
    text = "".join(it.text for it in chosen if it.taken)
    plan = plans.together(plans.Plan(place.root, REFERENCE), *made)
    return Proposal(outlet, as_compiled(place, chosen, text, budget), plan)


def _listing(skill: Skill) -> str:
    """A skill as agents list it."""
    return f"- {skill.name}: {skill.description}\n"


def _room(store: Store, place: Place, outlet: Outlet, budget: int) -> Room:
    """What an agent's limit leaves beside the words of other people."""
    if outlet.limit is None:
        return Room(budget)
    bytes_of: dict[str, int] = {}
    for name in _same_files(place.root, outlet):
        found = disk.find(place.root, name)
        folder = name.rpartition("/")[0]
        bytes_of[folder] = len(found.content or b"") - _ours(store, place.root, found)
    # An agent reads those from the top down to where it works.
    chains = [
        sum(count for above, count in bytes_of.items() if governs(above, folder))
        for folder in bytes_of
    ]
    return Room(budget, outlet.limit - max(chains, default=0), outlet.limited)


def _same_files(root: Path, outlet: Outlet) -> list[str]:
    told = git(str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = {it for it in (told or "").split("\0") if it and it.rpartition("/")[2] == outlet.file}
    return sorted(it for it in {*names, outlet.file} if (root / it).is_file())


def _ours(store: Store, root: Path, found: disk.Found) -> int:
    """Bytes of what we compiled into a file before: they make room for what comes."""
    for entry, written in reversed(journal.standing(store.db, str(root), found.path)):
        if entry.reference == REFERENCE and written.item and written.new is not None:
            document = plans.document_of(found, disk.text_of(found))
            ours = edits.standing(document, written.item, written.new) is edits.Standing.OURS
            return len(written.new.encode()) if ours else 0
    return 0


def _taken_out(store: Store, place: Place, outlet: Outlet, wanted: Collection[str]) -> list[Plan]:
    """Plans that remove what was compiled before and is not wanted any more."""
    found: dict[str, bool] = {}
    for entry in reversed(journal.listed(store.db)):
        done = entry.reference == REFERENCE and entry.state is journal.State.DONE
        if done and entry.repository == str(place.root):
            for file in entry.files:
                found[file.path] = file.item is None
    gone = [(path, own) for path, own in sorted(found.items()) if path not in wanted]
    return [
        plans.plan_file(store, place.root, path, None, REFERENCE)
        if own
        else plans.plan_remove(store, place.root, path, REFERENCE)
        for path, own in gone
        if outlet.owns(path) and (place.root / path).exists()
    ]


def together(proposals: Sequence[Proposal]) -> Plan:
    """What compiling for several outlets would change, as one change."""
    return plans.together(*(it.plan for it in proposals))


def apply(store: Store, proposals: Sequence[Proposal], *, now: int) -> Entry:
    """Write what was shown, as one change."""
    must_be_writable(store)
    plan = together(proposals)
    if plan.problems:
        raise UnusableInstructions(plan.problems[0].message, hint=plan.problems[0].hint)
    return carrying.carry_out(store, plan, now=now)
