"""Spend by what it was for: branches, pull requests, commits. It adds up to what `summary` tells.

Rows of spend are read with the branch they were made on, and each is divided among the goals that
`projection.work` names. What landed is told by facts, who merged it by the repository's messages.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hansei.git.merges import MainLine, main_line_of
from hansei.ops.summary import Work
from hansei.projection.facts.folds import HUNKS, OUTCOMES
from hansei.projection.outcomes import Fate
from hansei.projection.outcomes.repository import why_not
from hansei.projection.spend import QUARTER_MS
from hansei.projection.work import GOALS, Goal, Landed, Record, Spent, Why, divided, line_goal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from hansei.git.merges import Merge
    from hansei.ops.scope import Scope
    from hansei.store.database import Store

_OF_WORKSPACE: Final = "session IN (SELECT id FROM sessions WHERE workspace = ?)"


class Portion(NamedTuple):
    """A share of some spend."""

    workspace: int
    goal: Goal
    labels: tuple[str | None, ...]
    """Of what else is told apart."""
    session: int
    task: int
    amounts: tuple[int | None, ...]


@dataclass(frozen=True)
class Ground:
    """A workspace, what is known of the work in it, and the tasks of its sessions."""

    goal: str
    """What spend is told apart by."""
    record: Record
    is_here: bool
    """Whether its repository can be asked."""
    tasks: Mapping[int, int]

    @cached_property
    def lines(self) -> dict[Goal, Counter[int]]:
        """What landed for each goal, task by task."""
        found: dict[Goal, Counter[int]] = defaultdict(Counter)
        for it in self.record.landed:
            found[line_goal(self.goal, self.record, it)][it.task] += it.lines
        return dict(found)

    @cached_property
    def requests(self) -> dict[str, Merge]:
        """The last commit of the main line that each request is told by."""
        merges = sorted(self.record.line.merges.values(), key=lambda it: (it.at, it.commit))
        return {it.request: it for it in merges if it.request is not None}


class _Row(NamedTuple):
    workspace: int
    session: int
    branch: str | None
    quarter: int | None


def portions(
    store: Store, scope: Scope, goal: str, labels: Sequence[str], amounts: Sequence[str]
) -> tuple[list[Portion], dict[int, Ground]]:
    """All spend in scope in shares, each with its goal; `labels` and `amounts` are expressions."""
    where, values = scope.spend()
    keys = ("s.workspace", "p.session", "coalesce(p.branch, s.branch)", "p.quarter", *labels)
    places = ", ".join(str(place + 1) for place in range(len(keys)))
    rows = store.db.execute(
        f"SELECT {', '.join((*keys, *amounts))} FROM spend p JOIN sessions s ON s.id = p.session"
        f" JOIN workspaces w ON w.id = s.workspace WHERE {where} AND p.requests > 0"
        f" GROUP BY {places} ORDER BY {places}",
        values,
    ).fetchall()
    known = {number: ground(store, number, goal) for number in sorted({row[0] for row in rows})}
    own = len(_Row._fields)
    found: list[Portion] = []
    for row in rows:
        told, more, sums = _Row(*row[:own]), row[own : len(keys)], row[len(keys) :]
        found += _shared(known[told.workspace], told, more, sums)
    return found, known


def _shared(
    ground: Ground, row: _Row, labels: tuple[Any, ...], amounts: tuple[Any, ...]
) -> Iterable[Portion]:
    task = ground.tasks.get(row.session, row.session)
    spent = Spent(task, row.branch, (row.quarter or 0) * QUARTER_MS)
    shares = GOALS[ground.goal](ground.record, spent)
    weights = [weight for _, weight in shares]
    parts = zip(*(divided(it, weights) for it in amounts), strict=True)
    for (name, _), part in zip(shares, parts, strict=True):
        yield Portion(row.workspace, name, labels, row.session, task, part)


# --- what came of it ------------------------------------------------------------------------------


def told(name: Goal, ground: Ground, own: Sequence[Portion], cost: int) -> Work:
    """What the portions of one goal in a workspace were for; `cost` is the place of that amount."""
    record = ground.record
    tasks = {it.task for it in own}
    empty = {it for it in tasks if it not in record.commits_of and _is_certain(record, it)}
    costs = [it.amounts[cost] for it in own if it.task in empty]
    known = [it for it in costs if it is not None]
    merge = _merge(name, ground)
    return Work(
        why=name.why,
        title=_title(name, ground, merge),
        request=None if merge is None else merge.request,
        merged_by=None if merge is None else merge.commit,
        merged_at=None if merge is None else merge.at,
        tasks=len(tasks),
        landed_nothing=len(empty),
        landed_nothing_nanodollars=sum(known) if known or not costs else None,
        lines=_lines(name, ground, tasks),
    )


def _is_certain(record: Record, task: int) -> bool:
    return task in record.commits_of or record.unlanded.get(task) is not Why.UNKNOWN


def _merge(name: Goal, ground: Ground) -> Merge | None:
    """What took the work to the main line; of a branch that was merged often, the last."""
    line = ground.record.line
    if name.name is None:
        return None
    if ground.goal == "commit":
        return line.bringing(name.name)
    if ground.goal == "pr":
        return ground.requests.get(name.name)
    merges = () if name.name in line.names else ground.record.merges_of(name.name)
    return max(merges, key=lambda it: (it.at, it.commit), default=None)


def _title(name: Goal, ground: Ground, merge: Merge | None) -> str | None:
    if ground.goal == "commit":
        return ground.record.line.subjects.get(name.name or "")
    return None if merge is None else merge.title


def _lines(name: Goal, ground: Ground, tasks: Collection[int]) -> int | None:
    """What landed; nothing is known to be nothing only where every task is known."""
    found = sum(n for task, n in ground.lines.get(name, {}).items() if task in tasks)
    sure = ground.is_here and all(_is_certain(ground.record, it) for it in tasks)
    return found if found or sure else None


# --- what is known of a workspace -----------------------------------------------------------------


def ground(store: Store, workspace: int, goal: str) -> Ground:
    """The work of a workspace's sessions, of all time: what they landed, and what merged it."""
    (folder,) = store.db.execute(
        "SELECT folder FROM workspaces WHERE id = ?", (workspace,)
    ).fetchone()
    tasks = _tasks(store, workspace)
    landed, unlanded = _landed(store, workspace, tasks)
    here = why_not(folder) is None
    line = main_line_of(folder) if here else MainLine()
    return Ground(goal, Record(landed, unlanded, line), here and bool(line.merges), tasks)


