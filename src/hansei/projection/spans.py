"""A session as a tree: turns, the requests in them, their calls, and the subagents those started.

One span is one row; the rows stand in reading order, each with the place of its parent. Sums are
rolled up: a span tells its own tokens and those of everything below it, subagents included. What a
turn or a call says is in the log; a tree has it beside its rows for whoever prints it.

A turn begins where a person or a parent agent speaks. A request begins with the last thing it was
given and ends with the last part of its answer; which parts those are `exchanges` says: by the
provider's message id where the agent keeps one, else by order. Calls of one request are siblings,
whether they ran side by side or not. Where hooks saw a call begin and end, their times count.
"""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from hansei.events.model import (
    Interruption,
    Observation,
    Origin,
    Prompt,
    ToolCall,
    ToolResult,
)
from hansei.events.usage import context_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hansei.events.model import AnyEvent, RequestUsage
    from hansei.projection.exchanges import Conversation, Exchange
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


class Span(NamedTuple):
    """One part of a session, with everything below it: one row."""

    level: Level
    seq: int | None
    """The event that opens it; None for a session."""
    parent: int | None
    """The place of the span it is part of."""
    depth: int
    name: str
    """A call's tool, a request's model, a session's id."""
    started: int | None
    ended: int | None
    waited: int | None
    """Milliseconds before it began: a turn for a person, a call for leave to run; None: unknown."""
    state: State | None
    requests: int
    calls: int
    input: int | None
    """Input tokens, cached or not; None where no request below tells them."""
    output: int | None
    cost: int | None
    """Nano-dollars of the requests that have a price; None where none has."""
    unpriced: int
    """Requests without a price."""

    @property
    def lasted(self) -> int | None:
        """Milliseconds from begin to end; unknown where the recorded times contradict."""
        if self.started is None or self.ended is None or self.ended < self.started:
            return None
        return self.ended - self.started


class Tree(NamedTuple):
    """A session's spans, and what each says: a prompt, a command; empty where it says nothing."""

    spans: list[Span]
    texts: list[str]


_NO_CHILDREN: Mapping[str, Tree] = MappingProxyType({})
_SPEAKERS = (Origin.HUMAN, Origin.PARENT_AGENT)
_BEGINS = ("PreToolUse", "tool.execute.before")
_ENDS = ("PostToolUse", "PostToolUseFailure", "tool.execute.after")
_STATES = {state.value: state for state in State}
_TURN, _REQUEST, _CALL, _BELOW_CALL = range(1, 5)
"""Depths. Sessions and turns last as long as what is below them, requests and calls as told."""


def spans(
    told: Conversation, *, session: str, cost: Callable[[RequestUsage], int | None]
) -> list[Span]:
    """The rows of a session on its own, without its subagents."""
    return tree(told, session=session, cost=cost).spans


def tree(
    told: Conversation,
    *,
    session: str,
    cost: Callable[[RequestUsage], int | None],
    children: Mapping[str, Tree] = _NO_CHILDREN,
) -> Tree:
    """A session in reading order, with sums rolled up.

    `children` are the trees of subagents, by the call that started them, else by their session.
    Those that no call here is known to have started stand below the session itself.
    """
    over = any(_speaks(event) or isinstance(event, Interruption) for _, event in told.rest)
    growing = _Growing(_times(told), cost, children)
    growing.add(_Part(Level.SESSION, None, None, 0, session))
    latest = len(told.exchanges) - 1
    for place, exchange in enumerate(told.exchanges):
        growing.turn(exchange.inputs)
        growing.request(exchange, last=place == latest and not over)
    growing.turn(told.rest)
    growing.strays()
    return Tree(_rolled_up(growing.parts), growing.texts)


class _Part:
    """A span in the making: sums are added to it as its children are found."""

    __slots__ = (
        "calls",
        "cost",
        "depth",
        "ended",
        "input",
        "level",
        "name",
        "output",
        "parent",
        "requests",
        "seq",
        "started",
        "state",
        "unpriced",
        "waited",
    )

    def __init__(
        self, level: Level, seq: int | None, parent: int | None, depth: int, name: str = ""
    ) -> None:
        self.level = level
        self.seq = seq
        self.parent = parent
        self.depth = depth
        self.name = name
        self.started: int | None = None
        self.ended: int | None = None
        self.waited: int | None = None
        self.state: State | None = None
        self.requests = self.calls = self.unpriced = 0
        self.input: int | None = None
        self.output: int | None = None
        self.cost: int | None = None

    def span(self) -> Span:
        return Span(
            self.level,
            self.seq,
            self.parent,
            self.depth,
            self.name,
            self.started,
            self.ended,
            self.waited,
            self.state,
            self.requests,
            self.calls,
            self.input,
            self.output,
            self.cost,
            self.unpriced,
        )


class _Times(NamedTuple):
    """What is known of calls by their id."""

    results: dict[str, ToolResult]
    began: dict[str, int]
    ended: dict[str, int]


def _times(told: Conversation) -> _Times:
    times = _Times({}, {}, {})
    for exchange in told.exchanges:
        _note(exchange.inputs, times)
    _note(told.rest, times)
    return times


def _note(inputs: Sequence[Numbered], times: _Times) -> None:
    for _, event in inputs:
        if isinstance(event, ToolResult):
            times.results.setdefault(event.call, event)
        elif isinstance(event, Observation) and event.call and event.at is not None:
            if event.name in _BEGINS:
                times.began.setdefault(event.call, event.at)
            elif event.name in _ENDS:
                times.ended[event.call] = event.at


