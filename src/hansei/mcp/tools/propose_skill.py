"""`propose_skill`: an agent's own idea, kept where only a person can let it out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from hansei.mcp.contract import Answer, Arguments, Tool

if TYPE_CHECKING:
    from hansei.mcp.desk import Desk


class Asked(Arguments, frozen=True):
    name: Annotated[str, Meta(min_length=1, max_length=64)]
    description: Annotated[str, Meta(min_length=1, max_length=1_024)]
    body: Annotated[str, Meta(min_length=1, max_length=20_000)]


class Proposed(Answer, frozen=True):
    draft: str
    state: str
    next: str = "A person decides: `hansei skills promote NAME`."


def answer(desk: Desk, asked: Asked) -> Proposed:
    from hansei.ops.skill_drafts import propose

    with desk.opened() as store:
        kept = propose(desk.skills(store), asked.name, asked.description, asked.body)
    return Proposed(kept.name, kept.state)


TOOL = Tool(
    name="propose_skill",
    about="Propose a skill you learned here. It stays quarantined until a person promotes it.",
    arguments=Asked,
    answer=answer,
    writes=True,
)
