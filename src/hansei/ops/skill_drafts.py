"""Drafts that agents hand in: kept in quarantine, written nowhere, until a person promotes one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hansei.errors import UsageError
from hansei.learn.model import Label, Skill, State
from hansei.learn.validation import name_from
from hansei.ops import skills

if TYPE_CHECKING:
    from hansei.ops.skills import Desk

MOST: Final = 50
"""Drafts of agents that wait at a time: a person reads no more, and an agent in a loop stops."""
AGENT: Final = "agent"


def propose(desk: Desk, name: str, description: str, body: str) -> Skill:
    """Keep a draft of an agent's; one of that name that a person has is never touched."""
    known = [it for _, it in skills.listed(desk.config, desk.here)[0]]
    waiting = [it for it in known if it.origin == AGENT and it.state is State.QUARANTINED]
    if len(waiting) >= MOST:
        raise UsageError(
            f"{MOST} drafts of agents are waiting for a person already",
            hint="`hansei skills list` shows them; promote or reject some first.",
        )
    same = [it for it in waiting if (it.description, it.body) == (description, body.strip())]
    if same:
        return same[0]
    draft = Skill(
        name=name_from(name, [it.name for it in known]),
        description=description,
        body=body.strip(),
        state=State.QUARANTINED,
        origin=AGENT,
        label=Label.PROPOSED,
        owner=AGENT,
        created_at=desk.now,
        changed_at=desk.now,
    )
    return skills.add(desk, draft, place=False).skills[0]
