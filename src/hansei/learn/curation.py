"""What would make a skillbook say each thing once, and nothing that is no longer so.

A plan is a list of steps. A step that no judgement is needed for is taken by `--apply`; any other
is shown, and taken only where a person names it. Every step tells the skills as they would be, so
applying is one change of the book and one undo. Everything here is pure.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations
from math import log1p
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.events.keys import digest
from hansei.instructions.agreement import compared
from hansei.instructions.findings import REASONS, since
from hansei.instructions.statements import Place, statements
from hansei.learn.counters import Standing
from hansei.learn.model import LIVE, State
from hansei.learn.operations import merged, moved
from hansei.learn.wordings import wording
from hansei.projection.commands.rivals import families

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

    from hansei.instructions.departures import Stale
    from hansei.instructions.statements import Statement
    from hansei.learn.model import Predicates, Skill
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


def plan(
    skills: Sequence[Skill],
    counts: Mapping[str, Counts],
    *,
    files: Sequence[Statement] = (),
    stale: Mapping[str, Sequence[Stale]] = MappingProxyType({}),
    books: Mapping[str, str] = MappingProxyType({}),
    by: str = "",
) -> list[Step]:
    """What to do to the skills of a folder.

    `files` is what its instruction files say, `stale` what each skill names that is gone, `books`
    which book each is kept in.
    """
    live = [it for it in skills if it.state in LIVE]
    steps = [
        *duplicates(skills, counts, books, by=by),
        *conflicts(live, files),
        *outdated(live, stale, by=by),
    ]
    told = {frozenset(it.skills) for it in steps}
    likely = (it for it in similar(live, counts, by=by) if frozenset(it.skills) not in told)
    return in_order([*steps, *likely])


def in_order(steps: Sequence[Step]) -> list[Step]:
    """Steps as a plan shows them.

    A skill that one step retires by itself is in no later one, and no skill is changed by itself
    twice: the next plan sees how it is then.
    """
    kinds = list(Kind)
    found: list[Step] = []
    changed: set[str] = set()
    gone: set[str] = set()
    for step in sorted(steps, key=lambda it: (kinds.index(it.kind), it.skills)):
        closed = changed if step.by_itself else gone
        if closed.isdisjoint(step.skills):
            found.append(step)
            new = step.wanted if step.by_itself else ()
            changed |= {it.name for it in new}
            gone |= {it.name for it in new if it.state is State.RETIRED}
    return found


# --- what is said twice ---------------------------------------------------------------------------


def duplicates(
    skills: Sequence[Skill], counts: Mapping[str, Counts], books: Mapping[str, str], *, by: str = ""
) -> Iterator[Step]:
    """Skills with the same text or the same predicates, merged into the one that did best.

    What is kept in two books is for a person to merge: one of them may be shared with others.
    """
    known: set[str] = set()
    for same, why in ((_text, "the same text"), (_predicates, "the same when, do and avoid")):
        for group in _grouped([it for it in skills if it.name not in known], same):
            known |= {it.name for it in group}
            step = _merging(group, counts, f"they have {why}", by)
            apart = len({books.get(it.name) for it in group}) > 1
            yield replace(step, by_itself=step.by_itself and not apart)


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


def _merging(group: Sequence[Skill], counts: Mapping[str, Counts], reason: str, by: str) -> Step:
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
    standing = _STANDINGS.index(Standing(told.standing if told else Standing.UNPROVEN))
    helped = (told.helpful or 0) if told else 0
    return standing, -helped, skill.state is not State.APPROVED, skill.created_at, skill.name


# --- what is perhaps said twice -------------------------------------------------------------------

_CODE: Final = re.compile(r"`+([^`\n]+)`+")
_WORD: Final = re.compile(r"[^\W\d_]{3,}")
CODE_WEIGHT: Final = 3.0
"""A command, path or name says more of what a skill is about than any word around it."""
CONTAINED: Final = 0.7
"""Of what the shorter of two skills says, weighed; below, they share a subject and no more."""
CODE_CONTAINED: Final = 0.5
"""Of its code alone: detectors put the same words around every command."""


class _Tokens(NamedTuple):
    code: frozenset[str]
    words: frozenset[str]


def similar(
    skills: Sequence[Skill], counts: Mapping[str, Counts], *, by: str = ""
) -> Iterator[Step]:
    """Pairs of which one says most of what the other says; a person reads both and decides."""
    tokens = {it.name: _tokens(it) for it in skills}
    times = Counter(token for it in tokens.values() for token in (*it.code, *it.words))
    weights = {token: log1p(len(skills) / count) for token, count in times.items()}
    for one, other in combinations(skills, 2):
        share = _contained(tokens[one.name], tokens[other.name], weights)
        if share >= CONTAINED and (one.scope, one.language) == (other.scope, other.language):
            step = _merging(
                (one, other), counts, f"{share:.0%} of the shorter one stands in the other", by
            )
            details = tuple(f"{it.name}: {it.description}" for it in (one, other))
            yield replace(step, kind=Kind.SIMILAR, by_itself=False, details=details)


def _tokens(skill: Skill) -> _Tokens:
    text = f"{skill.description}\n{skill.body}"
    spans = (*_CODE.findall(text), *skill.predicates.do, *skill.predicates.avoid)
    code = {" ".join(it.split()) for it in (*spans, skill.predicates.command)}
    words = {it.casefold() for it in _WORD.findall(_CODE.sub(" ", text))}
    return _Tokens(frozenset(code - {""}), frozenset(words))


def _contained(one: _Tokens, other: _Tokens, weights: Mapping[str, float]) -> float:
    """How much of the lighter one the other holds, code weighing most."""
    if not one.code or not other.code:
        return 0.0
    if len(one.code & other.code) < CODE_CONTAINED * min(len(one.code), len(other.code)):
        return 0.0

    def weight(code: frozenset[str], words: frozenset[str]) -> float:
        return CODE_WEIGHT * sum(weights[it] for it in code) + sum(weights[it] for it in words)

    common = weight(one.code & other.code, one.words & other.words)
    return common / min(weight(*one), weight(*other))


# --- what cannot both be followed -----------------------------------------------------------------


def conflicts(skills: Sequence[Skill], files: Sequence[Statement] = ()) -> Iterator[Step]:
    """Pairs of skills, and skills and instruction files, that ask for opposites."""
    known: set[frozenset[str]] = set()
    for one, other in combinations(skills, 2):
        reason = _opposed(one.predicates, other.predicates)
        if reason:
            known.add(frozenset((one.name, other.name)))
            details = tuple(f"{it.name}: {it.description}" for it in (one, other))
            yield _deciding((one.name, other.name), reason, details)
    own = [it for skill in skills for it in said_by(skill)]
    ours = {id(it) for it in own}
    for it in compared([*own, *files]).conflicts:
        names = tuple(dict.fromkeys(s.place.skill for s in (it.one, it.other) if id(s) in ours))
        if names and frozenset(names) not in known:
            details = tuple(f"{s.path}:{s.line}: {s.text}" for s in (it.one, it.other))
            yield _deciding(names, REASONS[it.how], details)


def said_by(skill: Skill) -> list[Statement]:
    """What a skill says, sentence by sentence."""
    return list(statements(f"skill {skill.name}", skill.body, Place(skill=skill.name)))


def _deciding(names: tuple[str, ...], reason: str, details: tuple[str, ...]) -> Step:
    action = f"mend the one that is wrong (hansei skills edit {names[0]}), or retire it"
    return Step(Kind.CONFLICT, names, reason, action, details=details)


def _opposed(one: Predicates, other: Predicates) -> str:
    """Why two skills with a `when` in common cannot both be followed; empty where they can."""
    if not _same_when(one, other):
        return ""
    for asked, avoided in ((one.do, other.avoid), (other.do, one.avoid)):
        for it in asked:
            if any(wording(it).exact & wording(no).exact for no in avoided):
                return f"one says to run `{it}`, the other to avoid it"
    both = [tuple(map(_by_family, it.do)) for it in (one, other)]
    if one.do and one.do != other.do and both[0] == both[1]:
        return f"`{one.do[0]}` and `{other.do[0]}`: two programs for the same job"
    return ""


def _by_family(command: str) -> tuple[str, ...]:
    """A command with programs of which a project uses one under one name."""
    return tuple(families().get(it, it) for it in command.split())


def _same_when(one: Predicates, other: Predicates) -> bool:
    whens = [(it.tool, it.command, it.path, it.error) for it in (one, other)]
    return all(not here or not there or here == there for here, there in zip(*whens, strict=True))


# --- what is no longer so -------------------------------------------------------------------------


def outdated(
    skills: Sequence[Skill], stale: Mapping[str, Sequence[Stale]], *, by: str = ""
) -> Iterator[Step]:
    """Skills that name a path, a command or a package that left the repository."""
    for skill in skills:
        gone = stale.get(skill.name, ())
        if gone:
            told = tuple(dict.fromkeys(since(it) for it in gone))
            yield Step(
                Kind.STALE,
                (skill.name,),
                told[0] + (f", and {len(told) - 1} more" if len(told) > 1 else ""),
                f"retire {skill.name}, unless you edit it (hansei skills edit {skill.name})",
                (moved(skill, State.RETIRED, by=by, reason=told[0]),),
                details=told[1:],
            )
