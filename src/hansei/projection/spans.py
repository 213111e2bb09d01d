"""A session as a tree: turns, the requests in them, their calls, and the subagents those started.

One span is one row; the rows stand in reading order, each with the place of its parent. Sums are
rolled up: a span tells its own tokens and those of everything below it, subagents included.

A turn begins where a person or a parent agent speaks. A request begins with the last thing it was
given and ends with the last part of its answer; which parts those are `exchanges` says: by the
provider's message id where the agent keeps one, else by order. Calls of one request are siblings,
whether they ran side by side or not. Where hooks saw a call begin and end, their times count.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from hansei.events.model import (
    Interruption,
    Observation,
    Origin,
    Prompt,
    ToolCall,
    ToolResult,
)
from hansei.events.usage import context_tokens
from hansei.projection.exchanges import conversation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from hansei.events.model import AnyEvent, RequestUsage
    from hansei.projection.exchanges import Exchange
    from hansei.store.reading import Numbered


class Level(StrEnum):
    """What a span is."""

    SESSION = "session"
    TURN = "turn"
    REQUEST = "request"
    CALL = "call"
    SUBAGENT = "subagent"


class State(StrEnum):
    """How a call stands; `failed` and the like are the result's own words."""

    OK = "ok"
    FAILED = "failed"
    UNKNOWN = "unknown"
    ORPHANED = "orphaned"  # work went on, but its result was never told
    RUNNING = "running"  # nothing came after it: it may still be at work


@dataclass(frozen=True)
class Span:
    """One part of a session, with everything below it."""

    level: Level
    seq: int | None
    """The event that opens it; None for a session."""
    parent: int | None
    """The place of the span it is part of."""
    depth: int
    name: str = ""
    """A call's tool, a request's model, a session's id."""
    text: str = ""
    started: int | None = None
    ended: int | None = None
    waited: int | None = None
    """Milliseconds before it began: a turn for a person, a call for leave to run; None: unknown."""
    state: State | None = None
    requests: int = 0
    calls: int = 0
    input: int | None = None
    """Input tokens, cached or not; None where no request below tells them."""
    output: int | None = None
    cost: int | None = None
    """Nano-dollars of the requests that have a price; None where none has."""
    unpriced: int = 0
    """Requests without a price."""

    @property
    def lasted(self) -> int | None:
        """Milliseconds from begin to end; unknown where the recorded times contradict."""
        if self.started is None or self.ended is None or self.ended < self.started:
            return None
        return self.ended - self.started


_NO_CHILDREN: Mapping[str, Sequence[Span]] = MappingProxyType({})
_SPEAKERS = (Origin.HUMAN, Origin.PARENT_AGENT)
_BEGINS = ("PreToolUse", "tool.execute.before")
_ENDS = ("PostToolUse", "PostToolUseFailure", "tool.execute.after")


def spans(
    events: Sequence[Numbered],
    *,
    session: str,
    cost: Callable[[RequestUsage], int | None],
    children: Mapping[str, Sequence[Span]] = _NO_CHILDREN,
) -> list[Span]:
    """The tree of a session in reading order, with sums rolled up.

    `children` are the trees of subagents, by the call that started them, else by their session.
    Those that no call here is known to have started stand below the session itself.
    """
    told = conversation(events)
    over = any(_speaks(event) or isinstance(event, Interruption) for _, event in told.rest)
    tree = _Tree(_times(events), cost, children)
    tree.add(Span(Level.SESSION, None, None, 0, name=session))
    for exchange in told.exchanges:
        tree.turn(exchange.inputs)
        tree.request(exchange, last=exchange is told.exchanges[-1] and not over)
    tree.turn(told.rest)
    tree.strays()
    return _rolled_up(tree.spans, tree.settled)


class _Taken(TypedDict):
    input: int | None
    output: int | None
    cost: int | None
    unpriced: int


class _Times(NamedTuple):
    """What is known of calls by their id."""

    results: dict[str, ToolResult]
    began: dict[str, int]
    ended: dict[str, int]


def _times(events: Iterable[Numbered]) -> _Times:
    times = _Times({}, {}, {})
    for _, event in events:
        if isinstance(event, ToolResult):
            times.results.setdefault(event.call, event)
        elif isinstance(event, Observation) and event.call and event.at is not None:
            if event.name in _BEGINS:
                times.began.setdefault(event.call, event.at)
            elif event.name in _ENDS:
                times.ended[event.call] = event.at
    return times


