"""One answer for every kind of fact, and an overview of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from hansei.errors import UsageError
from hansei.ops.facts.chosen import Chosen, choose
from hansei.ops.facts.commands import commands
from hansei.ops.facts.corrections import corrections
from hansei.ops.facts.exposure import exposure
from hansei.ops.facts.failures import failures
from hansei.ops.facts.files import files, files_at
from hansei.ops.facts.outcomes import outcomes
from hansei.projection.facts import folds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hansei.ops.scope import Scope
    from hansei.projection.facts.tables import Table
    from hansei.projection.snapshots import Snapshot
    from hansei.store.database import Store

KINDS: Final[dict[str, Callable[[Chosen], Any]]] = {
    "files": files,
    "failures": failures,
    "corrections": corrections,
    "commands": commands,
    "outcomes": outcomes,
    "exposure": exposure,
}
ROWS: Final[dict[str, tuple[Table[Any], ...]]] = {
    "files": (folds.TOUCHES,),
    "failures": (folds.FAILURES, folds.EPISODES),
    "corrections": (folds.CORRECTIONS,),
    "commands": (folds.COMMANDS,),
    "outcomes": (folds.OUTCOMES, folds.MISPLACED, folds.TURNED, folds.BROKE),
    "exposure": (folds.USES,),
}
"""The single facts behind each kind."""


@dataclass(frozen=True)
class Answer:
    workspace: str | None
    sessions: int
    first_at: int | None
    last_at: int | None
    kind: str | None
    found: Any
    """What the kind answers with; of an overview, all of them by name."""


def answer(
    store: Store, scope: Scope, kind: str | None, *, taken: Snapshot | None = None
) -> Answer:
    """The facts of one kind, or of all; files beside what a snapshot holds of them."""
    chosen = choose(store, scope)
    started = [at for at in chosen.started.values() if at is not None]
    asked = KINDS if kind is None else {kind: KINDS[kind]}
    if taken is not None:
        asked = {"files": lambda it: files_at(it, taken)}
    found = {name: ask(chosen) for name, ask in asked.items()} if chosen.names else {}
    return Answer(
        workspace=scope.workspace_name,
        sessions=len(chosen.names),
        first_at=min(started, default=None),
        last_at=max(started, default=None),
        kind=kind,
        found=found if kind is None else found.get(kind),
    )


def single(store: Store, scope: Scope, kind: str | None) -> Iterator[dict[str, Any]]:
    """Every fact of a kind by itself."""
    if kind is None:
        raise UsageError("--rows needs a kind", hint=f"One of {', '.join(ROWS)}.")
    chosen = choose(store, scope)
    for table in ROWS[kind]:
        for session, row in chosen.rows(table):
            yield {"session": chosen.names[session], "row": table.row.__name__, **row._asdict()}
