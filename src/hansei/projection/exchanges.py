"""Which request said what, and what came in before it.

An agent that tells the provider's id of a response settles it: what carries the same `message`
belongs together, and the request stands where its answer begins. Where usage and answers share no
id, order decides. Some agents write what a request took before its answer and some after it, even
after the results of its calls; which of the two is found by what comes first after a prompt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from hansei.events.model import Prompt, Reply, RequestUsage, Thought, ToolCall, ToolResult
from hansei.events.usage import context_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hansei.store.reading import Numbered

Answer: TypeAlias = Reply | Thought | ToolCall
_ANSWER = (Reply, Thought, ToolCall)


class Exchange(NamedTuple):
    """One request to a model."""

    seq: int
    """Where it stands: the number of its usage, else of the first part of its answer."""
    usage: RequestUsage | None
    inputs: list[Numbered]
    """Everything that happened since the answer before began, answers excepted."""
    answers: list[Numbered]
    """Replies, thoughts and calls."""

    @property
    def context(self) -> int | None:
        """Tokens the model read; None where the agent does not tell, or tells no true count."""
        told = None if self.usage is None else context_tokens(self.usage)
        return told if told is not None and told > 0 else None


class Conversation(NamedTuple):
    """A session as requests in order: put together once and handed to whoever needs it."""

    exchanges: list[Exchange]
    rest: list[Numbered]
    """What happened after the last answer began."""


class _Draft:
    __slots__ = ("answers", "inputs", "usage")

    def __init__(self, inputs: list[Numbered]) -> None:
        self.usage: Numbered | None = None
        self.inputs = inputs
        self.answers: list[Numbered] = []


def conversation(events: Sequence[Numbered]) -> Conversation:
    """The requests of a session, each with what it was given and what it answered."""
    table = _Table(events)
    for numbered in events:
        event = numbered.event
        if isinstance(event, _ANSWER):
            table.answer(numbered, event)
        elif isinstance(event, RequestUsage):
            table.usage(numbered, event)
        else:
            table.other(numbered)
    return Conversation([_exchange(draft) for draft in table.drafts], table.waiting)


def _exchange(draft: _Draft) -> Exchange:
    if draft.usage is None:
        return Exchange(draft.answers[0].seq, None, draft.inputs, draft.answers)
    seq, usage = draft.usage
    told = usage if isinstance(usage, RequestUsage) else None
    return Exchange(seq, told, draft.inputs, draft.answers)


class _Table:
    """The requests found so far."""

    def __init__(self, events: Sequence[Numbered]) -> None:
        self.drafts: list[_Draft] = []
        self.waiting: list[Numbered] = []
        self._named: dict[str, _Draft] = {}
        self._early: dict[str, Numbered] = {}
        self._answered, asked = _messages(events)
        self._by_id = not self._answered.isdisjoint(asked)
        placed = self._by_id and None not in asked
        self._last = None if placed else _usage_comes_last(events, by_id=self._by_id)
        self._open: _Draft | None = None

    def answer(self, numbered: Numbered, event: Answer) -> None:
        if event.message is not None and self._by_id:
            draft = self._named.get(event.message)
            if draft is None:
                draft = self._named[event.message] = self._begin()
                draft.usage = self._early.pop(event.message, None)
            draft.answers.append(numbered)
            return
        if self._open is None or (self._last and self._open.usage is not None):
            self._open = self._begin()
        self._open.answers.append(numbered)

    def usage(self, numbered: Numbered, event: RequestUsage) -> None:
        if event.message is not None and self._by_id:
            if event.message in self._named:
                draft = self._named[event.message]
                draft.usage = draft.usage or numbered
            elif event.message in self._answered:
                self._early[event.message] = numbered
            else:
                self._named[event.message] = draft = self._begin()
                draft.usage = numbered
        elif self._last and self._open is not None and self._open.usage is None:
            self._open.usage = numbered
        else:
            self._open = self._begin()
            self._open.usage = numbered

    def other(self, numbered: Numbered) -> None:
        # Who never tells usage has a new request after every input; who tells it, one per telling,
        # and only a prompt says that an answer without usage was all there was.
        if self._open is not None and (
            isinstance(numbered.event, Prompt)
            or (self._last is None and isinstance(numbered.event, ToolResult))
        ):
            self._open = None
        self.waiting.append(numbered)

    def _begin(self) -> _Draft:
        draft = _Draft(self.waiting)
        self.waiting = []
        self.drafts.append(draft)
        return draft


def _messages(events: Sequence[Numbered]) -> tuple[set[str], set[str | None]]:
    """The provider's ids of what was answered, and of what tells usage: None where it has none."""
    answered = set()
    asked = set()
    for _, event in events:
        if isinstance(event, _ANSWER):
            if event.message is not None:
                answered.add(event.message)
        elif isinstance(event, RequestUsage):
            asked.add(event.message)
    return answered, asked


def _usage_comes_last(events: Sequence[Numbered], *, by_id: bool) -> bool | None:
    """Whether usage that no id places stands after its answer; None where there is none.

    What comes first after a prompt tells, and most turns decide: results may stand on either side.
    """
    first = last = 0
    found = asked = False
    for _, event in events:
        if isinstance(event, Prompt):
            asked = True
        elif isinstance(event, RequestUsage) and (event.message is None or not by_id):
            found = True
            first += asked
            asked = False
        elif isinstance(event, _ANSWER) and (event.message is None or not by_id):
            last += asked
            asked = False
    return last >= first if found else None
