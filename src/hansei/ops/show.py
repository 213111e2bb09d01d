"""One session, or one event of it, opened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.errors import NotFound
from hansei.events.model import Observation, ToolCall, ToolResult
from hansei.ops import sessions
from hansei.ops.snapshot import started_on
from hansei.store import reading

if TYPE_CHECKING:
    from hansei.ops.sessions import SessionLine
    from hansei.projection.snapshots import Start
    from hansei.store.database import Store
    from hansei.store.reading import Numbered


@dataclass(frozen=True)
class Shown:
    """A session's heading and the events asked for, in order."""

    session: SessionLine
    start: Start
    """The commit it began on, from the best witness there is."""
    children: list[SessionLine]
    events: list[Numbered]


def show(store: Store, reference: str) -> Shown:
    """What `SESSION` or `SESSION#EVENT` names. An event comes with the other half of its call."""
    name, _, number = reference.partition("#")
    session = sessions.find(store, name)
    events = _placed(list(reading.events(store, session)))
    if number:
        events = _event(events, number, reference)
    return Shown(
        session=sessions.describe(store, session),
        start=started_on(store, session),
        children=sessions.children(store, session),
        events=events,
    )


def _placed(events: list[Numbered]) -> list[Numbered]:
    """Events in order, what hooks saw put in by its time: it is numbered when it is read."""
    seen = [it for it in events if isinstance(it.event, Observation)]
    placed: list[Numbered] = []
    waiting = iter(sorted(seen, key=lambda it: (it.event.at or 0, it.seq)))
    following = next(waiting, None)
    for numbered in events:
        if isinstance(numbered.event, Observation):
            continue
        while following and numbered.event.at and (following.event.at or 0) <= numbered.event.at:
            placed.append(following)
            following = next(waiting, None)
        placed.append(numbered)
    return [*placed, *([following] if following else []), *waiting]


def _event(events: list[Numbered], number: str, reference: str) -> list[Numbered]:
    wanted = next((found for found in events if str(found.seq) == number), None)
    if wanted is None:
        last = max((found.seq for found in events), default=0)
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
