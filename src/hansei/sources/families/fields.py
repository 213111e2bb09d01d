"""Fields of records that may hold anything: taken if they fit, as if unrecorded if they do not."""

from __future__ import annotations

from typing import Any


def mapping(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def mappings(value: Any) -> list[dict[str, Any]]:
    """Those of a list's values that are objects; none if it is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def word(value: Any) -> str | None:
    """The value if it is a text with something in it."""
    return value if isinstance(value, str) and value else None


def among(value: Any, choices: frozenset[str]) -> bool:
    """Whether a value is one of these words; a list or an object is none."""
    return isinstance(value, str) and value in choices
