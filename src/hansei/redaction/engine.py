"""The gate between sources and the store: events go in, clean events come out.

`Clean` is the type the store accepts, and only `redact` makes it. Every text of an event passes the
redactor except the ids that tie events together. On the way arguments are made storable, since they
are whatever JSON an agent wrote.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any, Final, get_args, get_type_hints

import msgspec

from hansei.events.model import Event, FileEdit, Hunk, SessionFacts, Tool, ToolCall, ToolResult
from hansei.redaction.env_files import shows_env_file
from hansei.redaction.redactor import Redactor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hansei.events.model import AnyEvent

__all__ = ["Clean", "Redactor", "redact", "redact_facts", "shows_env_file"]

IDS: Final = frozenset(
    {"session", "call", "message", "request", "child", "id", "parent", "spawned_by"}
)
"""Fields that tie events together. Agents make them up; no secret gets in."""

DEEPEST: Final = 100
"""Arguments nested deeper than this are cut, so that no transcript exhausts the stack."""

_SEAL: Final = object()


class Clean:
    """An event without secrets. Only `redact` makes one."""

    __slots__ = ("event",)

    event: AnyEvent

    def __init__(self, event: AnyEvent, seal: object) -> None:
        if seal is not _SEAL:
            raise TypeError("only redact() makes clean events")
        self.event = event

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Clean) and self.event == other.event

    __hash__ = None

    def __repr__(self) -> str:
        return f"Clean({self.event!r})"
