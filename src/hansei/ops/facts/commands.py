"""Which commands agents run, how often, and how they end."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hansei.events.model import Status
from hansei.projection.facts.folds import CALLS, COMMANDS

if TYPE_CHECKING:
    from hansei.ops.facts.chosen import Chosen


@dataclass(frozen=True)
class CommandLine:
    """All runs of what a person would call one command."""

    shown: str
    kind: str
    """What it is for: test, build, lint …"""
    runs: int
    sessions: int
    failed: int
    unknown: int
    """Runs whose end nobody knows: a pipe hides it and no summary tells."""
    seconds: float | None
    """The median from call to result; None where no times are recorded."""
    forms: int
    """In how many forms it was written."""
    evidence: list[str]


@dataclass
class _Sum:
    kind: str
    places: list[tuple[int, int]] = field(default_factory=list)
    bad: list[tuple[int, int]] = field(default_factory=list)
    unknown: int = 0
    took: list[int] = field(default_factory=list)
    forms: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Commands:
    calls: int
    parsed: int
    """Shell calls whose text follows a grammar we have."""
    lines: list[CommandLine]


def commands(chosen: Chosen) -> Commands:
    """The programs that calls were about, most often run first."""
    ended = {
        (session, row.seq): (row.status, row.at, row.ended) for session, row in chosen.rows(CALLS)
    }
    sums: dict[tuple[str, str], _Sum] = {}
    grammar: dict[tuple[int, int], bool] = defaultdict(lambda: True)
    for session, row in chosen.rows(COMMANDS):
        place = (session, row.seq)
        grammar[place] &= row.parsed
        if not row.about:
            continue
        found = sums.setdefault((row.shown, row.kind), _Sum(row.kind))
        found.places.append(place)
        found.forms.add(row.form)
        status, began, end = ended.get(place, (Status.UNKNOWN, None, None))
        if status is Status.FAILED:
            found.bad.append(place)
        found.unknown += status is Status.UNKNOWN
        if began is not None and end is not None and end >= began:
            found.took.append(end - began)
    lines = [_line(chosen, shown, found) for (shown, _), found in sums.items()]
    lines.sort(key=lambda it: (-it.runs, it.shown, it.kind))
    return Commands(len(grammar), sum(grammar.values()), lines)


def _line(chosen: Chosen, shown: str, found: _Sum) -> CommandLine:
    took = sorted(found.took)
    return CommandLine(
        shown=shown,
        kind=found.kind,
        runs=len(found.places),
        sessions=len({session for session, _ in found.places}),
        failed=len(found.bad),
        unknown=found.unknown,
        seconds=took[len(took) // 2] / 1000 if took else None,
        forms=len(found.forms),
        evidence=chosen.newest(found.bad or found.places),
    )
