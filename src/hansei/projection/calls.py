"""The calls of a session, each with its result, its edits and its command parsed.

What most facts start from: it is put together once and handed to every fold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hansei.events.model import FileEdit, Origin, Prompt, Tool, ToolCall, ToolResult
from hansei.projection.commands.parsing import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hansei.config import CommandClass
    from hansei.projection.commands.model import Script
    from hansei.store.reading import Numbered

SPEAKERS = (Origin.HUMAN, Origin.QUEUED_HUMAN, Origin.PARENT_AGENT)
"""Whose prompts begin a turn."""


class Edited(NamedTuple):
    """A file edit and its number."""

    seq: int
    event: FileEdit


class Call(NamedTuple):
    """A tool call with what came of it."""

    seq: int
    event: ToolCall
    turn: int
    """The number of the prompt it follows; 0 where none came before."""
    result_seq: int | None
    result: ToolResult | None
    edits: tuple[Edited, ...]
    script: Script | None
    """What a shell call runs; None for other tools."""


def calls(events: Sequence[Numbered], own: Mapping[str, CommandClass] | None = None) -> list[Call]:
    """Every call in order; `own` are the patterns of `[commands]` in config.toml."""
    results, edits = _answers(events)
    found = []
    turn = 0
    for seq, event in events:
        if isinstance(event, Prompt) and event.origin in SPEAKERS:
            turn = seq
        elif isinstance(event, ToolCall):
            result_seq, result = results.get(event.call, (None, None))
            found.append(
                Call(
                    seq=seq,
                    event=event,
                    turn=turn,
                    result_seq=result_seq,
                    result=result,
                    edits=tuple(edits.get(event.call, ())),
                    script=parse(event.text, own=own) if event.tool is Tool.SHELL else None,
                )
            )
    return found


def _answers(
    events: Iterable[Numbered],
) -> tuple[dict[str, tuple[int, ToolResult]], dict[str, list[Edited]]]:
    results: dict[str, tuple[int, ToolResult]] = {}
    edits: dict[str, list[Edited]] = {}
    for seq, event in events:
        if isinstance(event, ToolResult):
            results.setdefault(event.call, (seq, event))
        elif isinstance(event, FileEdit):
            edits.setdefault(event.call, []).append(Edited(seq, event))
    return results, edits
