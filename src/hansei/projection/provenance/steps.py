"""A session as steps: what one measured request added to the context of the one before.

The context of a request is measured. What made it grow is the answer of the request before and
everything that came in since. Requests whose context is not told are passed over: what they
answered and were given counts towards the next one that tells.

Some things come in without their size: a provider that searches the web itself hands the results to
the model and only the query to the transcript; a search for tools brings their schemas. Growth
beyond the texts of such a step is theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hansei.events.model import Compaction, Origin, Prompt, Status, Tool, ToolCall, ToolResult
from hansei.projection.provenance.pieces import NOTHING, Kind, Piece, answered, given

if TYPE_CHECKING:
    from hansei.projection.exchanges import Conversation, Exchange
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
    unsized: Piece | None
    """What is known to have come in though its size is not told."""


def steps(told: Conversation) -> list[Step]:
    """The measured requests of a session in order."""
    last = max(
        (it for it, each in enumerate(told.exchanges) if each.context is not None), default=-1
    )
    steps = _Steps()
    for exchange in told.exchanges[: last + 1]:
        steps.take(exchange)
    return steps.found


class _Steps:
    """The steps so far, and what counts towards the next."""

    def __init__(self) -> None:
        self.found: list[Step] = []
        self._inputs: list[Numbered] = []
        self._answers: list[Answered] = []
        self._tools: dict[str, Tool] = {}
        self._asked: dict[str, Piece] = {}
        """Calls to the web whose result has not come."""

    def take(self, exchange: Exchange) -> None:
        self._inputs.extend(exchange.inputs)
        context = exchange.context
        if context is not None:
            self.found.append(self._step(exchange.seq, context))
            self._inputs, self._answers = [], []
            self._asked.clear()
        self._answers.append(self._answered(exchange))

    def _answered(self, exchange: Exchange) -> Answered:
        spoken: list[Piece] = []
        thoughts: list[Piece] = []
        for seq, event in exchange.answers:
            piece = answered(seq, event)
            if piece is not None:
                (thoughts if piece.kind is Kind.THOUGHT else spoken).append(piece)
            if isinstance(event, ToolCall):
                self._tools[event.call] = event.tool
                if event.tool is Tool.WEB:
                    self._asked[event.call] = Piece(seq, Kind.WEB, NOTHING)
        usage = exchange.usage
        if usage is None:
            return Answered(exchange.seq, None, None, spoken, thoughts)
        output, reasoning = _count(usage.output), _count(usage.reasoning)
        return Answered(exchange.seq, output, reasoning, spoken, thoughts)

    def _step(self, seq: int, context: int) -> Step:
        new: list[Piece] = []
        prompted = compacted = False
        unsized: Piece | None = None
        for number, event in self._inputs:
            piece = given(number, event, self._tools)
            if isinstance(event, ToolResult):
                self._asked.pop(event.call, None)
                if piece is not None and _holds_no_text(event, piece.kind):
                    unsized = unsized or piece
            elif isinstance(event, Prompt):
                prompted = prompted or event.origin in _PEOPLE
            elif isinstance(event, Compaction) and not event.partial:
                compacted = True
                new = []
            if piece is not None:
                new.append(piece)
        unsized = unsized or next(iter(self._asked.values()), None)
        answers = [] if compacted else self._answers
        return Step(seq, context, new, answers, prompted, compacted, unsized)


def _holds_no_text(result: ToolResult, kind: Kind) -> bool:
    """Whether a search went well without a word.

    One that finds nothing says so; this one brought what is no text, such as schemas of tools.
    """
    return (
        kind in (Kind.SEARCH, Kind.WEB)
        and not result.text
        and not result.images
        and not result.shown
        and result.status is Status.OK
    )


def _count(told: int | None) -> int | None:
    return told if told is not None and told >= 0 else None
