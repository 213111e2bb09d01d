"""Two hooks that saw one thing: which of them counts.

An agent may run a hook twice, because two of its settings files name it. What they saw has one key,
and the earlier one stays, so that the order in which their lines are read does not matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.events.codec import encode

if TYPE_CHECKING:
    from hansei.events.model import Observation


def earlier(first: Observation, second: Observation) -> Observation:
    """The one that came first; of two at the same time always the same one."""
    return min(first, second, key=_place)


def _place(seen: Observation) -> tuple[bool, int, bytes]:
    return seen.at is None, seen.at or 0, encode(seen)
