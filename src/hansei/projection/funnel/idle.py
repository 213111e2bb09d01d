"""Several skills, or one server, that are in force and idle: how they are named as one thing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_BETWEEN: Final = ", "


def idle_subject(kind: str, names: Iterable[str]) -> str:
    """Their kind and their names, in one line."""
    return f"{kind} {_BETWEEN.join(sorted(set(names)))}"


def idle_names(subject: str) -> tuple[str, frozenset[str]]:
    """The kind and the names again."""
    kind, _, names = subject.partition(" ")
    return kind, frozenset(names.split(_BETWEEN))
