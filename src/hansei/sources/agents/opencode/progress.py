"""How far a transcript has been read whose rows are rewritten while the agent works.

There is no place up to which all is read. A message is read again when

- it was not there before, or one of its parts was not;
- it carries a later time than was seen before. Times are set a moment before they are written,
  and by several programs at once; so the last seconds are looked at again, and what has been read
  of them is remembered by a digest;
- it was not finished when it was read, and it or one of its parts carries another time than then.

The first and the last do not depend on clocks, which are set back now and then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec

from hansei.events.keys import event_key
from hansei.sources.families.streams import remember, short

if TYPE_CHECKING:
    from collections.abc import Iterable

LOOKED_AT_AGAIN_MS = 10_000
"""Longer than a program waits to write what it has put a time on (five seconds)."""
OPEN_KEPT = 32
"""Unfinished messages that are watched: one for each agent at work, and what crashes have left."""


class Found(NamedTuple):
    """A message that may have news."""

    place: int
    """Grows from message to message in the order in which they were first written."""
    id: str
    session: str
    stamp: int
    """When it last changed."""
    parts: int = 0
    """What is new about its parts: the last new one, when one of them changed, or their size."""


class Taken(NamedTuple):
    """What a message was like when it was read."""

    is_open: bool = False
    """Whether it is still being written."""
    changed: int = 0
    """When one of its parts last changed."""


class Changed(NamedTuple):
    """A session whose own record may have news."""

    id: str
    stamp: int
    parts: int = 0


class State(msgspec.Struct, omit_defaults=True):
    """What is remembered of a transcript."""

    row: int = 0
    """Every message up to this place has been read."""
    part: int | None = None
    """So has every part up to this one."""
    began: int | None = None
    """The last change there was when the first reading began."""
    until: int | None = None
    """Every change up to this time has been read; None until all has been read once."""
    seen: list[int] = []
    """Of the last seconds before it: what has been read."""
    open: dict[str, int] = {}
    """Messages that were not finished, with the time they or their parts last changed."""
    log: int = 0
    """How much of the program's own log was looked through for deleted messages."""
    damaged: bool = False
    newer: int = 0
    """Sessions in tables that we do not read."""


@dataclass
class Progress:
    """What is remembered, while it is being added to."""

    state: State
    seen: set[int]

    @property
    def since(self) -> int:
        """From when on changes to what has been read are looked at."""
        last = self.state.began if self.state.until is None else self.state.until
        return max((last or 0) - LOOKED_AT_AGAIN_MS, 0)

    @property
    def sessions_since(self) -> int:
        """From when on changes to sessions are looked at."""
        return 0 if self.state.until is None else self.since

    def begin(self, latest: int, part: int) -> None:
        """Before the first reading: what changes from now on must be noticed."""
        if self.state.began is None:
            self.state.began, self.state.part = latest, part

    def is_new(self, found: Found) -> bool:
        return found.place > self.state.row or mark(found) not in self.seen

    def has_read(self, found: Found, taken: Taken) -> None:
        """Note a message that was read, and whether it is finished."""
        state, changed = self.state, max(found.stamp, taken.changed)
        if found.place <= state.row or changed >= self.since:
            self.seen |= {
                mark(found._replace(parts=new)) for new in (found.parts, 0, taken.changed)
            }
        state.row = max(state.row, found.place)
        if taken.is_open:
            remember(state.open, short(found.id), changed, OPEN_KEPT)
        else:
            state.open.pop(short(found.id), None)

    def finish(self, latest: int, part: int) -> None:
        """All that was there has been read."""
        self.state.until, self.state.part = max(self.state.until or 0, latest), part

    def remember(self, recent: Iterable[Found | Changed]) -> None:
        """Keep what has been read of the last seconds, and nothing of what was before."""
        self.seen = set()
        for item in recent:
            self.seen |= {mark(item), mark(item._replace(parts=0))}

    def stored(self) -> dict[str, Any]:
        self.state.seen = sorted(self.seen)
        return cast("dict[str, Any]", msgspec.to_builtins(self.state))


def mark(item: Found | Changed) -> int:
    """A digest of what may be read of a message or session as it is."""
    return event_key(item.id, str(item.stamp), str(item.parts))
