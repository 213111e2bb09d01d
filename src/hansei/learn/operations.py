"""What people do to skills, as pure functions from skills to skills.

Three laws hold for all of them. Only a person's word changes a state. Distrust survives: what is
merged or split keeps the worst label of its sources, and quarantine if one was quarantined. And
nothing is lost: a skill that is merged away or split up is retired, not removed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from hansei.errors import UsageError
from hansei.learn.counters import Standing
from hansei.learn.labels import worst
from hansei.learn.model import Rung, Skill, State, Vote
from hansei.learn.validation import LONGEST_DESCRIPTION, name_from

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hansei.learn.counters import Counters

_HEADING = re.compile(r"(?m)^## +(\S.*)$")
_FENCE = re.compile(r"(?ms)^(`{3,}|~{3,}).*?^\1[^\n]*$")

_FROM: Final = {
    State.APPROVED: (State.DRAFT, State.RETIRED, State.REJECTED),
    State.DRAFT: (State.QUARANTINED,),
    State.REJECTED: (State.DRAFT, State.APPROVED, State.QUARANTINED, State.RETIRED),
    State.RETIRED: (State.DRAFT, State.APPROVED, State.QUARANTINED, State.REJECTED),
}
"""From which states a person may bring a skill into another."""


@dataclass(frozen=True)
class Votes:
    """How many people say that a skill helped, and how many that it harmed."""

    helpful: int
    harmful: int


@dataclass(frozen=True)
class Counts:
    """What sessions tell of a skill, in short, and what people say, apart."""

    votes: Votes
    helpful: int | None = None
    """Sessions in which following it went well; None where nothing tells."""
    harmful: int | None = None
    neutral: int | None = None
    standing: str = Standing.UNPROVEN
    why: str = "nothing was counted yet"
    """What that rests on, or lacks."""


def voted(skill: Skill) -> Votes:
    """What people say: the last word of each."""
    last = {vote.by: vote.helpful for vote in sorted(skill.votes, key=lambda it: it.at)}
    helpful = sum(last.values())
    return Votes(helpful, len(last) - helpful)


def counts(skill: Skill, told: Counters | None) -> Counts:
    """What is said of a skill in one line."""
    if told is None:
        return Counts(voted(skill))
    total = told.total
    if total.followed is None:
        return Counts(voted(skill), standing=total.standing, why=total.why)
    return Counts(
        voted(skill),
        total.helpful.sessions,
        total.harmful.sessions,
        total.neutral.sessions,
        total.standing,
        total.why,
    )


def moved(skill: Skill, state: State, *, by: str, reason: str = "") -> Skill:
    """The skill in another state; refuses what a person must say in two steps."""
    if skill.state is state:
        raise UsageError(f"skill {skill.name!r} is {state} already")
    if skill.state not in _FROM.get(state, ()):
        if skill.state is State.QUARANTINED:
            raise UsageError(
                f"skill {skill.name!r} is quarantined: its text comes from a place not to be"
                " trusted",
                hint=f"Read it, then `hansei skills promote {skill.name}`.",
            )
        raise UsageError(
            f"skill {skill.name!r} is {skill.state}, and only a quarantined one is promoted",
            hint=f"`hansei skills approve {skill.name}` lets it stand in managed blocks.",
        )
    return replace(skill, state=state, owner=by or skill.owner, reason=reason)


def vote(skill: Skill, *, by: str, now: int, helpful: bool, note: str = "") -> Skill:
    """The skill with a person's vote in the place of their last one."""
    others = tuple(it for it in skill.votes if it.by != by)
    return replace(skill, votes=(*others, Vote(by, now, helpful, " ".join(note.split()))))


def merged(kept: Skill, others: Sequence[Skill], *, by: str, reason: str = "") -> list[Skill]:
    """One skill with the evidence of several, and the others retired into it."""
    if not others or kept.name in {it.name for it in others}:
        raise UsageError("merging takes a skill and at least one other")
    every = (kept, *others)
    whole = replace(
        kept,
        evidence=tuple(it for skill in every for it in skill.evidence),
        votes=tuple({vote.by: vote for skill in reversed(every) for vote in skill.votes}.values()),
        label=worst(skill.label for skill in every),
        state=_worst_state(every),
        owner=by or kept.owner,
        reason=reason or f"merged with {', '.join(it.name for it in others)}",
    )
    gone = f"merged into {kept.name}"
    return [whole, *(replace(it, state=State.RETIRED, owner=by, reason=gone) for it in others)]


def split(skill: Skill, taken: Iterable[str], *, by: str) -> list[Skill]:
    """One skill for each second-level heading, and the whole one retired."""
    parts = _sections(skill.body)
    if len(parts) < 2:
        raise UsageError(
            f"skill {skill.name!r} has nothing to split at",
            hint="Give its text two headings of the second level (`## …`), a skill each.",
        )
    names = {skill.name, *taken}
    made: list[Skill] = []
    for title, body in parts:
        name = name_from(f"{skill.name} {title}", names)
        names.add(name)
        description = f"{title}: {skill.description}"[:LONGEST_DESCRIPTION]
        made.append(
            replace(
                skill,
                name=name,
                description=description,
                body=body,
                key="",
                rung=Rung.NOTE,
                version=1,
                votes=(),
                told=None,
                owner=by or skill.owner,
                reason=f"split from {skill.name}",
                created_at=0,
                changed_at=0,
            )
        )
    gone = f"split into {', '.join(it.name for it in made)}"
    return [*made, replace(skill, state=State.RETIRED, owner=by or skill.owner, reason=gone)]


def _sections(body: str) -> list[tuple[str, str]]:
    """Titles and texts; a heading in fenced code is code."""
    code = [found.span() for found in _FENCE.finditer(body)]
    starts = [
        found
        for found in _HEADING.finditer(body)
        if not any(start <= found.start() < end for start, end in code)
    ]
    ends = [*(found.start() for found in starts[1:]), len(body)]
    parts = zip(starts, ends, strict=False)  # without a heading there is one end too many
    return [(found[1].strip(), body[found.start() : end].strip("\n")) for found, end in parts]


def _worst_state(skills: Sequence[Skill]) -> State:
    states = {skill.state for skill in skills}
    return State.QUARANTINED if State.QUARANTINED in states else skills[0].state
