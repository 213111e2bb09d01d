"""What matters before work begins: for this repository, these files, this task.

Four things, in the order in which they save most: skills that apply, failures that come back here
and what gets past them, what people had to say more than once, and the files where work happens.
Each is taken as long as there is room, and what was left out is counted.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from hansei.config import DAY_MS
from hansei.hook.repository import top
from hansei.instructions.sizes import size
from hansei.ops import prompt
from hansei.ops.facts.chosen import choose
from hansei.ops.facts.corrections import clustered
from hansei.ops.recall import Remembered, remembered
from hansei.projection.corrections.rules import instruction
from hansei.projection.facts.folds import EPISODES, TOUCHES
from hansei.projection.failures.likeness import Known
from hansei.projection.failures.model import Ending, Kind
from hansei.projection.files import LOOKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeVar

    from hansei.config import Config
    from hansei.ops.scope import Scope
    from hansei.store.database import Store

    T = TypeVar("T")

BUDGET: Final = 1_200
"""Tokens: less than most agents' own list of tools, and enough for five of each kind."""
RECENT_DAYS: Final = 90
"""A failure that nobody has met for a quarter of a year is not what matters now."""
AGAIN: Final = 2
"""Sessions that must have met or said a thing before it is told to one that did not ask for it."""
MOST: Final = 5
"""Of each kind."""
WAYS: Final = 1
"""Out of each failure: who meets it asks `recall` for the others."""


class Learned(msgspec.Struct, frozen=True):
    """An approved skill that applies."""

    name: str
    text: str


class Steer(msgspec.Struct, frozen=True):
    """What people had to say in several sessions."""

    words: str
    sessions: int
    last_at: int | None
    reference: str


class Hot(msgspec.Struct, frozen=True):
    """A file of this repository that sessions change."""

    path: str
    sessions: int
    """In which it was changed."""
    edits: int
    reads: int


class Brief(msgspec.Struct, frozen=True):
    """A whole answer."""

    workspace: str | None
    task: str | None
    files: list[str]
    known: int
    """Sessions of the workspace that all of it was made from."""
    skills: list[Learned]
    failures: list[Remembered]
    steers: list[Steer]
    hot: list[Hot]
    left_out: int
    """Things that would have been told if there were room."""
    tokens: int
    """Derived: the size of what is told."""
    budget: int


def brief(
    store: Store,
    config: Config,
    here: Path,
    scope: Scope,
    *,
    now: int,
    task: str | None = None,
    files: Sequence[str] = (),
    budget: int = BUDGET,
) -> Brief:
    """What an agent should know before it begins; facts must be up to date."""
    paths = [_inside(path, here) for path in files]
    recent = replace(scope, since=scope.since or now - RECENT_DAYS * DAY_MS)
    room = _Room(budget)
    skills = room.take(_skills(config, here, paths, budget // 2, now))
    failures = room.take(_failures(store, recent, task, paths))
    steers = room.take(_steers(store, recent))
    hot = room.take(_hot(store, recent, paths))
    return Brief(
        workspace=scope.workspace_name,
        task=task,
        files=paths,
        known=_known(store, recent),
        skills=skills,
        failures=failures,
        steers=steers,
        hot=hot,
        left_out=room.left_out,
        tokens=budget - room.tokens,
        budget=budget,
    )


class _Room:
    """What is left of a budget."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens
        self.left_out = 0

    def take(self, wanted: Iterable[T]) -> list[T]:
        """Those that fit, each with all that is told of it: places and counts too."""
        taken = []
        for it in wanted:
            cost = size(msgspec.json.encode(it).decode()).tokens
            if cost > self.tokens:
                self.left_out += 1
                continue
            self.tokens -= cost
            taken.append(it)
        return taken


def _known(store: Store, scope: Scope) -> int:
    where, values = scope.sessions()
    query = f"SELECT count(*) FROM sessions s WHERE {where}"
    return int(store.db.execute(query, values).fetchone()[0])


def _inside(path: str, here: Path) -> str:
    return prompt.from_top(path, here, Path(top(str(here)) or here).resolve())


def _skills(
    config: Config, here: Path, paths: Sequence[str], budget: int, now: int
) -> list[Learned]:
    chosen = prompt.compiled(config, here, now=now, budget=budget, paths=paths).chosen
    return [Learned(it.skill.name, it.text) for it in chosen if it.taken]


def _failures(
    store: Store, scope: Scope, task: str | None, paths: Sequence[str]
) -> list[Remembered]:
    """Those that the task or the files are about, then those that were got past, the most first."""
    where, values = scope.sessions()
    rows = store.db.execute(
        f"SELECT e.signature, count(DISTINCT e.session), max(s.started_at),"
        f" max({_about_files(paths)}), max(e.ending = :recovered)"
        f" FROM {EPISODES.name} e JOIN sessions s ON s.id = e.session"
        f" WHERE {where} AND e.kind = :kind GROUP BY 1 ORDER BY 1",
        {
            **values,
            "kind": Kind.FAILURE,
            "recovered": Ending.RECOVERED,
            "paths": msgspec.json.encode(list(paths)).decode(),
        },
    ).fetchall()
    likeness: dict[str, float] = {}
    if task and task.strip():
        like = Known([name for name, *_ in rows]).like(task)
        likeness = {rows[place][0]: share for place, share in like}
    wanted = [
        (-likeness.get(name, 0.0), -near, -solved, -sessions, -(last or 0), name)
        for name, sessions, last, near, solved in rows
        if sessions >= AGAIN or near or name in likeness
    ]
    told = (remembered(store, scope, it[-1], -it[0]) for it in sorted(wanted)[:MOST])
    return [msgspec.structs.replace(it, fixes=it.fixes[:WAYS]) for it in told]


def _about_files(paths: Sequence[str]) -> str:
    """Whether one of the files was edited on the way; episodes tell whole paths."""
    if not paths:
        return "0"
    return (
        "EXISTS (SELECT 1 FROM json_each(e.edited) x JOIN json_each(:paths) p"
        " ON '/' || p.value = substr('/' || replace(x.value, '\\', '/'), -length(p.value) - 1))"
    )


def _steers(store: Store, scope: Scope) -> list[Steer]:
    """Only what is worth an instruction: `no, not that one` helps nobody else."""
    told = [
        it
        for it in clustered(choose(store, scope))
        if it.sessions >= AGAIN and instruction(it.words) is not None
    ]
    return [Steer(it.words, it.sessions, it.last_at, it.evidence[0]) for it in told[:MOST]]


def _hot(store: Store, scope: Scope, paths: Sequence[str]) -> list[Hot]:
    """The files asked for, else those that several sessions changed, the most first."""
    where, values = scope.sessions()
    looks = ", ".join(f"'{verb}'" for verb in sorted(LOOKS))
    named = "AND t.path IN (SELECT value FROM json_each(:paths))" if paths else ""
    least = 1 if paths else AGAIN
    rows = store.db.execute(
        f"SELECT t.path, count(DISTINCT CASE WHEN t.verb NOT IN ({looks}) THEN t.session END) c,"
        f" sum(t.verb NOT IN ({looks})), sum(t.verb = 'read') FROM {TOUCHES.name} t"
        f" JOIN sessions s ON s.id = t.session WHERE {where} AND t.inside"
        f" AND t.path NOT LIKE '%/' {named} GROUP BY 1 HAVING c >= {least}"
        f" ORDER BY c DESC, 3 DESC, 1 LIMIT {MOST}",
        {**values, "paths": msgspec.json.encode(list(paths)).decode()},
    )
    return [Hot(path, sessions, edits, reads) for path, sessions, edits, reads in rows]
