"""A session as steps: what one measured request added to the context of the one before.

The context of a request is measured. What made it grow is the answer of the request before and
everything that came in since. Requests whose context is not told are passed over: what they
answered and were given counts towards the next one that tells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hansei.events.model import Compaction, Origin, Prompt, ToolCall
from hansei.projection.provenance.pieces import Kind, answered, given

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hansei.events.model import Tool
    from hansei.projection.exchanges import Conversation, Exchange
    from hansei.projection.provenance.pieces import Piece
    from hansei.store.reading import Numbered

_PEOPLE = (Origin.HUMAN, Origin.QUEUED_HUMAN, Origin.PARENT_AGENT)


class Answered(NamedTuple):
    """What a request answered: its parts, and its size where the agent tells it."""

    seq: int
    output: int | None
    reasoning: int | None
    spoken: list[Piece]
    """Replies and calls."""
    thoughts: list[Piece]


class Step(NamedTuple):
    """One measured request and what is new in its context."""

    seq: int
    context: int
    given: list[Piece]
    answers: list[Answered]
    prompted: bool
    """Whether a person, or a parent agent, said something: a turn begins."""
    compacted: bool
    """Whether the context was replaced; then only what came after that counts as given."""


def steps(told: Conversation) -> list[Step]:
    """The measured requests of a session in order."""
    tools: dict[str, Tool] = {}
    found: list[Step] = []
    inputs: list[Numbered] = []
    answers: list[Answered] = []
    for exchange in told.exchanges:
        inputs = inputs + exchange.inputs if inputs else exchange.inputs
        context = exchange.context
        if context is not None:
            found.append(_step(exchange.seq, context, inputs, answers, tools))
            inputs, answers = [], []
        answers.append(_answered(exchange, tools))
    return found


def _answered(exchange: Exchange, tools: dict[str, Tool]) -> Answered:
    """What a request answered; which tool each call went to is remembered for its result."""
    spoken: list[Piece] = []
    thoughts: list[Piece] = []
    for numbered in exchange.answers:
        piece = answered(numbered)
        if piece is not None:
            (thoughts if piece.kind is Kind.THOUGHT else spoken).append(piece)
        if isinstance(numbered.event, ToolCall):
            tools[numbered.event.call] = numbered.event.tool
    usage = exchange.usage
    return Answered(
        seq=exchange.seq,
        output=_count(usage.output if usage else None),
        reasoning=_count(usage.reasoning if usage else None),
        spoken=spoken,
        thoughts=thoughts,
    )


def _count(told: int | None) -> int | None:
    return told if told is not None and told >= 0 else None


def _step(
    seq: int,
    context: int,
    inputs: Sequence[Numbered],
    answers: list[Answered],
    tools: dict[str, Tool],
) -> Step:
    new: list[Piece] = []
    prompted = compacted = False
    for numbered in inputs:
        event = numbered.event
        if isinstance(event, Prompt):
            prompted = prompted or event.origin in _PEOPLE
        elif isinstance(event, Compaction) and not event.partial:
            compacted = True
            new = []
        piece = given(numbered, tools)
        if piece is not None:
            new.append(piece)
    return Step(seq, context, new, [] if compacted else answers, prompted, compacted)
