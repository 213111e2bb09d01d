"""The events of a session by kind, sorted out once for every step."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hansei.events.model import (
    KINDS,
    Compaction,
    Notice,
    Prompt,
    Reply,
    RequestUsage,
    SlashCommand,
    Thought,
)
from hansei.projection.calls import SPEAKERS
from hansei.projection.funnel.listing import INJECTING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from hansei.store.reading import Numbered


class Record(NamedTuple):
    """What the steps look at, each with its number, in order."""

    prompts: list[tuple[int, Prompt]]
    """Those that begin a turn."""
    injected: list[tuple[int, Prompt]]
    """Those that the program wrote."""
    notices: list[tuple[int, Notice]]
    commands: list[tuple[int, SlashCommand]]
    spoken: list[tuple[int, Reply | Thought]]
    requests: list[int]
    thinks_unseen: bool
    """Whether requests were billed for reasoning and no thought is recorded."""
    compactions: list[int]
    """Those that replace the whole context."""
    roots: list[str]
    """The folder the session began in."""


def record(events: Sequence[Numbered]) -> Record:
    """Sort out the events of a session."""
    kinds: dict[type, list[Any]] = {kind: [] for kind in KINDS}
    for numbered in events:
        kinds[numbered[1].__class__].append(numbered)
    prompts: list[tuple[int, Prompt]] = kinds[Prompt]
    compactions: list[tuple[int, Compaction]] = kinds[Compaction]
    requests: list[tuple[int, RequestUsage]] = kinds[RequestUsage]
    return Record(
        prompts=[it for it in prompts if it[1].origin in SPEAKERS],
        injected=[it for it in prompts if it[1].origin in INJECTING],
        notices=kinds[Notice],
        commands=kinds[SlashCommand],
        spoken=sorted(kinds[Reply] + kinds[Thought], key=lambda it: it[0]),
        requests=[seq for seq, _ in requests],
        thinks_unseen=not kinds[Thought] and any(event.reasoning for _, event in requests),
        compactions=[seq for seq, event in compactions if not event.partial],
        roots=next(([event.cwd] for _, event in events if event.cwd), []),
    )
