"""`skills`: what was learned here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from hansei.learn.model import Skill as Kept
from hansei.learn.model import State
from hansei.mcp.contract import Answer, Arguments, Tool
from hansei.mcp.quotes import Quote, inert, quote

if TYPE_CHECKING:
    from hansei.mcp.desk import Desk

LONGEST = 6_000
"""Characters of a skill's text."""


class Asked(Arguments, frozen=True):
    name: Annotated[str, Meta(max_length=64)] = ""


class Skill(Answer, frozen=True):
    """An approved skill says what to do; of any other only a quote is told."""

    skill: str
    state: str
    about: str = ""
    says: str = ""
    unapproved: Quote | None = None


class Skills(Answer, frozen=True):
    skills: tuple[Skill, ...] = ()
    unreadable: int = 0


def answer(desk: Desk, asked: Asked) -> Skills:
    from hansei.ops.skills import find, listed

    if asked.name:
        _, skill = find(desk.config, desk.here, asked.name)
        return Skills((_skill(skill, whole=True),))
    found, problems = listed(desk.config, desk.here)
    shown = [it for _, it in found if it.state not in (State.REJECTED, State.RETIRED)]
    shown.sort(key=lambda it: (it.state is not State.APPROVED, it.name))
    return Skills(tuple(_skill(it, whole=False) for it in shown), len(problems))


def _skill(it: Kept, *, whole: bool) -> Skill:
    if it.state is not State.APPROVED:
        text = f"{it.description} {it.body}" if whole else it.description
        said = quote(text, f"{it.origin}, first seen as {it.label}", LONGEST)
        return Skill(it.name, it.state, unapproved=said)
    return Skill(it.name, it.state, inert(it.description), it.body[:LONGEST] if whole else "")


TOOL = Tool(
    name="skills",
    about="Skills learned here; with a name, one in full.",
    arguments=Asked,
    answer=answer,
)
