"""What a session is, and what all its requests took together.

Until there was a ledger, the program kept nothing of single requests but a running total for each
session. That total is told as one request: its sum is right, how many there were is not known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from hansei.events.keys import event_key
from hansei.events.model import Driver, Relation, RequestUsage, SessionFacts
from hansei.sources.agents.goose import AGENT
from hansei.sources.agents.goose.messages import Owner
from hansei.sources.families import sqlite
from hansei.sources.families.clock import instant
from hansei.sources.families.records import FAILURES
from hansei.sources.families.streams import Counts, billed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hansei.sources.agents.goose.messages import Told
    from hansei.sources.agents.goose.records import Line

MOST = 2**53
"""A number of tokens beyond this, or below zero, is a fault in the record."""
_DRIVERS = {
    "sub_agent": Driver.SUBAGENT,
    "scheduled": Driver.AUTOMATED,
    "hidden": Driver.AUTOMATED,
}
_UNNAMED = ("", "CLI Session", "New Chat", "New Session", "ACP Session")
"""Names the program gives before there is one."""
_MODEL = ("model_name", "modelName", "model")


class Found(NamedTuple):
    """A session, as its row or its first line tells it."""

    owner: Owner
    facts: SessionFacts
    total: Counts
    began: int | None = None


def of_header(session: str, line: Line) -> Found:
    """The session of an early file."""
    driver = Driver.AUTOMATED if line.schedule_id else Driver.HUMAN
    owner = Owner(session, driver, line.working_dir or None)
    facts = SessionFacts(id=session, driver=driver, driver_recorded=bool(line.schedule_id))
    facts.cwd, facts.title = owner.cwd, _title(line.description)
    return Found(owner, facts, counts(line.accumulated_input, line.accumulated_output))


def of_row(row: Mapping[str, Any]) -> Found:
    """The session of a row, whichever columns it has."""
    session = sqlite.text(row.get("id"))
    kind = sqlite.text(row.get("session_type"))
    driver = _DRIVERS.get(kind) or (Driver.AUTOMATED if row.get("schedule_id") else Driver.HUMAN)
    cwd = sqlite.text(row.get("working_dir")) or None
    owner = Owner(session, driver, cwd, _model(row.get("model_config_json")))
    facts = SessionFacts(id=session, driver=driver, driver_recorded=driver is not Driver.HUMAN)
    facts.cwd, facts.entrypoint = cwd, kind if kind not in ("", "user") else None
    facts.title = _title(sqlite.text(row.get("name"))) or _title(
        sqlite.text(row.get("description"))
    )
    parent = sqlite.text(row.get("parent_session_id")) or None
    if parent:
        facts.parent = parent
        facts.relation = Relation.SUBAGENT if driver is Driver.SUBAGENT else Relation.FORK
    total = counts(
        row.get("accumulated_input_tokens"),
        row.get("accumulated_output_tokens"),
        row.get("accumulated_cache_read_tokens"),
        row.get("accumulated_cache_write_tokens"),
    )
    return Found(owner, facts, total, instant(sqlite.text(row.get("created_at"))))


def tell(told: Told, found: Found, total: Counts) -> None:
    """A session, and as much of its total as nothing else tells."""
    told.sessions[found.owner.id] = found.facts
    if not billed(total):
        return
    usage = RequestUsage(
        key=event_key(AGENT, "total", found.owner.id),
        model=found.owner.model,
        session=found.owner.id,
        at=found.began,
        cwd=found.owner.cwd,
        **total._asdict(),
    )
    told.emit(usage)


def learn(told: Told, owner: Owner) -> None:
    """That there is such a session, where nothing else was told of it."""
    recorded = owner.driver is not Driver.HUMAN
    facts = SessionFacts(id=owner.id, driver=owner.driver, driver_recorded=recorded, cwd=owner.cwd)
    told.sessions.setdefault(owner.id, facts)


def counts(taken: Any, given: Any, read: Any = None, written: Any = None) -> Counts:
    """Disjoint counts of an input that includes what was read from and written to a cache."""
    whole, output = sound(taken), sound(given)
    cached, stored = sound(read), sound(written)
    rest = (cached or 0) + (stored or 0)
    own = whole - rest if whole is not None and whole >= rest else whole
    told = Counts(input=own, cache_read=cached, cache_write_5m=stored, output=output)
    return told if billed(told) else Counts()


def sound(value: Any) -> int | None:
    number = sqlite.number(value)
    return number if number is not None and 0 <= number <= MOST else None


def _title(name: str | None) -> str | None:
    return name if name and name not in _UNNAMED else None


def _model(stored: Any) -> str | None:
    try:
        held = msgspec.json.decode(stored) if stored else None
    except (TypeError, *FAILURES):
        return None
    told = (held.get(name) for name in _MODEL) if isinstance(held, dict) else ()
    return next((name for name in told if isinstance(name, str) and name), None)
