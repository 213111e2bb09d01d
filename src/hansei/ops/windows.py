"""The sessions that a look back is about: which span of time, and what is known of each session.

Where nobody names a span it is the 28 days that end with the last session, and as much more as it
takes to have seven days with a session: somebody who returns after months sees what there was, and
a week can be told wherever the history is long enough.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hansei.bets.counting import Frame, usual_start
from hansei.config import DAY_MS
from hansei.hook.repository import top
from hansei.instructions.census import census
from hansei.instructions.targets import DEFAULT, default_target
from hansei.instructions.told_here import statements_of
from hansei.ops.scope import WORKSPACE_NAME
from hansei.ops.sessions import short_id
from hansei.projection.window import Session, Window

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hansei.instructions.census import Text
    from hansei.instructions.statements import Statement
    from hansei.ops.scope import Scope
    from hansei.store.database import Store


@dataclass(frozen=True)
class Ground:
    """One workspace of a look back."""

    number: int
    name: str
    identity: str
    window: Window
    frame: Frame
    natives: Mapping[int, str]
    """The whole name of each session."""
    folder: str | None
    """Where the repository is, or was."""
    cost_nanodollars: int | None
    unpriced_requests: int

    @cached_property
    def instruction_file(self) -> str:
        """The file that a line for its agents goes to."""
        agents = Counter(it.agent for it in self.window.sessions.values())
        return DEFAULT if self.folder is None else default_target(Path(self.folder), agents)

    @cached_property
    def texts(self) -> list[Text]:
        """The instruction texts of its repository; none where that is not on this machine."""
        if self.folder is None or not Path(self.folder).is_dir():
            return []
        return census(Path(top(self.folder) or self.folder))

    @cached_property
    def said(self) -> list[Statement]:
        """What those texts say."""
        return statements_of(self.texts)


def usual(store: Store, scope: Scope) -> Scope:
    """A scope with the span of time that is looked at where nobody names one."""
    if scope.since is not None or scope.until is not None:
        return scope
    where, values = scope.sessions()
    rows = store.db.execute(
        f"SELECT DISTINCT s.started_at / {DAY_MS} FROM sessions s"
        f" WHERE {where} AND s.next_seq > 1 AND s.started_at IS NOT NULL ORDER BY 1",
        values,
    ).fetchall()
    days = [day for (day,) in rows]
    return replace(scope, since=usual_start(days) * DAY_MS) if days else scope


class _Row(NamedTuple):
    """One session as the query tells it."""

    number: int
    native: str
    agent: str
    driver: str | None
    parent: int | None
    workspace: int
    started: int | None
    ended: int | None
    requests: int
    tokens: int | None
    workspace_name: str
    identity: str
    cost: int | None
    unpriced: int
    folder: str | None

    @property
    def session(self) -> Session:
        return Session(
            number=self.number,
            name=short_id(self.native),
            agent=self.agent,
            driver=self.driver,
            parent=self.parent,
            workspace=self.workspace,
            started=self.started,
            ended=self.ended,
            requests=self.requests,
            tokens=self.tokens,
        )


_QUERY = f"""
SELECT s.id, s.native, s.agent, s.driver, p.id, s.workspace, s.started_at, s.ended_at,
  coalesce(c.requests, 0), c.tokens, {WORKSPACE_NAME}, w.identity, c.cost, coalesce(c.unpriced, 0),
  w.folder
FROM sessions s
JOIN workspaces w ON w.id = s.workspace
LEFT JOIN sessions p ON p.agent = s.agent AND p.native = s.parent
LEFT JOIN (
  SELECT session, sum(requests) AS requests, sum(cost) AS cost, sum(unpriced) AS unpriced,
    sum(coalesce(input, 0) + coalesce(cache_read, 0) + coalesce(cache_write_5m, 0)
      + coalesce(cache_write_1h, 0) + coalesce(output, 0)) AS tokens
  FROM spend WHERE requests > 0 GROUP BY session
) c ON c.session = s.id
"""


def grounds(store: Store, scope: Scope, now: int) -> list[Ground]:
    """The workspaces in scope, each with its sessions."""
    where, values = scope.sessions()
    rows = store.db.execute(
        f"{_QUERY} WHERE {where} AND s.next_seq > 1 ORDER BY s.workspace, s.id", values
    )
    homes: dict[int, list[_Row]] = {}
    for row in map(_Row._make, rows):
        homes.setdefault(row.workspace, []).append(row)
    return [_ground(store, scope, now, own) for own in homes.values()]


def _ground(store: Store, scope: Scope, now: int, rows: Sequence[_Row]) -> Ground:
    home = rows[0]
    started = [row.started for row in rows if row.started is not None]
    costs = [row.cost for row in rows if row.cost is not None]
    window = Window(
        store,
        {row.number: row.session for row in rows},
        since=min(started, default=0) if scope.since is None else scope.since,
        until=now if scope.until is None else scope.until,
    )
    return Ground(
        number=home.workspace,
        name=home.workspace_name,
        identity=home.identity,
        window=window,
        frame=frame(window, home.identity),
        natives={row.number: row.native for row in rows},
        folder=home.folder,
        cost_nanodollars=sum(costs) if costs else None,
        unpriced_requests=sum(row.unpriced for row in rows),
    )


def frame(window: Window, identity: str) -> Frame:
    """What bets are counted in."""
    return Frame(
        workspace=identity,
        started={number: it.started for number, it in window.sessions.items()},
        requests=sum(it.requests for it in window.sessions.values()),
        family=_families(window.sessions),
    )


def _families(sessions: Mapping[int, Session]) -> dict[int, int]:
    """Of each session that another one started, the first of the line."""
    found: dict[int, int] = {}
    for number, session in sessions.items():
        first, seen = session, {number}
        while (parent := sessions.get(first.parent or 0)) and parent.number not in seen:
            seen.add(parent.number)
            first = parent
        if first.number != number:
            found[number] = first.number
    return found
