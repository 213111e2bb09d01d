"""How a session file and the list of sessions are read.

The list says under which key a session runs, and the key says who drives it. It is rewritten whole
whenever anything happens, and forgets sessions that were put away: it adds to what the files tell
and is never needed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from hansei.errors import UnreadableTranscript
from hansei.events.keys import digest
from hansei.events.model import Driver, Origin, Relation, SessionFacts, Tool
from hansei.sources.agents.openclaw import AGENT, DATABASE, INDEX, INDEX_NAME, prompts
from hansei.sources.contract import Cursor, Reading
from hansei.sources.families import folders
from hansei.sources.families.records import FAILURES
from hansei.sources.families.streams import short
from hansei.sources.families.tree.lines import read as read_tree
from hansei.sources.families.tree.lines import session_in
from hansei.sources.families.tree.reader import Dialect

if TYPE_CHECKING:
    from pathlib import Path

    from hansei.sources.contract import Transcript

LONGEST_LIST = 64 * 1024 * 1024
"""A longer list is not read: it holds a few hundred sessions."""
_TOOLS = {
    "process": Tool.SHELL,
    "memory_search": Tool.SEARCH,
    "memory_get": Tool.READ,
    "image": Tool.READ,
    "sessions_spawn": Tool.SUBAGENT,
    "sessions_send": Tool.SUBAGENT,
    "sessions_list": Tool.SUBAGENT,
    "sessions_history": Tool.SUBAGENT,
    "sessions_yield": Tool.SUBAGENT,
    "session_status": Tool.SUBAGENT,
    "subagents": Tool.SUBAGENT,
    "agents_list": Tool.SUBAGENT,
}
DIALECT = Dialect(
    AGENT,
    pieces=prompts.pieces,
    learn=prompts.learn,
    tools=_TOOLS,
    own_provider="openclaw",
    person_stops=False,
)
SPEAKERS = {Driver.SUBAGENT: Origin.PARENT_AGENT, Driver.AUTOMATED: Origin.HARNESS}


class Listed(NamedTuple):
    """A session as the list has it."""

    key: str
    session: str
    entry: dict[str, Any]


def read(transcript: Transcript, since: Cursor, limit: int) -> Reading:
    """What is new since the cursor."""
    if transcript.variant == INDEX:
        return _read_index(transcript.path, since)
    if transcript.variant == DATABASE:
        from hansei.sources.agents.openclaw import database  # which needs the dialect above

        return database.read(transcript, since, limit)
    return read_tree(DIALECT, transcript, since, limit, _speaker(transcript.path))


def _speaker(path: Path) -> Origin | None:
    """Who prompts a session, where the list beside it says that it is no person."""
    beside = path.with_name(INDEX_NAME)
    try:
        drivers = _drivers(beside, folders.fingerprint(beside.stat()))
    except (OSError, *FAILURES):
        return None
    driver = drivers.get(session_in(path.name))
    return SPEAKERS.get(driver) if driver else None


@lru_cache(maxsize=8)
def _drivers(path: Path, fingerprint: str) -> dict[str, Driver | None]:  # noqa: ARG001
    """Who drives each session of a list; the list is the same as long as its fingerprint is."""
    return {item.session: driver_of(item.key) for item in _listed(path.read_bytes())}


def _read_index(path: Path, since: Cursor) -> Reading:
    try:
        content = path.read_bytes() if path.stat().st_size <= LONGEST_LIST else b"{}"
        seen = digest(content)
        if since.check == seen:
            return Reading(cursor=since)
        listed = _listed(content)
    except OSError as problem:
        raise UnreadableTranscript(f"{path} cannot be read: {problem.strerror}") from problem
    except FAILURES as problem:  # caught half-written: it is read again when it changes
        raise UnreadableTranscript(f"{path} is not JSON, or not all of it yet") from problem
    sessions = {item.key: item.session for item in listed}
    facts = {item.session: facts_of(item, sessions) for item in listed}
    cursor = Cursor(offset=len(content), check=seen)
    return Reading(cursor=cursor, sessions=facts, records=len(listed), taken=len(content))


def _listed(content: bytes) -> list[Listed]:
    """Sessions by their keys; early versions wrote a list without keys."""
    value = msgspec.json.decode(content)
    if isinstance(value, list):
        value = {str(number): entry for number, entry in enumerate(value)}
    found = []
    for key, entry in value.items() if isinstance(value, dict) else ():
        session = entry.get("sessionId", entry.get("id")) if isinstance(entry, dict) else None
        if isinstance(session, str) and session:
            found.append(Listed(key, short(session), entry))
    return found


def driver_of(key: str) -> Driver | None:
    """Who drives a session, by its key; None if the key does not say."""
    parts = key.split(":")
    kind = parts[2] if parts[0] == "agent" and len(parts) > 2 else parts[0]
    if "subagent" in parts:
        return Driver.SUBAGENT
    if kind in ("cron", "hook", "webhook") or "cron" in parts:
        return Driver.AUTOMATED
    return Driver.HUMAN if parts[0] == "agent" and len(parts) > 2 else None


def facts_of(item: Listed, sessions: dict[str, str]) -> SessionFacts:
    driver, entry = driver_of(item.key), item.entry
    facts = SessionFacts(id=item.session, driver=driver, driver_recorded=driver is not None)
    facts.title = _text(entry, "label")
    facts.entrypoint = _text(entry, "channel") or _text(entry, "lastChannel")
    parent = sessions.get(_text(entry, "spawnedBy") or "")
    if driver is Driver.SUBAGENT and parent:
        facts.parent, facts.relation = parent, Relation.SUBAGENT
    return facts


def _text(entry: dict[str, Any], name: str) -> str | None:
    value = entry.get(name)
    return value if isinstance(value, str) and value else None
