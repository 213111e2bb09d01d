"""The calls of a session, each with its result, its edits and its command parsed.

What most facts start from: it is put together once and handed to every fold.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from hansei.events.model import (
    Basis,
    FileEdit,
    Origin,
    Prompt,
    Status,
    Tool,
    ToolCall,
    ToolResult,
)
from hansei.projection.commands.parsing import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hansei.config import CommandClass
    from hansei.projection.commands.model import Script
    from hansei.store.reading import Numbered

SPEAKERS = (Origin.HUMAN, Origin.QUEUED_HUMAN, Origin.PARENT_AGENT)
"""Whose prompts begin a turn."""


_STARTED = re.compile(r"Command running in background with ID: (\w+)")
_STILL_RUNNING = (Status.UNKNOWN, Basis.NONE)
_ASKED = ("bash_id", "task_id", "session_id")
"""Arguments that name the shell whose output is fetched."""


class Edited(NamedTuple):
    """A file edit and its number."""

    seq: int
    event: FileEdit


class Shell(NamedTuple):
    """A shell that runs on after the call that started it was answered."""

    text: str
    script: Script


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
    reports: Shell | None = None
    """The shell whose output this call only fetches."""


def calls(events: Sequence[Numbered], own: Mapping[str, CommandClass] | None = None) -> list[Call]:
    """Every call in order; `own` are the patterns of `[commands]` in config.toml."""
    results, edits = _answers(events)
    found: list[Call] = []
    shells = _Shells()
    turn = 0
    for seq, event in events:
        if isinstance(event, Prompt) and event.origin in SPEAKERS:
            turn = seq
        elif isinstance(event, ToolCall):
            result_seq, result = results.get(event.call, (None, None))
            script = parse(event.text, own=own) if event.tool is Tool.SHELL else None
            found.append(
                Call(
                    seq=seq,
                    event=event,
                    turn=turn,
                    result_seq=result_seq,
                    result=result,
                    edits=tuple(edits.get(event.call, ())),
                    script=script,
                    reports=None if script is None else shells.told(event, script, result),
                )
            )
    return found


class _Shells:
    """Shells that run on after their call was answered, by the name they are asked for."""

    def __init__(self) -> None:
        self._known: dict[str, Shell] = {}
        self._unnamed: list[Shell] = []

    def told(self, event: ToolCall, script: Script, result: ToolResult | None) -> Shell | None:
        """The shell that a call asks for; a call that starts one asks for none."""
        if script.commands:
            shell = Shell(event.text, script)
            if result is not None and (named := _STARTED.match(result.text)):
                self._known[named[1]] = shell
            elif result is not None and (result.status, result.basis) == _STILL_RUNNING:
                self._unnamed.append(shell)
            return None
        asked = next((str(event.arguments[key]) for key in _ASKED if key in event.arguments), "")
        if asked and asked not in self._known and len(self._unnamed) == 1:
            self._known[asked] = self._unnamed.pop()
        return self._known.get(asked)


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
