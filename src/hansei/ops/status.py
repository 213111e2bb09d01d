"""The one-minute screen: what is here, what it took, what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.ops.doctor import Expiry, expiry
from hansei.ops.scope import TOLD_BY_TRANSCRIPT, WORKSPACE_NAME, Scope
from hansei.ops.summary import Summary, summary
from hansei.sources import catalogue
from hansei.store import transcripts

if TYPE_CHECKING:
    from hansei.config import Config
    from hansei.store.database import Store


@dataclass(frozen=True)
class AgentStatus:
    agent: str
    title: str
    sessions: int
    by_driver: dict[str, int]
    first_at: int | None
    last_at: int | None
    skipped: int
    unreadable: int
    expiry: Expiry | None


@dataclass(frozen=True)
class Status:
    """Everything the bare command shows."""

    store: str
    agents: list[AgentStatus]
    looked_in: dict[str, list[str]]
    """Folders looked in for agents that left nothing."""
    workspaces: dict[str, int]
    """Sessions by workspace, the most first."""
    summary: Summary
    warnings: list[str]

    @property
    def empty(self) -> bool:
        return not self.agents


def status(store: Store, config: Config, *, now: int) -> Status:
    """Look at everything that is stored, over all workspaces."""
    sources, warnings = catalogue.load_all()
    agents = []
    looked_in = {}
    for source in [*sources, *catalogue.load_formats(transcripts.agents(store))]:
        found = _agent(store, source.name, source.title, expiry(config, source, now))
        if found is None:
            extra = config.settings.sources.get(source.name, [])
            roots = source.roots(config.environment, extra)
            looked_in[source.title] = [str(path) for path in roots]
        else:
            agents.append(found)
    workspaces = store.db.execute(
        f"SELECT {WORKSPACE_NAME}, count(*) FROM sessions s JOIN workspaces w"
        f" ON w.id = s.workspace WHERE s.next_seq > 1 AND {TOLD_BY_TRANSCRIPT}"
        " GROUP BY w.id ORDER BY 2 DESC, 1"
    ).fetchall()
    return Status(
        store=str(store.folder),
        agents=agents,
        looked_in=looked_in,
        workspaces=dict(workspaces),
        summary=summary(store, Scope()),
        warnings=warnings,
    )


def _agent(store: Store, name: str, title: str, deletes: Expiry | None) -> AgentStatus | None:
    drivers = dict(
        store.db.execute(
            "SELECT coalesce(s.driver, 'unknown'), count(*) FROM sessions s"
            f" WHERE s.agent = ? AND s.next_seq > 1 AND {TOLD_BY_TRANSCRIPT}"
            " GROUP BY 1 ORDER BY 2 DESC, 1",
            (name,),
        ).fetchall()
    )
    skipped, unreadable = store.db.execute(
        "SELECT coalesce(sum(skipped), 0), coalesce(sum(unreadable IS NOT NULL), 0)"
        " FROM transcripts WHERE agent = ?",
        (name,),
    ).fetchone()
    if not drivers and not unreadable:
        return None
    first, last = store.db.execute(
        "SELECT min(started_at), max(ended_at) FROM sessions WHERE agent = ?", (name,)
    ).fetchone()
    return AgentStatus(
        name, title, sum(drivers.values()), drivers, first, last, skipped, unreadable, deletes
    )