class _Growing:
    """The parts so far, and where the open turn stands."""

    def __init__(
        self,
        times: _Times,
        cost: Callable[[RequestUsage], int | None],
        children: Mapping[str, Tree],
    ) -> None:
        self.parts: list[_Part | Span] = []
        """Those inside a subagent are spans: its own tree has rolled them up already."""
        self.texts: list[str] = []
        self._times = times
        self._cost = cost
        self._children = children
        self._placed: set[str] = set()
        self._turn: int | None = None
        self._latest: int | None = None

    def add(self, part: _Part | Span, text: str = "") -> int:
        self.parts.append(part)
        self.texts.append(text)
        return len(self.parts) - 1

    def turn(self, inputs: Sequence[Numbered]) -> None:
        """Begin a turn wherever somebody spoke; a session's first events are one in any case."""
        for seq, event in inputs:
            if isinstance(event, Prompt) and event.origin in _SPEAKERS:
                part = _Part(Level.TURN, seq, 0, _TURN)
                part.started = part.ended = event.at
                if self._turn is not None:
                    part.waited = _between(self._latest, event.at)
                self._turn = self.add(part, event.text)
                self._see(event.at)
        self._see(max((event.at for _, event in inputs if event.at is not None), default=None))

    def request(self, exchange: Exchange, *, last: bool) -> None:
        if self._turn is None:
            self._turn = self.add(_Part(Level.TURN, exchange.seq, 0, _TURN))
        usage = exchange.usage
        part = _Part(Level.REQUEST, exchange.seq, self._turn, _REQUEST, _model(exchange))
        part.requests = 1
        if usage is not None:
            part.input = context_tokens(usage)
            part.output = usage.output
            part.cost = self._cost(usage)
        part.unpriced = int(part.cost is None)
        said = [event.at for _, event in exchange.answers if event.at is not None]
        if usage is not None and usage.at is not None:
            said.append(usage.at)
        given = (event.at for _, event in reversed(exchange.inputs) if event.at is not None)
        part.started = next(given, min(said, default=None))
        part.ended = max(said, default=part.started)
        place = self.add(part)
        if said:
            self._see(part.ended)
        for seq, event in exchange.answers:
            if isinstance(event, ToolCall):
                self._call(seq, event, place, last=last)

    def _call(self, seq: int, call: ToolCall, request: int, *, last: bool) -> None:
        times = self._times
        result = times.results.get(call.call)
        began = times.began.get(call.call)
        part = _Part(Level.CALL, seq, request, _CALL, call.name)
        part.started = call.at if began is None else began
        part.ended = times.ended.get(call.call, result.at if result else None)
        part.waited = _between(call.at, began)
        part.state = _state(result, last=last)
        part.calls = 1
        place = self.add(part, call.text)
        self._see(part.ended)
        if self._children:
            for name in (call.call, (result.child if result else None) or ""):
                if name in self._children and name not in self._placed:
                    self._subagent(name, place, _BELOW_CALL)

    def strays(self) -> None:
        for name in self._children:
            if name not in self._placed:
                self._subagent(name, 0, _TURN)

    def _subagent(self, name: str, parent: int, depth: int) -> None:
        """A subagent's tree below the call that started it."""
        self._placed.add(name)
        top = len(self.parts)
        for below, text in zip(*self._children[name], strict=True):
            if below.parent is None:
                moved = below._replace(level=Level.SUBAGENT, parent=parent, depth=depth)
            else:
                moved = below._replace(parent=below.parent + top, depth=below.depth + depth)
            self.add(moved, text)

    def _see(self, at: int | None) -> None:
        if at is not None and (self._latest is None or at > self._latest):
            self._latest = at


def _speaks(event: AnyEvent) -> bool:
    return isinstance(event, Prompt) and event.origin in _SPEAKERS


def _between(start: int | None, end: int | None) -> int | None:
    return None if start is None or end is None else max(end - start, 0)


def _model(exchange: Exchange) -> str:
    if exchange.usage is not None and exchange.usage.model is not None:
        return exchange.usage.model
    models = (getattr(event, "model", None) for _, event in exchange.answers)
    return next((model for model in models if model is not None), "")


def _state(result: ToolResult | None, *, last: bool) -> State:
    if result is None:
        return State.RUNNING if last else State.ORPHANED
    return _STATES[result.status]


def _rolled_up(parts: Sequence[_Part | Span]) -> list[Span]:
    """Every span with what is below it: children stand after their parents, so from the end."""
    whole: list[Span] = []
    began = [part.started for part in parts]
    ended = [part.ended for part in parts]
    for place in range(len(parts) - 1, -1, -1):
        part = parts[place]
        if isinstance(part, _Part):
            if part.depth < _REQUEST:
                part.started, part.ended = began[place], ended[place]
            span = part.span()
        else:
            span = part
        whole.append(span)
        above = None if span.parent is None else parts[span.parent]
        if span.parent is not None and isinstance(above, _Part):
            _join(above, span)
            began[span.parent] = _first(began[span.parent], began[place])
            ended[span.parent] = _last(ended[span.parent], ended[place])
    whole.reverse()
    return whole


def _join(parent: _Part, child: Span) -> None:
    parent.requests += child.requests
    parent.calls += child.calls
    parent.unpriced += child.unpriced
    if child.input is not None:
        parent.input = child.input + (parent.input or 0)
    if child.output is not None:
        parent.output = child.output + (parent.output or 0)
    if child.cost is not None:
        parent.cost = child.cost + (parent.cost or 0)


def _first(one: int | None, other: int | None) -> int | None:
    return other if one is None or (other is not None and other < one) else one


def _last(one: int | None, other: int | None) -> int | None:
    return other if one is None or (other is not None and other > one) else one
