"""Parts of a chat that may be of another type than they should: as that type, or as nothing."""

from __future__ import annotations

from typing import Any


def mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def listing(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def words(value: Any) -> str:
    """A text, pieces of one, or what holds one."""
    if isinstance(value, dict):
        value = value.get("value", value.get("text"))
    if isinstance(value, list):
        return "".join(it for it in value if isinstance(it, str))
    return value if isinstance(value, str) else ""


def number(value: Any) -> int | None:
    """A whole number that is not negative and that a program could have counted."""
    sound = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53
    return value if sound else None
