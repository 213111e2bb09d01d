"""The sessions that a question about facts is about, and how evidence in them is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from hansei.ops.scope import WORKSPACE_NAME
from hansei.ops.sessions import short_id
from hansei.store.rows import json_list

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hansei.ops.scope import Scope
    from hansei.projection.facts.tables import Found, Table
    from hansei.store.database import Store

R = TypeVar("R", bound=tuple[Any, ...])

SHOWN = 3
"""Places that are named as evidence on a line; the rest is counted."""


@dataclass(frozen=True)
class Chosen:
    """Sessions in scope, by number."""

    store: Store
    names: dict[int, str]
    """What each is called where it is evidence."""
    started: dict[int, int | None]
    workspaces: dict[int, str]
    """The name of each session's workspace."""
    homes: dict[int, int]
    """And its number."""

    def rows(self, table: Table[R]) -> Iterator[Found[R]]:
        """What was kept of these sessions, in order."""
        where = "session IN (SELECT value FROM json_each(?))"
        return table.read(self.store, where, (json_list(self.names),))

    def place(self, session: int, seq: int) -> str:
        """An event as `hansei show` takes it."""
        return f"{self.names[session]}#{seq}"

    def newest(self, places: Iterable[tuple[int, int]]) -> list[str]:
        """Some events, those of the newest sessions first, one of each session before a second."""
        found = sorted(set(places), key=lambda it: (-(self.started[it[0]] or 0), it[0], it[1]))
        first: dict[int, int] = {}
        for session, seq in found:
            first.setdefault(session, seq)
        spread = [*first.items(), *(it for it in found if first[it[0]] != it[1])]
        return [self.place(*it) for it in spread[:SHOWN]]


def choose(store: Store, scope: Scope) -> Chosen:
    """The sessions in scope that have any event."""
    where, values = scope.sessions()
    rows = store.db.execute(
        f"SELECT s.id, s.native, s.started_at, {WORKSPACE_NAME}, s.workspace FROM sessions s"
        f" JOIN workspaces w ON w.id = s.workspace WHERE {where} AND s.next_seq > 1 ORDER BY s.id",
        values,
    ).fetchall()
    return Chosen(
        store=store,
        names={number: short_id(native) for number, native, *_ in rows},
        started={number: started for number, _, started, *_ in rows},
        workspaces={number: name for number, _, _, name, _ in rows},
        homes={number: home for number, *_, home in rows},
    )
