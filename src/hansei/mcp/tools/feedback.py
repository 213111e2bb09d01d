"""`feedback`: what an agent found right or wrong, as a draft that a person may read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from hansei.mcp.contract import Answer, Arguments, Tool

if TYPE_CHECKING:
    from hansei.mcp.desk import Desk


class Asked(Arguments, frozen=True):
    about: Annotated[str, Meta(min_length=1, max_length=100)]
    helpful: bool
    note: Annotated[str, Meta(min_length=1, max_length=4_000)]


class Noted(Answer, frozen=True):
    draft: str
    state: str


def answer(desk: Desk, asked: Asked) -> Noted:
    from hansei.ops.skill_drafts import propose

    judged = "helped" if asked.helpful else "did not help"
    with desk.opened() as store:
        kept = propose(
            desk.skills(store),
            f"feedback-on-{asked.about}",
            f"An agent says that {asked.about} {judged}.",
            asked.note,
        )
    return Noted(kept.name, kept.state)


TOOL = Tool(
    name="feedback",
    about="Say whether a skill, bet or fix helped. Kept as a quarantined note for people.",
    arguments=Asked,
    answer=answer,
    writes=True,
)
