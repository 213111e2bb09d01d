"""A protocol between agent and model: how a request is read, and how an answer is streamed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rig.script import Ask, Step, Tokens, Usage

Record: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """One answer: its number on this server, what it says, and what it is said to have used."""

    number: int
    model: str
    step: Step
    tokens: Tokens

    @property
    def id(self) -> str:
        """The provider's id of the response, as long as real ones are."""
        return f"{self.number:024d}"

    @property
    def call_id(self) -> str:
        return f"call_{self.number:024d}"


class Wire(Protocol):
    """One protocol."""

    path: str
    """The end of the address that requests are posted to."""
    content_type: str
    """What the answer is: a stream of events, or one object."""

    def read(self, body: Record) -> Ask:
        """What is asked."""

    def write(self, answer: Answer) -> list[bytes]:
        """The stream of the answer, in the pieces it is sent in."""

    def told(self, tokens: Tokens) -> Usage:
        """What of the usage the protocol has words for."""


STREAM = "text/event-stream"


def event(data: Record, name: str | None = None) -> bytes:
    """One server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


def joined(content: str | Iterable[Record] | None) -> str:
    """The text of a message, whose content is a string or a list of parts."""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text") or "") for part in content or ())
