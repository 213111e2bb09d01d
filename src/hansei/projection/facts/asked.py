"""Every request to the model with what it took: what the cost of any stretch is added up from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hansei.events.model import ToolCall
from hansei.events.usage import context_tokens

if TYPE_CHECKING:
    from hansei.projection.exchanges import Conversation, Exchange


class Asked(NamedTuple):
    """One request."""

    seq: int
    """Where its answer begins."""
    tokens: int | None
    """Billed: all input, cached or not, and the output; None where the agent does not tell."""
    calls: tuple[int, ...]
    """The calls it answered with."""


def asked(talk: Conversation) -> list[Asked]:
    """The requests that were answered, in order."""
    return [_row(exchange) for exchange in talk.exchanges if exchange.answers]


def _row(exchange: Exchange) -> Asked:
    usage = exchange.usage
    taken = None if usage is None else context_tokens(usage)
    return Asked(
        seq=exchange.answers[0].seq,
        tokens=None if usage is None or taken is None else taken + (usage.output or 0),
        calls=tuple(seq for seq, event in exchange.answers if isinstance(event, ToolCall)),
    )
