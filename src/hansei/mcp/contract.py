"""What a tool is: a name, one line about it, what it takes, and a function that answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

    from hansei.mcp.desk import Desk

MOST_TEXT: Final = 100_000
"""Characters of one argument: more is a file, not a question."""


class Arguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a tool may be given; its fields are the schema that agents are shown."""


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a tool says; lists have what matters most first, because the end is cut."""


A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True)
class Tool(Generic[A]):
    """One thing an agent can ask or say."""

    name: str
    about: str
    """When to use it. It stands in the context of every session: one sentence."""
    arguments: type[A]
    answer: Callable[[Desk, A], Answer]
    budget: int = 1_500
    """Tokens of an answer, derived, unless the question has a budget of its own."""
    writes: bool = False
    """Whether it leaves something behind: a quarantined draft at most."""

    def asked(self, given: dict[str, Any]) -> A:
        """The arguments as a value; raises `msgspec.ValidationError` where they do not fit."""
        return msgspec.convert(given, self.arguments)
