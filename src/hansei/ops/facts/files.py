"""Which files agents read and change most, and what they read again without need."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from hansei.projection.facts.folds import CALLS, PIECES, TOUCHES
from hansei.projection.files import LOOKS, Again, Extent, Verb

if TYPE_CHECKING:
    from hansei.ops.facts.chosen import Chosen
    from hansei.projection.files import Touch
    from hansei.projection.snapshots import FileFacts, Snapshot


@dataclass(frozen=True)
class FileLine:
    """One file over all sessions in scope."""

    path: str
    workspace: str
    inside: bool
    """Whether it lies in the repository."""
    sessions: int
    reads: int
    redundant: int
    """Reads that brought lines which were in the context already, unchanged."""
    redundant_tokens: int | None
    """Derived: what those put into contexts, each once; None where no agent tells tokens."""
    edits: int
    fan_out: int
    """The most calls that touched it in one turn."""
    evidence: list[str]
    at_commit: AtCommit | None = None
    """What the repository holds of it at the commit asked for."""


@dataclass(frozen=True)
class AtCommit:
    """A file in a snapshot."""

    language: str | None
    lines: int | None
    symbols: int | None
    is_test: bool
    commits_30: int
    commits_90: int
    authors_90: int


@dataclass
class _Sum:
    inside: bool
    sessions: set[int] = field(default_factory=set)
    reads: int = 0
    edits: int = 0
    again: list[tuple[int, int]] = field(default_factory=list)
    places: list[tuple[int, int]] = field(default_factory=list)
    turns: Counter[tuple[int, int]] = field(default_factory=Counter)
    counted: set[tuple[int, int]] = field(default_factory=set)


def files_at(chosen: Chosen, taken: Snapshot) -> list[FileLine]:
    """The same beside what the repository held at a commit; files it did not hold stay without."""
    held = {it.path: it for it in taken.files}
    return [
        replace(line, at_commit=_held(held[line.path]) if line.path in held else None)
        for line in files(chosen)
    ]


def _held(file: FileFacts) -> AtCommit:
    return AtCommit(
        language=file.language,
        lines=file.holds.lines,
        symbols=None if file.holds.symbols is None else len(file.holds.symbols),
        is_test=file.is_test,
        commits_30=file.churn_30.commits,
        commits_90=file.churn_90.commits,
        authors_90=len(file.churn_90.authors),
    )


def files(chosen: Chosen) -> list[FileLine]:
    """Files by what reading them again took, then by how many calls touched them."""
    sums: dict[tuple[str, str], _Sum] = {}
    for session, row in chosen.rows(TOUCHES):
        if row.verb is not Verb.LIST and not row.path.endswith("/"):
            file = (chosen.workspaces[session], row.path)
            _add(sums.setdefault(file, _Sum(row.inside)), session, row)
    entered = _entered(chosen)
    lines = [_line(chosen, *file, found, entered) for file, found in sums.items()]
    return sorted(
        lines,
        key=lambda it: (
            -(it.redundant_tokens or 0),
            -it.redundant,
            -(it.reads + it.edits),
            it.path,
            it.workspace,
        ),
    )


def _add(found: _Sum, session: int, row: Touch) -> None:
    place = (session, row.seq)
    found.sessions.add(session)
    found.places.append(place)
    if row.verb not in LOOKS:
        found.edits += 1
    elif row.extent is not Extent.NOTHING:
        found.reads += 1
    if row.redundant is not None and row.again is Again.REPEAT:
        found.again.append(place)
    if place not in found.counted:  # a call may touch a file in two ways
        found.counted.add(place)
        found.turns[session, row.turn] += 1


def _entered(chosen: Chosen) -> dict[tuple[int, int], int]:
    """What each call's result put into the context, by call."""
    results = {(s, row.result): row.seq for s, row in chosen.rows(CALLS) if row.result is not None}
    entered: dict[tuple[int, int], int] = defaultdict(int)
    for session, piece in chosen.rows(PIECES):
        call = results.get((session, piece.seq))
        if call is not None:
            entered[session, call] += piece.tokens
    return entered


def _line(
    chosen: Chosen, workspace: str, path: str, found: _Sum, entered: dict[tuple[int, int], int]
) -> FileLine:
    known = [entered[place] for place in set(found.again) if place in entered]
    return FileLine(
        path=path,
        workspace=workspace,
        inside=found.inside,
        sessions=len(found.sessions),
        reads=found.reads,
        redundant=len(found.again),
        redundant_tokens=sum(known) if known or not found.again else None,
        edits=found.edits,
        fan_out=max(found.turns.values()),
        evidence=chosen.newest(found.again or found.places),
    )
