"""A session as steps: what one measured request added to the context of the one before.

The context of a request is measured. What made it grow is the answer of the request before and
everything that came in since. Requests whose context is not told are passed over: what they
answered and were given counts towards the next one that tells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.events.model import Compaction, Origin, Prompt
from hansei.projection.provenance.pieces import Kind, answered, given, tools_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hansei.events.model import Tool
    from hansei.projection.exchanges import Conversation, Exchange
    from hansei.projection.provenance.pieces import Piece
    from hansei.store.reading import Numbered

_PEOPLE = (Origin.HUMAN, Origin.QUEUED_HUMAN, Origin.PARENT_AGENT)


@dataclass(frozen=True)
class Answered:
    """What a request answered: its parts, and its size where the agent tells it."""

    seq: int
    output: int | None
    reasoning: int | None
    spoken: tuple[Piece, ...]
    """Replies and calls."""
    thoughts: tuple[Piece, ...]


@dataclass(frozen=True)
class Step:
    """One measured request and what is new in its context."""

    seq: int
    context: int
    given: tuple[Piece, ...]
    answers: tuple[Answered, ...]
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
        inputs.extend(exchange.inputs)
        if exchange.context is not None:
            found.append(_step(exchange.seq, exchange.context, inputs, answers, tools))
            inputs, answers = [], []
        for _, event in exchange.answers:
            tools_of(event, tools)
        answers.append(_answered(exchange))
    return found


def _answered(exchange: Exchange) -> Answered:
    parts = [piece for it in exchange.answers if (piece := answered(it)) is not None]
    usage = exchange.usage
    return Answered(
        seq=exchange.seq,
        output=_count(usage.output if usage else None),
        reasoning=_count(usage.reasoning if usage else None),
        spoken=tuple(piece for piece in parts if piece.kind is not Kind.THOUGHT),
        thoughts=tuple(piece for piece in parts if piece.kind is Kind.THOUGHT),
    )


def _count(told: int | None) -> int | None:
    return told if told is not None and told >= 0 else None


def _step(
    seq: int,
    context: int,
    inputs: Sequence[Numbered],
    answers: Sequence[Answered],
    tools: dict[str, Tool],
) -> Step:
    replaced = [
        place
        for place, (_, event) in enumerate(inputs)
        if isinstance(event, Compaction) and not event.partial
    ]
    new = inputs[replaced[-1] :] if replaced else inputs
    return Step(
        seq=seq,
        context=context,
        given=tuple(piece for it in new if (piece := given(it, tools)) is not None),
        answers=() if replaced else tuple(answers),
        prompted=any(isinstance(it, Prompt) and it.origin in _PEOPLE for _, it in inputs),
        compacted=bool(replaced),
    )
