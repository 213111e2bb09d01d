"""What people asked for in a session: their own prompts, one row each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.events.model import Driver, Origin, Prompt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hansei.store.reading import Numbered

LONGEST: Final = 1000
"""Characters of a prompt that are kept: what is longer is a document and no request."""


class Said(NamedTuple):
    """One prompt that a person typed."""

    seq: int
    at: int | None
    text: str
    """As it was typed, cut where it is long."""


def said(events: Sequence[Numbered], driver: str | None) -> list[Said]:
    """The prompts of a session that a person drives, in order."""
    if driver != Driver.HUMAN:
        return []
    return [
        Said(seq, event.at, event.text[:LONGEST])
        for seq, event in events
        if isinstance(event, Prompt)
        and event.origin in (Origin.HUMAN, Origin.QUEUED_HUMAN)
        and event.text.strip()
    ]
