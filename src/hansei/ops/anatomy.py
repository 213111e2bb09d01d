"""One session taken apart: its tree of spans, and where its input tokens came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.ops import sessions
from hansei.projection import spans
from hansei.projection.exchanges import conversation
from hansei.projection.facts.subjects import subject
from hansei.projection.provenance import Provenance, Total, provenance
from hansei.store import reading

if TYPE_CHECKING:
    from hansei.ops.sessions import SessionLine
    from hansei.store.database import Store
    from hansei.store.reading import Numbered

DEEPEST = 8
"""Subagents below subagents that are opened; agents nest two or three deep."""


@dataclass(frozen=True)
class Tree:
    session: SessionLine
    found: spans.Tree


@dataclass(frozen=True)
class Context:
    session: SessionLine
    found: Provenance
    totals: list[Total]
    events: list[Numbered]


def tree(store: Store, reference: str) -> Tree:
    """The spans of a session and of the subagents it started."""
    number = sessions.find(store, reference.partition("#")[0])
    return Tree(sessions.describe(store, number), _tree(store, number, DEEPEST))


def _tree(store: Store, number: int, deeper: int) -> spans.Tree:
    (native,) = store.db.execute("SELECT native FROM sessions WHERE id = ?", (number,)).fetchone()
    costs = dict(store.db.execute("SELECT key, cost FROM requests WHERE session = ?", (number,)))
    below = store.db.execute(
        "SELECT c.id, coalesce(c.spawned_by, c.native) FROM sessions c JOIN sessions s"
        " ON c.agent = s.agent AND c.parent = s.native WHERE s.id = ?"
        " AND c.relation = 'subagent' AND c.next_seq > 1 ORDER BY c.started_at, c.native",
        (number,),
    ).fetchall()
    children: dict[str, spans.Tree] = {}
    for child, name in below if deeper else ():
        children.setdefault(name, _tree(store, child, deeper - 1))
    return spans.tree(
        conversation(list(reading.events(store, number))),
        session=native,
        cost=lambda usage: costs.get(usage.key),
        children=children,
    )


def context(store: Store, reference: str) -> Context:
    """Every billed input token of a session, by the event that put it there."""
    number = sessions.find(store, reference.partition("#")[0])
    session = sessions.describe(store, number)
    events = list(reading.events(store, number))
    about = subject(store, number, {})
    found = provenance(
        conversation(events), instructions=about.instructions, inherited=about.inherited
    )
    return Context(session, found, found.totals, events)
