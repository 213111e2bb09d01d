"""`experiments`: did a change like this already help, or fail?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from hansei.mcp.contract import Answer, Arguments, Tool
from hansei.mcp.quotes import inert

if TYPE_CHECKING:
    from hansei.mcp.desk import Desk
    from hansei.ops.experiments.precedents import Precedent

LONGEST = 300


class Asked(Arguments, frozen=True):
    about: Annotated[str, Meta(max_length=4_000)] = ""


class Change(Answer, frozen=True):
    id: str
    kind: str
    what: str
    stage: str
    verdict: str | None = None
    randomised: bool = False
    sessions_without_and_with: tuple[int, int] | None = None
    reason: str | None = None
    likeness: float = 1.0


class Experiments(Answer, frozen=True):
    changes: tuple[Change, ...] = ()


def answer(desk: Desk, asked: Asked) -> Experiments:
    from hansei.ops.experiments.precedents import precedents

    with desk.with_facts() as (store, scope):
        assert scope.workspace is not None
        found = precedents(store, scope.workspace, desk.here, desk.clock(), asked.about)
    return Experiments(tuple(map(_change, found)))


def _change(it: Precedent) -> Change:
    return Change(
        id=it.id,
        kind=it.kind,
        what=inert(it.what, LONGEST),
        stage=it.stage,
        verdict=it.verdict,
        randomised=it.randomised,
        sessions_without_and_with=it.sessions,
        reason=it.reason and inert(it.reason, LONGEST),
        likeness=it.likeness,
    )


TOOL = Tool(
    name="experiments",
    about="Changes tried here and whether they helped. `about`: a file, rule text or bet id, "
    "to see if something like it already failed.",
    arguments=Asked,
    answer=answer,
)