def _tasks(store: Store, workspace: int) -> dict[int, int]:
    """The session that each session was started from, by way of all between."""
    rows = store.db.execute(
        "SELECT s.id, p.id FROM sessions s JOIN sessions p ON p.agent = s.agent"
        " AND p.native = s.parent WHERE s.workspace = ? AND s.relation = 'subagent'",
        (workspace,),
    )
    parents: dict[int, int] = dict(rows.fetchall())
    found = {}
    for session in parents:
        first, seen = session, {session}
        while (parent := parents.get(first)) is not None and parent not in seen:
            first = parent
            seen.add(parent)
        found[session] = first
    return found


def _landed(
    store: Store, workspace: int, tasks: Mapping[int, int]
) -> tuple[list[Landed], dict[int, Why]]:
    """What landed of each task's edits; of tasks without, why. Unknown until facts are there."""
    if not _has_facts(store):
        rows = store.db.execute("SELECT id FROM sessions WHERE workspace = ?", (workspace,))
        return [], {tasks.get(number, number): Why.UNKNOWN for (number,) in rows}
    times = {
        (session, row.seq, row.hunk): row.at
        for session, row in HUNKS.read(store, _OF_WORKSPACE, (workspace,))
    }
    stood = _Stood(store, workspace)
    found: list[Landed] = []
    unlanded: dict[int, Why] = {}
    for session, row in OUTCOMES.read(store, _OF_WORKSPACE, (workspace,)):
        task = tasks.get(session, session)
        if row.landed and row.landed_commit is not None:
            branch = stood.at(session, times.get((session, row.seq, row.hunk)))
            found.append(Landed(task, branch, row.landed_commit, row.landed))
        elif row.fate is Fate.UNKNOWN:
            unlanded[task] = Why.UNKNOWN
        else:
            unlanded.setdefault(task, Why.NOTHING_LANDED)
    return found, unlanded


def _has_facts(store: Store) -> bool:
    made = store.db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (OUTCOMES.name,))
    return made.fetchone() is not None


class _Stood:
    """The branch that a session stood on at a moment."""

    def __init__(self, store: Store, workspace: int) -> None:
        rows = store.db.execute(
            "SELECT r.session, r.at, coalesce(r.branch, s.branch) FROM requests r JOIN sessions s"
            " ON s.id = r.session WHERE s.workspace = ? ORDER BY r.session, r.at",
            (workspace,),
        )
        self._steps: dict[int, list[tuple[int, str | None]]] = defaultdict(list)
        for session, at, branch in rows:
            steps = self._steps[session]
            if not steps or steps[-1][1] != branch:
                steps.append((at or 0, branch))

    def at(self, session: int, moment: int | None) -> str | None:
        steps = self._steps.get(session)
        if not steps:
            return None
        earlier = [branch for at, branch in steps if moment is not None and at <= moment]
        return earlier[-1] if earlier else steps[0][1]
