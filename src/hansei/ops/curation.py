"""Curating what agents are told here: the skillbook, which is changed, and the instruction files,
which are people's own and only told of.

What is applied is one change in each book that it touches, taken back by one undo.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hansei.errors import NotFound, UsageError
from hansei.hook.places import SKILL
from hansei.hook.repository import top
from hansei.instructions.census import census
from hansei.instructions.departures import look
from hansei.instructions.findings import findings
from hansei.instructions.staleness import named_in
from hansei.instructions.told_here import statements_of
from hansei.learn import curation
from hansei.learn.model import LIVE
from hansei.ops import skill_ladder, skill_places, skills

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hansei.instructions.census import Text
    from hansei.instructions.departures import Stale
    from hansei.instructions.findings import Finding
    from hansei.instructions.staleness import Kind
    from hansei.learn.counters import Counters
    from hansei.learn.curation import Step
    from hansei.learn.model import Skill
    from hansei.ops.skills import Desk, Done, Shelf

OPERATION: Final = skills.CURATE
_OF_SKILL: Final = "skill "


@dataclass(frozen=True)
class Curation:
    """What there is to do and to decide in a folder."""

    steps: tuple[Step, ...]
    findings: tuple[Finding, ...]
    """In instruction files, with file and line."""
    skills: int
    """That were looked at."""
    texts: int
    sentences: int
    """Of the instruction files."""
    names: int
    """Paths, commands and packages that were looked up."""
    untold: tuple[Kind, ...] = ()
    """What could not be looked up in the history in time."""


def curated(desk: Desk, derived: Mapping[str, Counters]) -> Curation:
    """The plan; writes nothing. `derived` is what sessions tell of the skills."""
    rows, _ = skills.listed(desk.config, desk.here)
    own = [skill for _, skill in rows]
    root = Path(top(str(desk.here)) or desk.here)
    texts = _texts(desk, own, root)
    said = statements_of(texts)
    names = [
        *(named for it in texts for named in named_in(it.path, it.content)),
        *(named for it in own if it.state in LIVE for named in named_in(_path(it), _text(it))),
    ]
    gone, untold = look(root, names)
    steps = curation.plan(
        own,
        skills.counts(own, derived),
        files=said,
        stale=_by_skill(gone),
        books={skill.name: shelf.kind for shelf, skill in rows},
        by=desk.by,
    )
    steps = curation.in_order([*steps, *skill_ladder.steps(desk, rows, derived)])
    in_files = [it for it in gone if not it.named.path.startswith(_OF_SKILL)]
    return Curation(
        tuple(steps),
        tuple(findings(texts, in_files)),
        len(own),
        len(texts),
        len(said),
        len(names),
        tuple(untold),
    )


def _texts(desk: Desk, own: Sequence[Skill], root: Path) -> list[Text]:
    """The repository's instruction texts, without skills that were written there from the book."""
    placed = {it.name for it in own if skill_places.is_placed(desk.store, it.name, desk.root(it))}
    return [
        it
        for it in census(root, folder=desk.here)
        if it.carried is not None and not (it.kind == SKILL and it.path.split("/")[-2] in placed)
    ]


def _path(skill: Skill) -> str:
    return f"{_OF_SKILL}{skill.name}"


def _text(skill: Skill) -> str:
    asked = "\n".join(f"- Run `{it}`" for it in skill.predicates.do)
    return f"{skill.body}\n\n{asked}\n"


def _by_skill(gone: Iterable[Stale]) -> dict[str, list[Stale]]:
    found: dict[str, list[Stale]] = {}
    for it in gone:
        if it.named.path.startswith(_OF_SKILL):
            found.setdefault(it.named.path.removeprefix(_OF_SKILL), []).append(it)
    return found


def chosen(steps: Sequence[Step], named: Sequence[str]) -> list[Step]:
    """The steps that are taken: those that need no judgement, and those that a person names."""
    known = {it.id: it for it in steps}
    for name in named:
        step = known.get(name)
        if step is None:
            raise NotFound(
                f"there is no step {name!r} in the plan", hint="`hansei skills curate` shows it."
            )
        if not step.wanted:
            raise UsageError(
                f"step {name!r} is for you to decide: {step.reason}", hint=f"{step.action}."
            )
    taken = [it for it in steps if it.by_itself or it.id in named]
    once: dict[str, str] = {}
    for step in taken:
        for skill in step.wanted:
            if skill.name in once:
                raise UsageError(
                    f"steps {once[skill.name]} and {step.id} both change skill {skill.name!r}",
                    hint="Apply one, then look at the plan again.",
                )
            once[skill.name] = step.id
    return taken


def applied(desk: Desk, steps: Sequence[Step]) -> list[Done]:
    """Take steps: one change for each book, each skill where it is kept."""
    changes: dict[Path, tuple[Shelf, dict[str, Skill | None]]] = {}
    for skill in (it for step in steps for it in step.wanted):
        shelf, _ = skills.find(desk.config, desk.here, skill.name)
        wanted = changes.setdefault(shelf.book.folder, (shelf, {}))[1]
        wanted[skill.name] = skills.clean(desk, skill)
    return [
        skills.keep(desk, shelf.book, OPERATION, wanted, place=False)
        for shelf, wanted in changes.values()
    ]
