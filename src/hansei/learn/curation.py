"""What would make a skillbook say each thing once, and nothing that is no longer so.

A plan is a list of steps. A step that no judgement is needed for is taken by `--apply`; any other
is shown, and taken only where a person names it. Every step tells the skills as they would be, so
applying is one change of the book and one undo. Everything here is pure.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from hansei.events.keys import digest
from hansei.learn.counters import Standing
from hansei.learn.model import LIVE, State
from hansei.learn.operations import merged

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

    from hansei.learn.model import Skill
    from hansei.learn.operations import Counts

SHORT: Final = 6
"""Characters of a step's name: enough to tell the steps of one plan apart."""


class Kind(StrEnum):
    """What a step is about, in the order a plan shows them."""

    MERGE = "merge"  # several skills that say the same
    SIMILAR = "similar"  # perhaps the same; a person reads both
    CONFLICT = "conflict"  # one asks for what another forbids; a person decides
    STALE = "stale"  # it names what is no longer there
    RETIRE = "retire"  # it does not earn its place
    PROMOTE = "promote"  # it is not heeded where it stands


@dataclass(frozen=True)
class Step:
    """One thing to do to a book, or to decide."""

    kind: Kind
    skills: tuple[str, ...]
    """By name; of those that are merged the first is kept."""
    reason: str
    """Why, in one line, with what it rests on."""
    action: str
    """What applying it does, in one line."""
    wanted: tuple[Skill, ...] = ()
    """The skills as they would be; none where only a person's own edit helps."""
    by_itself: bool = False
    """Whether `--apply` takes it without its being named."""
    details: tuple[str, ...] = ()
    """What a person needs to see to decide: both texts, each with its place."""

    @property
    def id(self) -> str:
        """What names it on the command line: the same as long as it is about the same skills."""
        return digest("\0".join((self.kind, *sorted(self.skills))).encode())[:SHORT]


def in_order(steps: Sequence[Step]) -> list[Step]:
    """Steps as a plan shows them; a skill that one step retires is left out of later ones."""
    kinds = list(Kind)
    found: list[Step] = []
    gone: set[str] = set()
    for step in sorted(steps, key=lambda it: (kinds.index(it.kind), it.skills)):
        if gone.isdisjoint(step.skills):
            found.append(step)
        if step.by_itself:
            gone |= {it.name for it in step.wanted if it.state is State.RETIRED}
    return found


# --- what is said twice ---------------------------------------------------------------------------


def duplicates(
    skills: Sequence[Skill], counts: Mapping[str, Counts], *, by: str = ""
) -> Iterator[Step]:
    """Skills with the same text or the same predicates, merged into the one that did best."""
    known: set[str] = set()
    for same, why in ((_text, "the same text"), (_predicates, "the same when, do and avoid")):
        for group in _grouped([it for it in skills if it.name not in known], same):
            known |= {it.name for it in group}
            yield _merging(group, counts, f"they have {why}", by)


def _grouped(
    skills: Sequence[Skill], same: Callable[[Skill], Hashable | None]
) -> Iterator[list[Skill]]:
    found: dict[Hashable, list[Skill]] = defaultdict(list)
    for skill in skills:
        said = same(skill)
        if said is not None and skill.state in (*LIVE, State.QUARANTINED):
            found[skill.scope, skill.language, said].append(skill)
    return (group for group in found.values() if len(group) > 1)


def _text(skill: Skill) -> Hashable:
    return " ".join(skill.body.split())


def _predicates(skill: Skill) -> Hashable | None:
    """What a machine checks of a skill; None where it asks for nothing that could be checked."""
    return skill.predicates if skill.predicates.do or skill.predicates.avoid else None


def _merging(
    group: Sequence[Skill], counts: Mapping[str, Counts], reason: str, by: str
) -> Step:
    """The step that keeps the best of several; one in quarantine takes the others with it."""
    best, *others = sorted(group, key=lambda it: _merit(it, counts.get(it.name)))
    names = tuple(it.name for it in (best, *others))
    safe = all(it.state in LIVE for it in group)
    return Step(
        Kind.MERGE,
        names,
        reason,
        f"keep {best.name} with the evidence of all, retire {', '.join(names[1:])}",
        tuple(merged(best, others, by=by)),
        by_itself=safe,
    )


_STANDINGS: Final = (Standing.HELPFUL, Standing.MIXED, Standing.UNPROVEN, Standing.HARMFUL)


def _merit(skill: Skill, told: Counts | None) -> tuple[object, ...]:
    """What is kept first: what helped, then what a person approved, then the older."""
    standing = _STANDINGS.index(Standing(told.standing)) if told else _STANDINGS.index(Standing.UNPROVEN)
    helped = (told.helpful or 0) if told else 0
    return standing, -helped, skill.state is not State.APPROVED, skill.created_at, skill.name
