"""Approved skills as text for agents that read no files of their own.

The skills of a place are those of its repository, of this person for its workspace, and of this
person for everywhere, with what the stored sessions tell of each. Choosing among them is
`learn.compile`; files are `ops.prompt_files`.
"""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hansei.config import Environment, load, working_folder
from hansei.errors import HanseiError, UsageError
from hansei.git.repository import git
from hansei.hook.repository import top
from hansei.instructions import sizes
from hansei.learn import compile as compiling
from hansei.learn.book import Problem
from hansei.learn.compile import BUDGET, Room
from hansei.learn.model import State
from hansei.ops import skills
from hansei.projection.snapshots.languages import language_of
from hansei.redaction.redactor import Redactor
from hansei.store.database import DATABASE, complaints, open_store
from hansei.store.key import redaction_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    from hansei.config import Config
    from hansei.instructions.sizes import Size
    from hansei.learn.compile import Chosen
    from hansei.learn.counters import Counters
    from hansei.learn.model import Skill
    from hansei.store.database import Store

KEY_FILE = "redaction.key"


@dataclass(frozen=True)
class Compiled:
    """The skills of a place, those taken and those left out, and the text they make."""

    chosen: tuple[Chosen, ...]
    text: str
    size: Size
    budget: int
    waiting: int
    """Skills that are kept here and not approved."""
    problems: tuple[Problem, ...]
    """Files of the skillbook that cannot be read."""
    uncounted: str = ""
    """Why nothing is known from sessions, where something stands against asking them."""


# --- the skills of a place ------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """A repository and what is kept for it."""

    root: Path
    skills: tuple[Skill, ...]
    languages: frozenset[str]
    problems: tuple[Problem, ...]
    told: Mapping[str, Counters] = field(default_factory=dict)
    """What sessions tell of the approved ones."""
    uncounted: str = ""

    @property
    def waiting(self) -> int:
        return sum(it.state is State.DRAFT for it in self.skills)

    def has_folder(self, path: str) -> bool:
        return (self.root / path).is_dir()


def place_of(config: Config, here: Path, store: Store | None, now: int) -> Place:
    """What is kept for a folder; without a store, nothing is known from sessions."""
    root = Path(top(str(here)) or here).resolve()
    found, problems = skills.listed(config, here)
    scrub = _scrubber(config)
    kept = tuple(_clean(skill, scrub) for _, skill in found)
    told: dict[str, Counters] = {}
    approved = [it for it in found if it[1].state is State.APPROVED]
    if store is not None and approved:
        from hansei.ops.skill_counters import counted

        told = counted(skills.Desk(store, config, here, now), approved)
    return Place(root, kept, _languages(root), (*problems, *_tampered(config, here)), told)


def _place(config: Config, here: Path, now: int) -> Place:
    """The same with the store of this machine, if it has one that can be read.

    An agent is given its skills whatever became of the store.
    """
    if not (config.store / DATABASE).is_file():
        return place_of(config, here, None, now)
    try:
        with (
            closing(open_store(config.store, now=now, create=False)) as store,
            complaints(config.store),
        ):
            return place_of(config, here, store, now)
    except HanseiError as problem:
        return replace(place_of(config, here, None, now), uncounted=problem.message)


def _tampered(config: Config, here: Path) -> Iterator[Problem]:
    """Skills that are left out because nobody here let them be as they are."""
    for shelf in skills.shelves(config, here):
        for name, found in sorted(shelf.book.tampered().items()):
            told = f"{found.message}, so it is not used; see `hansei skills promote {name}`"
            yield Problem(shelf.book.file(name), 1, told)


def _scrubber(config: Config) -> Redactor | None:
    """What takes secrets out; texts were cleaned when they were kept, but people edit files."""
    known = (config.store / KEY_FILE).is_file()
    return Redactor(redaction_key(config.store)) if known else None


def _clean(skill: Skill, redactor: Redactor | None) -> Skill:
    if redactor is None:
        return skill
    description, body = redactor.scrub(skill.description), redactor.scrub(skill.body)
    return replace(skill, description=description, body=body)


def _languages(root: Path) -> frozenset[str]:
    told = git(str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = set((told or "").split("\0")) - {""}
    return frozenset(language for name in names if (language := language_of(name)) is not None)


# --- text -----------------------------------------------------------------------------------------


def compiled(
    config: Config, here: Path, *, now: int, budget: int = BUDGET, paths: Sequence[str] = ()
) -> Compiled:
    """What an agent of any kind is given here, as text."""
    place = _place(config, here, now)
    inside = [from_top(path, here, place.root) for path in paths]
    chosen = compiling.compiled(
        place.skills, Room(budget), paths=inside, languages=place.languages, told=place.told
    )
    return as_compiled(place, chosen, compiling.prompt(chosen), budget)


def text_for(
    workspace: str | PathLike[str] | None, budget: int | None, paths: Sequence[str]
) -> str:
    """The text for a folder of this machine; None is the folder we are in, and the usual budget."""
    environment = Environment.current()
    here = working_folder(environment) if workspace is None else Path(workspace).absolute()
    room = BUDGET if budget is None else budget
    now = int(time.time() * 1000)
    return compiled(load(environment, here), here, now=now, budget=room, paths=paths).text


def as_compiled(place: Place, chosen: Iterable[Chosen], text: str, budget: int) -> Compiled:
    told = tuple(chosen)
    size = sizes.size(text)
    return Compiled(told, text, size, budget, place.waiting, place.problems, place.uncounted)


def from_top(path: str, here: Path, root: Path) -> str:
    """A path as people name it from where they stand, told from the top of the repository."""
    whole = (here / path).resolve()
    if not whole.is_relative_to(root):
        raise UsageError(f"{path} lies outside {root}", hint="Name files of this repository.")
    return whole.relative_to(root).as_posix()
