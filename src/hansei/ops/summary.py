"""Tokens and cost, by whatever you ask, with what was counted twice taken out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec
from msgspec import structs

from hansei.errors import PluginError, UsageError
from hansei.events.model import Evidence
from hansei.ops.scope import WORKSPACE_NAME
from hansei.sources import catalogue

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hansei.ops.scope import Scope
    from hansei.ops.work import Portion
    from hansei.store.database import Store

Goal = Literal["branch", "pr", "commit"]
GOALS: tuple[Goal, ...] = get_args(Goal)
"""Dimensions that say what spend was for."""
Dimension = Literal["agent", "model", "repo", "branch", "pr", "commit", "day", "driver"]
DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)

_EXPRESSIONS: dict[Dimension, str] = {
    "agent": "s.agent",
    "model": "p.model",
    "repo": WORKSPACE_NAME,
    "day": "date(p.quarter * 900, 'unixepoch', 'localtime')",
    "driver": "s.driver",
}
_FIELDS = ("input", "cache_read", "cache_write_5m", "cache_write_1h", "output", "reasoning")
_AMOUNTS = (
    "coalesce(sum(p.requests), 0)",
    *(f"sum(p.{name})" for name in _FIELDS),
    "sum(p.cost)",
    "coalesce(sum(p.unpriced), 0)",
    "coalesce(sum(p.unmeasured), 0)",
)
"""What a line adds up."""
_JOIN = (
    "FROM spend p JOIN sessions s ON s.id = p.session JOIN workspaces w ON w.id = s.workspace WHERE"
)


class Tokens(msgspec.Struct, frozen=True):
    """Disjoint counts as billed; None where no transcript says. `reasoning` is part of `output`."""

    input: int | None
    cache_read: int | None
    cache_write_5m: int | None
    cache_write_1h: int | None
    output: int | None
    reasoning: int | None

    @property
    def cache_write(self) -> int | None:
        parts = [n for n in (self.cache_write_5m, self.cache_write_1h) if n is not None]
        return sum(parts) if parts else None

    @property
    def total(self) -> int | None:
        told = (
            self.input,
            self.cache_read,
            self.cache_write_5m,
            self.cache_write_1h,
            self.output,
        )
        parts = [n for n in told if n is not None]
        return sum(parts) if parts else None


class Work(msgspec.Struct, frozen=True):
    """What a line of spend was for, and what came of it."""

    why: str | None
    """Why it was for nothing we can name; None where it has a name."""
    title: str | None
    """Of the request, or the first line of the commit's message."""
    request: str | None
    """That merged it: `#12` or `!12`."""
    merged_by: str | None
    """The commit that brought it to the main line."""
    merged_at: int | None
    tasks: int
    """Sessions with their subagents: how often it was gone about."""
    landed_nothing: int
    """Those of them of which no line landed anywhere."""
    landed_nothing_nanodollars: int | None
    """What they cost; None where no price is known."""
    lines: int | None
    """Of what these sessions wrote, those that landed for it; None is unknown."""


class Line(msgspec.Struct, frozen=True):
    """One row of a summary. A label is None where the transcripts do not tell it."""

    labels: dict[str, str | None]
    sessions: int
    requests: int
    tokens: Tokens
    total_tokens: int | None
    cost_nanodollars: int | None
    unpriced_requests: int
    """Requests whose price is unknown: `cost_nanodollars` is without them."""
    unmeasured_requests: int
    """Requests whose tokens are unknown."""
    work: Work | None = None
    """What came of it, where branches, requests or commits are told apart and nothing finer is."""


class Unmeasured(msgspec.Struct, frozen=True):
    """Sessions of an agent that does not record tokens: what they took is unknown."""

    agent: str
    title: str
    sessions: int


class Removed(msgspec.Struct, frozen=True):
    """What a reader that adds up every line would have counted on top."""

    repeated_lines: int
    repeated_tokens: int
    replayed_requests: int
    replayed_tokens: int

    @property
    def tokens(self) -> int:
        return self.repeated_tokens + self.replayed_tokens


