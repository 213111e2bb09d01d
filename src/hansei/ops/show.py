"""One session, or one event of it, opened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.errors import NotFound
from hansei.events.model import ToolCall, ToolResult
from hansei.ops import sessions
from hansei.store import reading

if TYPE_CHECKING:
    from hansei.ops.sessions import SessionLine
    from hansei.store.database import Store
    from hansei.store.reading import Numbered


@dataclass(frozen=True)
class Shown:
    """A session's heading and the events asked for, in order."""

    session: SessionLine
    children: list[SessionLine]
    events: list[Numbered]


def show(store: Store, reference: str) -> Shown:
    """What `SESSION` or `SESSION#EVENT` names. An event comes with the other half of its call."""
    name, _, number = reference.partition("#")
    session = sessions.find(store, name)
    events = list(reading.events(store, session))
    if number:
        events = _event(events, number, reference)
    return Shown(
        session=sessions.describe(store, session),
        children=sessions.children(store, session),
        events=events,
    )


def _event(events: list[Numbered], number: str, reference: str) -> list[Numbered]:
    wanted = next((found for found in events if str(found.seq) == number), None)
    if wanted is None:
        last = events[-1].seq if events else 0
        raise NotFound(
            f"{reference} is not an event of this session",
            hint=f"Its events go from #1 to #{last}.",
        )
    if isinstance(wanted.event, ToolCall | ToolResult):
        call = wanted.event.call
        return [
            found
            for found in events
            if isinstance(found.event, ToolCall | ToolResult) and found.event.call == call
        ]
    return [wanted]
