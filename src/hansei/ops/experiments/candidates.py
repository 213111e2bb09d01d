"""What is known of a workspace's sessions before anybody looks at how they went."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from hansei.config import DAY_MS
from hansei.events.model import Driver
from hansei.experiments.binding.prompt import fingerprint
from hansei.experiments.placing import Candidate
from hansei.hook import places, words
from hansei.sources import catalogue
from hansei.sources.spool_lines import CALLED
from hansei.store.evidence import ASSIGNED, DELIVERED, HOOK, TRANSCRIPT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hansei.store.database import Store

_TEXTS = (places.INSTRUCTIONS, places.RULE)
"""Kinds of files that are one text for the agent; skills and servers are loaded apart."""
AUTOMATED = "automated"


class Run(NamedTuple):
    """A session that nobody's session started, with what it can be compared with."""

    number: int
    candidate: Candidate
    stratum: str
    """Agent and model, and whether a person drove it."""
    day: int | None


_SESSIONS = """
SELECT s.id, s.native, s.agent, s.driver, s.started_at, s.ended_at, s."commit", s.dirty, s.branch,
  s.cwd,
  (SELECT model FROM spend m WHERE m.session = s.id AND m.model IS NOT NULL
   GROUP BY model ORDER BY sum(requests) DESC, model LIMIT 1)
FROM sessions s
LEFT JOIN sessions p ON p.agent = s.agent AND p.native = s.parent AND p.id != s.id
WHERE s.workspace = ? AND s.next_seq > 1 AND p.id IS NULL AND s.driver IS NOT ?
ORDER BY s.started_at IS NULL, s.started_at, s.id
"""


def runs(store: Store, workspace: int) -> list[Run]:
    """The workspace's sessions, but subagents, by the time they began."""
    rows = store.db.execute(_SESSIONS, (workspace, Driver.SUBAGENT)).fetchall()
    texts, assigned, shown = _texts(store), _assigned(store), _shown(store)
    looked = _looked(store)
    telling = {it.name for it in catalogue.load_all()[0] if it.capabilities.added_context}
    found = []
    for number, native, agent, driver, started, ended, commit, dirty, branch, cwd, model in rows:
        read = texts.get(number)
        candidate = Candidate(
            native=native,
            agent=agent,
            started=started,
            ended=ended,
            commit=commit,
            dirty=None if dirty is None else bool(dirty),
            branch=branch,
            folder=cwd,
            texts=read,
            seen=number in looked,
            assigned=assigned.get(number),
            shown=shown.get(number, frozenset()),
            takes=words.takes_text(CALLED.get(agent, agent)),
            shows=agent in telling,
            prompt=None if read is None else fingerprint(read),
        )
        parts = (agent, model or "unknown model", *([AUTOMATED] if driver == AUTOMATED else []))
        found.append(
            Run(
                number, candidate, " · ".join(parts), None if started is None else started // DAY_MS
            )
        )
    return found


def _texts(store: Store) -> dict[int, Mapping[str, str]]:
    """Instruction files in force from the start, by session; none where nobody looked."""
    found: dict[int, dict[str, str]] = {
        session: {}
        for (session,) in store.db.execute("SELECT session FROM ledger WHERE basis IS NOT NULL")
    }
    marks = ", ".join("?" * len(_TEXTS))
    rows = store.db.execute(
        "SELECT session, path, hash FROM exposure WHERE reach = 'start' AND basis != ?"
        f" AND kind IN ({marks}) ORDER BY session, path, hash",
        (TRANSCRIPT, *_TEXTS),
    )
    for session, path, mark in rows:
        if session in found:
            found[session][path] = mark
    return dict(found)


def _looked(store: Store) -> frozenset[int]:
    """Sessions whose files a hook read."""
    rows = store.db.execute("SELECT session FROM ledger WHERE basis = ?", (HOOK,))
    return frozenset(session for (session,) in rows)


def _assigned(store: Store) -> dict[int, dict[str, str]]:
    """The arm that a hook put each session in, by item; the first word counts."""
    rows = store.db.execute(
        "SELECT session, path, hash FROM evidence WHERE basis = ? AND kind = ?"
        " ORDER BY session, at, key",
        (HOOK, ASSIGNED),
    )
    found: dict[int, dict[str, str]] = defaultdict(dict)
    for session, item, arm in rows:
        found[session].setdefault(item, arm)
    return found


def _shown(store: Store) -> dict[int, frozenset[str]]:
    """Items whose text stands in a session's transcript."""
    rows = store.db.execute(
        "SELECT session, path FROM exposure WHERE kind = ? AND basis = ?", (DELIVERED, TRANSCRIPT)
    )
    found: dict[int, set[str]] = defaultdict(set)
    for session, item in rows:
        found[session].add(item)
    return {session: frozenset(items) for session, items in found.items()}