class Summary(msgspec.Struct, frozen=True):
    """A whole answer."""

    workspace: str | None
    since: int | None
    until: int | None
    first_at: int | None
    last_at: int | None
    by: list[str]
    drivers: dict[str, int]
    """Sessions by who drove them."""
    lines: list[Line]
    total: Line
    removed: Removed
    unmeasured: list[Unmeasured]
    """Sessions that are in no line, since their agent does not record tokens."""
    evidence: dict[str, str]
    rule: str | None = None
    """How spend was told apart, where that takes a rule."""


def summary(store: Store, scope: Scope, by: Sequence[str] = ("model",)) -> Summary:
    """Sum up what lies in scope, one line for each combination of `by`."""
    dimensions = _dimensions(by, scope)
    goal = goal_of(dimensions)
    (total,) = _lines(store, scope, [])
    where, values = scope.sessions()
    drivers = store.db.execute(
        f"SELECT coalesce(s.driver, 'unknown'), count(*) FROM sessions s"
        f" WHERE {where} AND s.next_seq > 1 GROUP BY 1 ORDER BY 2 DESC, 1",
        values,
    ).fetchall()
    first, last = store.db.execute(
        f"SELECT min(s.started_at), max(s.ended_at) FROM sessions s WHERE {where}", values
    ).fetchone()
    return Summary(
        workspace=scope.workspace_name,
        since=scope.since,
        until=scope.until,
        first_at=first,
        last_at=last,
        by=list(dimensions),
        drivers=dict(drivers),
        lines=_told(store, scope, dimensions, goal),
        total=total,
        removed=_removed(store, scope),
        unmeasured=_unmeasured(store, scope),
        evidence=_evidence(total),
        rule=None if goal is None else _rule(goal),
    )


def _rule(goal: Goal) -> str:
    from hansei.projection.work import RULES

    return RULES[goal]


def goal_of(by: Sequence[str]) -> Goal | None:
    """Whether spend is asked for by what it was for: that takes facts, and git."""
    wanted = [it for it in GOALS if it in by]
    if len(wanted) > 1:
        raise UsageError(
            f"cannot sum up by {' and '.join(wanted)} at once", hint="Choose one of them."
        )
    return wanted[0] if wanted else None


def _dimensions(by: Sequence[str], scope: Scope) -> list[Dimension]:
    """What is asked for; a branch, request or commit of any workspace is told with that."""
    found = list(dict.fromkeys(_dimension(name) for name in by))
    if goal_of(found) and scope.workspace is None and "repo" not in found:
        return ["repo", *found]
    return found


def _told(store: Store, scope: Scope, by: list[Dimension], goal: Goal | None) -> list[Line]:
    if goal is not None:
        return _worked(store, scope, by, goal)
    return _lines(store, scope, by) if by else []


def _evidence(total: Line) -> dict[str, str]:
    unknown = total.total_tokens is None
    return {
        "tokens": Evidence.UNKNOWN.value if unknown else Evidence.MEASURED.value,
        "cost": Evidence.UNKNOWN.value if unknown else Evidence.DERIVED.value,
        "removed": Evidence.MEASURED.value,
    }


def _dimension(name: str) -> Dimension:
    for dimension in DIMENSIONS:
        if name == dimension:
            return dimension
    raise UsageError(f"cannot sum up by {name!r}", hint=f"Choose from {', '.join(DIMENSIONS)}.")


