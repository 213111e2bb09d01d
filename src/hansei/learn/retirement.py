"""Skills that pay for nothing: carried for long, and never once needed.

A text in force is sent with every request of a session, so what a skill takes is its tokens times
the requests that carried it. One that is unproven and that no session ever came to the point of,
though many had it for weeks, is proposed for retirement with that figure. Whoever is young, was
never in force, or would have been needed where it was not, is left alone. Everything here is pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hansei.config import DAY_MS
from hansei.instructions.sizes import size
from hansei.learn import compile as compiling
from hansei.learn.counters import How, Standing
from hansei.learn.curation import Kind, Step
from hansei.learn.model import LIVE, State
from hansei.learn.operations import moved, voted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hansei.learn.counters import Case, Counters
    from hansei.learn.model import Skill

SESSIONS: Final = 20
"""That must have had it without a point to use it: then, 95 times of 100, fewer than 14 of the next
hundred come to one (1 - 0.05 ** (1 / 20))."""
DAYS: Final = 30
"""From the first session that had it until now: what comes up once a month has had its chance."""
TOKENS: Final = 10_000
"""Of rent: below that, reading this proposal takes more than it spares."""


@dataclass(frozen=True)
class Rent:
    """What a skill took so far. Where the requests of a session are unknown they are not counted,
    so it is the least."""

    tokens: int
    sessions: int
    requests: int
    days: int
    """From the first session that had it until now."""


def rent(skill: Skill, told: Counters, requests: Mapping[str, int], now: int) -> Rent:
    """What the sessions that had a skill paid for it; `requests` are counted by session."""
    tokens = carried = 0
    for case in told.cases:
        count = requests.get(case.session, 0)
        tokens += count * taken(skill, case)
        carried += count
    begun = [it.started for it in told.cases if it.started is not None]
    days = max(0, now - min(begun)) // DAY_MS if begun else 0
    return Rent(tokens, len(told.cases), carried, days)


def taken(skill: Skill, case: Case) -> int:
    """Tokens of a skill in each request of a session that had it, by how it had it."""
    listed = set(case.how) == {How.LISTED}
    line = f"- {skill.name}: {skill.description}\n"
    return size(line if listed else compiling.whole(skill)).tokens


def retirements(
    skills: Sequence[Skill],
    told: Mapping[str, Counters],
    requests: Mapping[str, int],
    *,
    now: int,
    by: str = "",
) -> Iterator[Step]:
    """The skills that do not earn their place, the dearest first."""
    found = []
    for skill in skills:
        counted = told.get(skill.name)
        if counted is None or not _is_idle(skill, counted):
            continue
        paid = rent(skill, counted, requests, now)
        if paid.sessions >= SESSIONS and paid.days >= DAYS and paid.tokens >= TOKENS:
            found.append((paid, skill))
    for paid, skill in sorted(found, key=lambda it: (-it[0].tokens, it[1].name)):
        yield _retiring(skill, paid, by)


def _is_idle(skill: Skill, told: Counters) -> bool:
    """Whether nothing ever asked for a skill, as far as a machine can tell that."""
    total = told.total
    said = voted(skill)
    if skill.state not in LIVE or total.standing is not Standing.UNPROVEN:
        return False
    if said.helpful > said.harmful or told.unexposed or told.unknown or total.loaded:
        return False
    if total.triggered or total.followed or total.violated:
        return False
    if total.triggered is not None or total.violated is not None:
        return True
    # Nothing says when it applies: only an agent that had to load it tells whether it did.
    return all(set(it.how) == {How.LISTED} for it in told.cases)


def _retiring(skill: Skill, paid: Rent, by: str) -> Step:
    about = f"{paid.sessions} sessions in {paid.days} days"
    figure = f"at least {paid.tokens:,} tokens over {paid.requests:,} requests"
    reason = f"{about} had it and none came to use it; it took {figure}"
    return Step(
        Kind.RETIRE,
        (skill.name,),
        reason,
        "retire it: it is written nowhere any more, and kept for its story",
        wanted=(moved(skill, State.RETIRED, by=by, reason=reason),),
        by_itself=True,
    )
