"""A session's tree and its context as people read them: values in, lines out."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

import click

from hansei.cli import output
from hansei.cli.output import Column, bold, dim, one_line
from hansei.events.model import Notice, SlashCommand, ToolCall, ToolResult
from hansei.projection.provenance import Kind, Thoughts
from hansei.projection.spans import Level, State

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hansei.events.model import AnyEvent
    from hansei.projection.provenance import Carried, Provenance
    from hansei.projection.spans import Span, Tree
    from hansei.store.reading import Numbered

LARGEST = 15
"""Pieces listed one by one."""
BAR = 30
"""Columns of the longest bar."""
LEAST = 24
"""Columns of a prompt or a command that are worth more than another fact about it."""
MOMENTS = 16
"""Requests at which the context is drawn."""
MARKS = {
    Kind.PREFIX: ".",
    Kind.INSTRUCTIONS: "i",
    Kind.PROMPT: "p",
    Kind.INJECTED: "j",
    Kind.READ: "r",
    Kind.COMMAND: "c",
    Kind.SEARCH: "s",
    Kind.EDIT: "e",
    Kind.WEB: "w",
    Kind.MCP: "m",
    Kind.SUBAGENT: "a",
    Kind.TOOL: "t",
    Kind.REPLY: "o",
    Kind.CALL: "l",
    Kind.THOUGHT: "h",
    Kind.SUMMARY: "z",
    Kind.UNEXPLAINED: "?",
}
"""What a kind is drawn with."""
MEANINGS: dict[str, str] = {
    Kind.PREFIX: "system prompt and tool schemas",
    Kind.INJECTED: "by the agent program or a hook",
    Kind.EDIT: "edits the model wrote, and their results",
    Kind.CALL: "other calls the model wrote",
    Kind.SUMMARY: "what a compaction left",
    Kind.UNEXPLAINED: "no event accounts for it",
    "aside": "requests beside the conversation",
}
_THOUGHTS = {
    Thoughts.KEPT: "thoughts stay",
    Thoughts.TURN: "thoughts stay until the next prompt",
    Thoughts.NEVER: "thoughts are not sent back",
}
_COLOURS = {
    State.OK: "green",
    State.FAILED: "red",
    State.UNKNOWN: "yellow",
    State.ORPHANED: "yellow",
    State.RUNNING: "cyan",
}


def tree_lines(found: Tree) -> Iterator[str]:
    """One line per span, children indented below their parents.

    A request names its model where that is another than the one before.
    """
    model = None
    for span, said in zip(*found, strict=True):
        new = span.level is Level.REQUEST and span.name != model
        model = span.name if new else model
        mark = f"#{span.seq}" if span.seq is not None else ""
        head = f"{mark:>6} {'  ' * span.depth}{_label(span, model=new)}"
        room = output.terminal_width() - output.width(head) - 4
        facts = _fitting(list(_facts(span)), room - min(LEAST, output.width(said)))
        told = " · ".join(facts)
        text = output.cut(one_line(said), max(room - len(told), 1)) if said else ""
        yield f"{head}{'  ' if text else ''}{text}  {dim(told)}".rstrip()


def _fitting(facts: list[str], room: int) -> list[str]:
    """As many facts as there is room for: those in the middle go first, the first one stays."""
    while len(facts) > 1 and len(" · ".join(facts)) > room:
        del facts[1]
    return facts


def _label(span: Span, *, model: bool) -> str:
    match span.level:
        case Level.SESSION:
            return bold("session")
        case Level.TURN:
            return click.style("turn", fg="green", bold=True)
        case Level.REQUEST:
            return dim(f"request {one_line(span.name) if model else ''}".rstrip())
        case Level.SUBAGENT:
            return bold(f"subagent {one_line(span.name.rpartition('/')[2])}")
        case Level.CALL:
            name = click.style(one_line(span.name), fg="blue")
            if span.state is None:
                return name
            return f"{name} {click.style(span.state, fg=_COLOURS[span.state])}"


def _facts(span: Span) -> Iterator[str]:
    if span.lasted is not None:
        yield seconds(span.lasted)
    if span.waited:
        yield f"after {seconds(span.waited)} of waiting"
    if span.level in (Level.SESSION, Level.TURN, Level.SUBAGENT):
        yield output.plural(span.requests, "request")
        yield output.plural(span.calls, "call")
    if span.input is not None or span.output is not None:
        yield f"{output.tokens(span.input)} in, {output.tokens(span.output)} out"
    if span.cost is not None:
        part = "" if not span.unpriced else " or more"
        yield f"{output.dollars(span.cost)}{part}"


def seconds(milliseconds: int) -> str:
    """A time as short as it can be said: 0.4 s, 12 s, 3 min 05, 2 h 10."""
    if milliseconds < 10_000:
        return f"{milliseconds / 1000:.1f} s"
    whole = milliseconds // 1000
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest:02}"
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest:02}"


def context_lines(found: Provenance, events: Sequence[Numbered]) -> Iterator[str]:
    """Totals by kind as bars, then the pieces that cost the most rent."""
    if not found.requests:
        yield "No request of this session tells its tokens, so nothing is known of its context."
        return
    told = (
        f"{output.tokens(found.billed)} input tokens billed in"
        f" {output.plural(found.requests, 'request')}"
        f" · {_rate(found)}"
        f"{f' · {found.untold:,} more tell no tokens' if found.untold else ''}"
    )
    yield from map(dim, output.wrapped(told, 2))
    yield from _bars(found)
    yield from _legend(found)
    yield ""
    yield bold("The context as it grew: a line for a request, a letter for each kind")
    yield from flame(found, output.terminal_width())
    yield ""
    yield bold("What was paid for most: its tokens, with every request that carried them")
    yield from _largest(found, dict(events))
    yield from _left(found)


def _rate(found: Provenance) -> str:
    fitted = f"sizes fitted on {output.plural(found.rates.steps, 'step')}"
    thinks = any(it.kind is Kind.THOUGHT for it in found.pieces)
    return f"{fitted} · {_THOUGHTS[found.rates.thoughts]}" if thinks else fitted


def _legend(found: Provenance) -> Iterator[str]:
    """What the kinds mean whose name does not say it."""
    present = {it.kind for it in found.totals}
    parts = [f"{kind}: {meaning}" for kind, meaning in MEANINGS.items() if kind in present]
    for line in wrap("; ".join(parts), output.terminal_width()):
        yield dim(line)


def _bars(found: Provenance) -> Iterator[str]:
    totals = found.totals
    most = max((it.billed for it in totals), default=0) or 1
    drawn_with = {str(kind): mark for kind, mark in MARKS.items()}
    columns = [
        Column("kind", "left"),
        Column("", "left"),
        Column("billed"),
        Column("share"),
        Column("put in", drop=1),
        Column("pieces", drop=2),
        Column("", "left", drop=3),
    ]
    rows = [
        (
            it.kind,
            drawn_with.get(it.kind, ""),
            output.tokens(it.billed),
            f"{it.billed / found.billed:.1%}",
            output.tokens(it.tokens),
            f"{it.pieces:,}",
            "█" * max(1, round(BAR * it.billed / most)),
        )
        for it in totals
    ]
    yield from output.table(columns, rows)


def flame(found: Provenance, columns: int) -> Iterator[str]:
    """What the context was made of, at a few requests from the first to the last."""
    moments = sorted({it.since for it in found.pieces} | {it.until or 0 for it in found.pieces})
    moments = [it for it in moments if it]
    chosen = sorted({moments[(len(moments) - 1) * it // (MOMENTS - 1)] for it in range(MOMENTS)})
    made = [_made_of(found, moment) for moment in chosen]
    largest = max(sum(it.values()) for it in made)
    room = max(columns - 18, 10)
    for moment, kinds in zip(chosen, made, strict=True):
        whole = 0
        drawn = ""
        for kind, mark in MARKS.items():
            whole += kinds.get(kind, 0)
            drawn += mark * (round(room * whole / largest) - len(drawn))
        yield f"{f'#{moment}':>7} {output.tokens(sum(kinds.values())):>8} {drawn}"


def _made_of(found: Provenance, moment: int) -> dict[Kind, int]:
    kinds: dict[Kind, int] = {}
    for piece in found.pieces:
        if piece.since <= moment and (piece.until is None or piece.until > moment):
            kinds[piece.kind] = kinds.get(piece.kind, 0) + piece.tokens
    return kinds


def _largest(found: Provenance, events: Mapping[int, AnyEvent]) -> Iterator[str]:
    calls = {it.call: it for it in events.values() if isinstance(it, ToolCall)}
    heaviest = sorted(found.pieces, key=lambda it: (-it.billed, it.seq, it.kind))[:LARGEST]
    columns = [
        Column("event", "left"),
        Column("kind", "left"),
        Column("tokens"),
        Column("carried"),
        Column("billed"),
        Column("what", "left", flexible=True),
    ]
    rows = [
        (
            f"#{it.seq}",
            it.kind,
            output.tokens(it.tokens),
            f"×{it.requests:,}",
            output.tokens(it.billed),
            one_line(_what(it, events.get(it.seq), calls)),
        )
        for it in heaviest
    ]
    yield from output.table(columns, rows)


def _what(piece: Carried, event: AnyEvent | None, calls: Mapping[str, ToolCall]) -> str:
    if piece.label:
        return piece.label
    if piece.kind is Kind.PREFIX or piece.kind is Kind.UNEXPLAINED:
        return MEANINGS[piece.kind]
    if isinstance(event, ToolResult):
        call = calls.get(event.call)
        return f"{call.name} {call.text}" if call else event.text
    if isinstance(event, ToolCall):
        return f"{event.name} {event.text}"
    if isinstance(event, SlashCommand | Notice):
        return event.name
    text = getattr(event, "text", "")
    return text if isinstance(text, str) else ""


def _left(found: Provenance) -> Iterator[str]:
    sums: dict[str, int] = {}
    for piece in found.pieces:
        if piece.left is not None:
            sums[piece.left] = sums.get(piece.left, 0) + piece.tokens
    words = {
        "compacted": "replaced by compactions",
        "dropped": "dropped without a word",
        "turn": "thoughts that left with their turn",
    }
    parts = [f"{output.tokens(sums[it])} {words[it]}" for it in words if it in sums]
    if parts:
        yield ""
        yield dim(f"Left the context: {', '.join(parts)}.")