class _Tree:
    """The spans so far, and where the open turn stands."""

    def __init__(
        self,
        times: _Times,
        cost: Callable[[RequestUsage], int | None],
        children: Mapping[str, Sequence[Span]],
    ) -> None:
        self.spans: list[Span] = []
        self.settled: set[int] = set()
        """Spans inside a subagent, whose sums its own tree has rolled up already."""
        self._times = times
        self._cost = cost
        self._children = children
        self._placed: set[str] = set()
        self._turn: int | None = None
        self._latest: int | None = None

    def add(self, span: Span) -> int:
        self.spans.append(span)
        return len(self.spans) - 1

    def turn(self, inputs: Sequence[Numbered]) -> None:
        """Begin a turn where somebody spoke; a session's first events are one in any case."""
        spoken = next((it for it in inputs if _speaks(it.event)), None)
        if spoken is not None:
            event = spoken.event
            text = event.text if isinstance(event, Prompt) else ""
            waited = _between(self._latest, event.at) if self._turn is not None else None
            span = Span(Level.TURN, spoken.seq, 0, 1, text=text, started=event.at, ended=event.at)
            self._turn = self.add(replace(span, waited=waited))
        for _, event in inputs:
            self._see(event.at)

    def request(self, exchange: Exchange, *, last: bool) -> None:
        if self._turn is None:
            self._turn = self.add(Span(Level.TURN, exchange.seq, 0, 1))
        usage = exchange.usage
        given = [event.at for _, event in exchange.inputs if event.at is not None]
        said = [event.at for _, event in exchange.answers if event.at is not None]
        said += [usage.at] if usage is not None and usage.at is not None else []
        began = given[-1] if given else min(said, default=None)
        place = self.add(
            Span(
                Level.REQUEST,
                exchange.seq,
                self._turn,
                2,
                name=_model(exchange) or "",
                started=began,
                ended=max(said, default=began),
                requests=1,
                **_taken(usage, self._cost),
            )
        )
        for at in said:
            self._see(at)
        for seq, event in exchange.answers:
            if isinstance(event, ToolCall):
                self._call(seq, event, place, last=last)

    def _call(self, seq: int, call: ToolCall, request: int, *, last: bool) -> None:
        result = self._times.results.get(call.call)
        began = self._times.began.get(call.call)
        ended = self._times.ended.get(call.call, result.at if result else None)
        place = self.add(
            Span(
                Level.CALL,
                seq,
                request,
                3,
                name=call.name,
                text=call.text,
                started=call.at if began is None else began,
                ended=ended,
                waited=_between(call.at, began),
                state=_state(result, last=last),
                calls=1,
            )
        )
        self._see(ended)
        for name in (call.call, (result.child if result else None) or ""):
            if name in self._children and name not in self._placed:
                self._subagent(name, place, 4)

    def strays(self) -> None:
        for name in self._children:
            if name not in self._placed:
                self._subagent(name, 0, 1)

    def _subagent(self, name: str, parent: int, depth: int) -> None:
        """A subagent's tree below the call that started it."""
        self._placed.add(name)
        top = len(self.spans)
        for below in self._children[name]:
            if below.parent is None:
                self.add(replace(below, level=Level.SUBAGENT, parent=parent, depth=depth))
            else:
                inside = replace(below, parent=below.parent + top, depth=below.depth + depth)
                self.settled.add(self.add(inside))

    def _see(self, at: int | None) -> None:
        if at is not None:
            self._latest = at if self._latest is None else max(self._latest, at)


def _speaks(event: AnyEvent) -> bool:
    return isinstance(event, Prompt) and event.origin in _SPEAKERS


def _between(start: int | None, end: int | None) -> int | None:
    return None if start is None or end is None else max(end - start, 0)


def _model(exchange: Exchange) -> str | None:
    if exchange.usage is not None and exchange.usage.model is not None:
        return exchange.usage.model
    models = (getattr(event, "model", None) for _, event in exchange.answers)
    return next((model for model in models if model is not None), None)


def _taken(usage: RequestUsage | None, cost: Callable[[RequestUsage], int | None]) -> _Taken:
    price = None if usage is None else cost(usage)
    return _Taken(
        input=None if usage is None else context_tokens(usage),
        output=None if usage is None else usage.output,
        cost=price,
        unpriced=int(price is None),
    )


def _state(result: ToolResult | None, *, last: bool) -> State:
    if result is None:
        return State.RUNNING if last else State.ORPHANED
    return State(result.status)


def _rolled_up(found: list[Span], settled: set[int]) -> list[Span]:
    """Every span with what is below it: children stand after their parents, so from the end."""
    whole = list(found)
    began = [span.started for span in found]
    ended = [span.ended for span in found]
    for place in range(len(whole) - 1, 0, -1):
        span = whole[place]
        if span.parent is not None and place not in settled:
            whole[span.parent] = _joined(whole[span.parent], span)
            began[span.parent] = _first(began[span.parent], began[place], min)
            ended[span.parent] = _first(ended[span.parent], ended[place], max)
    for place, span in enumerate(whole):
        if span.level in (Level.SESSION, Level.TURN) and place not in settled:
            whole[place] = replace(span, started=began[place], ended=ended[place])
    return whole


def _joined(parent: Span, child: Span) -> Span:
    return replace(
        parent,
        requests=parent.requests + child.requests,
        calls=parent.calls + child.calls,
        input=_sum(parent.input, child.input),
        output=_sum(parent.output, child.output),
        cost=_sum(parent.cost, child.cost),
        unpriced=parent.unpriced + child.unpriced,
    )


def _first(one: int | None, other: int | None, choose: Callable[[int, int], int]) -> int | None:
    if one is None or other is None:
        return other if one is None else one
    return choose(one, other)


def _sum(one: int | None, other: int | None) -> int | None:
    return _first(one, other, int.__add__)
