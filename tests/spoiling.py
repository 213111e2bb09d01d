"""Records with one value of another type in them, for tests of what readers make of those."""

from __future__ import annotations

import random
from typing import Any

OTHER_VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 2**70, 1.5, "", "\ud800", "text " * 50, [], [None], ["a", {"b": 1}], {},
    {"type": 5}, {"text": ["x"]}, {"content": {"content": "deep"}},
)  # fmt: skip


def swapped(value: Any, dice: random.Random) -> Any:
    """The record with one value, at any depth, replaced by one of another type."""
    if isinstance(value, dict) and value and dice.random() < 0.8:
        key = dice.choice(list(value))
        return {**value, key: swapped(value[key], dice)}
    if isinstance(value, list) and value and dice.random() < 0.8:
        place = dice.randrange(len(value))
        return [*value[:place], swapped(value[place], dice), *value[place + 1 :]]
    return dice.choice(OTHER_VALUES)
