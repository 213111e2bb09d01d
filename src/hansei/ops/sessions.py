"""Lists of sessions, and finding one by the short name a person types."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from hansei.errors import NotFound
from hansei.ops.scope import WORKSPACE_NAME

if TYPE_CHECKING:
    from hansei.ops.scope import Scope
    from hansei.store.database import Store

SHORT = 8
"""Characters of an id shown in lists; any unambiguous part of it finds the session."""
TIMED = 13
"""Of an id that begins with the time: in less, all sessions of a minute are alike."""
_TIMED = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7")


class SessionLine(msgspec.Struct, frozen=True):
    """One session, as lists and headings show it."""

    id: str
    short: str
    agent: str
    driver: str | None
    driver_recorded: bool
    parent: str | None
    relation: str | None
    role: str | None
    workspace: str
    cwd: str | None
    branch: str | None
    commit: str | None
    commit_basis: str | None
    """Who told the commit: a hook, or the agent in its transcript."""
    dirty: bool | None
    """Whether tracked files differed from the commit when it began."""
    version: str | None
    entrypoint: str | None
    title: str | None
    opening: str | None
    """The beginning of the first prompt, by a person or a parent agent."""
    started_at: int | None
    ended_at: int | None
    events: int
    prompts: int
    """Typed by a person."""
    calls: int
    failed: int
    requests: int
    tokens: int | None
    cost_nanodollars: int | None
    unpriced_requests: int
    inherited: int
    """Events at its beginning that belong to the session it was copied from."""

    @property
    def name(self) -> str:
        """The best there is to call it by."""
        return self.title or self.role or self.opening or ""


_QUERY = f"""
SELECT s.native AS id, s.agent, s.driver, s.driver_recorded, s.parent, s.relation, s.role,
  {WORKSPACE_NAME} AS workspace, s.cwd, s.branch, s."commit", s.commit_basis, s.dirty,
  s.version, s.entrypoint, s.title, s.opening, s.started_at, s.ended_at, s.next_seq - 1 AS events,
  (SELECT coalesce(sum(n), 0) FROM tallies t WHERE t.session = s.id AND t.kind = 'prompt'
     AND t.detail IN ('human', 'queued_human')) AS prompts,
  (SELECT coalesce(sum(n), 0) FROM tallies t WHERE t.session = s.id
     AND t.kind = 'tool_call') AS calls,
  (SELECT coalesce(sum(n), 0) FROM tallies t WHERE t.session = s.id AND t.kind = 'tool_result'
     AND t.detail = 'failed') AS failed,
  coalesce(p.requests, 0) AS requests, p.tokens, p.cost AS cost_nanodollars,
  coalesce(p.unpriced, 0) AS unpriced_requests,
  (SELECT count(*) FROM replays r WHERE r.session = s.id) AS inherited
FROM sessions s
JOIN workspaces w ON w.id = s.workspace
LEFT JOIN (
  SELECT session, sum(requests) AS requests, sum(cost) AS cost, sum(unpriced) AS unpriced,
    sum(coalesce(input, 0) + coalesce(cache_read, 0) + coalesce(cache_write_5m, 0)
      + coalesce(cache_write_1h, 0) + coalesce(output, 0)) AS tokens
  FROM spend WHERE requests > 0 GROUP BY session
) p ON p.session = s.id
"""


def sessions(
    store: Store, scope: Scope, *, limit: int | None = None, failed: bool = False
) -> list[SessionLine]:
    """Sessions in scope, newest first; `failed` keeps those in which a call failed."""
    where, values = scope.sessions()
    only_failed = (
        " AND EXISTS (SELECT 1 FROM tallies f WHERE f.session = s.id"
        " AND f.kind = 'tool_result' AND f.detail = 'failed')"
    )
    return _lines(
        store,
        f"{_QUERY} WHERE {where} AND s.next_seq > 1{only_failed if failed else ''}"
        " ORDER BY coalesce(s.started_at, 0) DESC, s.agent, s.native LIMIT :limit",
        {**values, "limit": -1 if limit is None else limit},
    )


def _lines(store: Store, query: str, values: Any) -> list[SessionLine]:
    cursor = store.db.execute(query, values)
    names = [column[0] for column in cursor.description]
    lines = []
    for row in cursor:
        fields = dict(zip(names, row, strict=True))
        fields["driver_recorded"] = bool(fields["driver_recorded"])
        fields["dirty"] = None if fields["dirty"] is None else bool(fields["dirty"])
        lines.append(SessionLine(short=short_id(fields["id"]), **fields))
    return lines


def short_id(native: str) -> str:
    """The part of an id that people see: of a subagent its own part, else its beginning.

    A word that says where the session is known from, as in `history:…`, comes on top.
    """
    own = native.rpartition("/")[2]
    origin, colon, rest = own.partition(":")
    if colon:
        return f"{origin}:{rest[:SHORT]}"
    prefix, dash, rest = own.partition("-")
    if native != own and dash:
        return f"{prefix}-{rest[:SHORT]}"
    return own[: TIMED if _TIMED.match(own) else SHORT]


def find(store: Store, wanted: str) -> int:
    """The number of the session whose id is, or begins with, what was typed."""
    rows = _candidates(store, wanted)
    if len(rows) == 1:
        return int(rows[0][0])
    if not rows:
        raise NotFound(
            f"no session begins with {wanted!r}", hint="`hansei sessions --all` lists them."
        )
    some = ", ".join(f"{agent} {native}" for _, agent, native in rows[:5])
    more = f" and {len(rows) - 5} more" if len(rows) > 5 else ""
    raise NotFound(f"{wanted!r} fits {len(rows)} sessions", hint=f"Type more of it: {some}{more}")


def _candidates(store: Store, wanted: str) -> list[tuple[int, str, str]]:
    select = "SELECT id, agent, native FROM sessions s WHERE"
    exact = store.db.execute(f"{select} native = ?", (wanted,)).fetchall()
    if exact:
        return exact
    pattern = wanted.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    starts = f"{select} native LIKE ? ESCAPE '\\' AND native NOT LIKE ? ESCAPE '\\' ORDER BY native"
    main = store.db.execute(starts, (f"{pattern}%", f"{pattern}%/%")).fetchall()
    if main:
        return main
    return store.db.execute(
        f"{select} native LIKE ? ESCAPE '\\' ORDER BY native", (f"%/{pattern}%",)
    ).fetchall()


def describe(store: Store, number: int) -> SessionLine:
    """One session by its number."""
    (line,) = _lines(store, f"{_QUERY} WHERE s.id = ?", (number,))
    return line


def children(store: Store, number: int) -> list[SessionLine]:
    """The subagent sessions that a session started."""
    return _lines(
        store,
        f"{_QUERY} WHERE s.parent = (SELECT native FROM sessions WHERE id = ?)"
        " AND s.agent = (SELECT agent FROM sessions WHERE id = ?) AND s.next_seq > 1"
        " ORDER BY s.started_at, s.native",
        (number, number),
    )