def _worked(store: Store, scope: Scope, by: list[Dimension], goal: Goal) -> list[Line]:
    """One line for each goal and whatever else is told apart; what has none comes last."""
    from hansei.ops import work

    rest = [it for it in by if it != goal]
    found, grounds = work.portions(store, scope, goal, [_EXPRESSIONS[it] for it in rest], _AMOUNTS)
    alike: dict[tuple[Any, ...], list[Portion]] = {}
    for it in found:
        alike.setdefault((it.workspace, it.goal, it.labels), []).append(it)
    lines = []
    for (workspace, name, labels), own in alike.items():
        told = dict(zip(rest, labels, strict=True)) | {goal: name.name}
        sums = [_sum(it.amounts[place] for it in own) for place in range(len(_AMOUNTS))]
        row = [*(told[it] for it in by), len({it.session for it in own}), *sums]
        came = work.told(name, grounds[workspace], own, _AMOUNTS.index("sum(p.cost)"))
        # By day or model nobody can say what came of it: lines have no model.
        plain = set(rest) <= {"repo"}
        lines.append(structs.replace(_line(by, row), work=came if plain else None))
    return sorted(lines, key=lambda it: _order(it, by, goal))


def _order(line: Line, by: list[Dimension], goal: Goal) -> tuple[Any, ...]:
    labels = [line.labels[it] or "" for it in by]
    spent = -(line.cost_nanodollars or 0), -(line.total_tokens or 0)
    cost = () if by[0] == "day" else spent
    return (line.labels[goal] is None and by[0] != "day", *cost, *labels)


def _sum(amounts: Iterable[int | None]) -> int | None:
    known = [it for it in amounts if it is not None]
    return sum(known) if known else None


def _lines(store: Store, scope: Scope, by: list[Dimension]) -> list[Line]:
    where, values = scope.spend()
    labels = [f"{_EXPRESSIONS[name]}" for name in by]
    grouping = ""
    if by:
        places = ", ".join(str(i + 1) for i in range(len(by)))
        order = places if by[0] == "day" else f"coalesce(sum(p.cost), 0) DESC, {places}"
        grouping = f" GROUP BY {places} ORDER BY {order}"
    rows = store.db.execute(
        f"SELECT {''.join(f'{label}, ' for label in labels)}"
        f" count(DISTINCT p.session), {', '.join(_AMOUNTS)}"
        f" {_JOIN} {where} AND p.requests > 0{grouping}",
        values,
    )
    return [_line(by, row) for row in rows]


def _line(by: list[Dimension], row: Sequence[Any]) -> Line:
    texts, numbers = row[: len(by)], row[len(by) :]
    sessions, requests, *counts, cost, unpriced, unmeasured = numbers
    tokens = Tokens(*counts)
    return Line(
        labels=dict(zip(by, texts, strict=True)),
        sessions=sessions,
        requests=requests,
        tokens=tokens,
        total_tokens=tokens.total,
        cost_nanodollars=cost,
        unpriced_requests=unpriced,
        unmeasured_requests=unmeasured,
    )


def _unmeasured(store: Store, scope: Scope) -> list[Unmeasured]:
    where, values = scope.sessions()
    rows = store.db.execute(
        f"SELECT s.agent, count(*) FROM sessions s WHERE {where} AND s.next_seq > 1"
        " AND NOT EXISTS (SELECT 1 FROM spend p WHERE p.session = s.id)"
        " GROUP BY 1 ORDER BY 1",
        values,
    )
    found = []
    for agent, sessions in rows:
        try:
            source = catalogue.load(agent)
        except PluginError:  # of a package that is no longer there: nobody knows
            continue
        if not source.capabilities.tokens:
            found.append(Unmeasured(agent, source.title, sessions))
    return found


def _removed(store: Store, scope: Scope) -> Removed:
    where, values = scope.spend()
    row = store.db.execute(
        "SELECT coalesce(sum(CASE WHEN p.requests > 0 THEN p.copies END), 0),"
        " coalesce(sum(CASE WHEN p.requests > 0 THEN p.removed END), 0),"
        " coalesce(sum(CASE WHEN p.requests = 0 THEN p.copies END), 0),"
        f" coalesce(sum(CASE WHEN p.requests = 0 THEN p.removed END), 0) {_JOIN} {where}",
        values,
    ).fetchone()
    return Removed(*row)
