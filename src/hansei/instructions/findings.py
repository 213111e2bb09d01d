"""What is wrong in the instruction texts of a repository, each as a finding with file and line.

A line is said twice where one agent reads both; two files that no agent reads together and that say
the same lines are copies, told once for both files. A conflict is told whoever reads what: two
agents that are told opposites work against one another. Nothing is edited: this is people's text.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from hansei.hook import places
from hansei.instructions.agreement import Agreement, compared
from hansei.instructions.statements import statements
from hansei.instructions.told_here import place_of, statements_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hansei.instructions.agreement import Compared
    from hansei.instructions.census import Text
    from hansei.instructions.departures import Stale
    from hansei.instructions.statements import Statement


class Kind(StrEnum):
    """What is wrong, the worst first."""

    CONFLICT = "conflict"
    STALE = "stale"
    DUPLICATE = "duplicate"
    COPY = "copy"


class At(NamedTuple):
    """A sentence, where it stands."""

    path: str
    line: int
    text: str


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, with every place that shows it."""

    kind: Kind
    reason: str
    places: tuple[At, ...]


MANY = 5
"""Lines that files have in common from which on the files are told, not each line."""
REASONS = {
    Agreement.OPPOSITE: "one forbids what the other asks for",
    Agreement.NUMBERS: "two numbers for the same thing",
    Agreement.RIVALS: "two programs for the same job",
}


def findings(texts: Sequence[Text], stale: Sequence[Stale] = ()) -> list[Finding]:
    """Everything that is wrong in the texts, the worst first; `stale` as `departures` found it."""
    said = compared(statements_of(texts))
    readers = {it.path: frozenset(it.agents) for it in texts}
    return [
        *_conflicts(said),
        *(
            Finding(Kind.STALE, since(it), (At(it.named.path, it.named.line, it.named.text),))
            for it in stale
        ),
        *_repeated(said, readers),
    ]


def _conflicts(said: Compared) -> Iterator[Finding]:
    for it in said.conflicts:
        yield Finding(Kind.CONFLICT, REASONS[it.how], (_at(it.one), _at(it.other)))


def since(it: Stale) -> str:
    """What is no longer there, since when, and the commit that took it away."""
    return f"{it.what} since {it.left.day} ({it.left.commit[:SHORT]} {it.left.subject})"


SHORT = 7
"""Letters of a commit's name, as git itself shows them."""


def _repeated(said: Compared, readers: Mapping[str, frozenset[str]]) -> Iterator[Finding]:
    copies: dict[tuple[str, str], list[Statement]] = defaultdict(list)
    twice: dict[tuple[str, ...], list[tuple[Statement, ...]]] = defaultdict(list)
    for group in said.same:
        together = [
            (one, other)
            for one, other in combinations(group, 2)
            if readers[one.path] & readers[other.path]
        ]
        if together:
            kept = {id(it) for pair in together for it in pair}
            own = tuple(it for it in group if id(it) in kept)
            twice[tuple(dict.fromkeys(it.path for it in own))].append(own)
        else:
            copies[group[0].path, group[-1].path] += [group[0], group[-1]]
    for paths, groups in twice.items():
        yield from _said_twice(paths, groups)
    for (one, other), those in copies.items():
        lines = len(those) // 2
        words = f"{lines} lines stand" if lines > 1 else "a line stands"
        yield Finding(
            Kind.COPY,
            f"{words} in {one} and in {other}, and no agent reads both: they can drift apart",
            tuple(_at(it) for it in those),
        )


def _said_twice(paths: Sequence[str], groups: Sequence[Sequence[Statement]]) -> Iterator[Finding]:
    """One finding for each line, or one for all where files have many in common."""
    if len(paths) > 1 and len(groups) >= MANY:
        words = f"{len(groups)} lines stand in {' and in '.join(paths)}"
        yield Finding(Kind.DUPLICATE, words, tuple(_at(it) for own in groups for it in own))
        return
    for own in groups:
        yield Finding(Kind.DUPLICATE, "said more than once", tuple(map(_at, own)))


def _at(it: Statement) -> At:
    return At(it.path, it.line, it.text)


# --- what a change adds ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Added:
    """A new line, and the line that says the same or something else."""

    new: At
    existing: At
    kind: Kind
    """`duplicate` or `conflict`."""
    reason: str


def added(before: Mapping[str, str], after: Mapping[str, str]) -> list[Added]:
    """Which lines that a change adds to instruction texts repeat or contradict another line.

    For checking a pull request: both map the paths of instruction files (any file that `census`
    would read: CLAUDE.md, AGENTS.md, rules, SKILL.md …) to their text before and after the change;
    a file that is new or removed stands in one of them. A sentence that was only moved within its
    file, or wrapped anew, is not new. Of two new lines that clash the later one is told of. Lines
    are numbered as they are after the change.
    """
    known = {(it.path, it.plain) for it in _said(before)}
    said = sorted(_said(after), key=lambda it: (it.path, it.plain) not in known)
    first_new = sum((it.path, it.plain) in known for it in said)
    found = compared(said)
    order = {id(it): number for number, it in enumerate(said)}
    told: list[Added] = []
    for conflict in found.conflicts:
        old, new = sorted((conflict.one, conflict.other), key=lambda it: order[id(it)])
        if order[id(new)] >= first_new:
            told.append(Added(_at(new), _at(old), Kind.CONFLICT, REASONS[conflict.how]))
    for first, *others in found.same:
        new_ones = (it for it in others if order[id(it)] >= first_new)
        told += [Added(_at(it), _at(first), Kind.DUPLICATE, "said already") for it in new_ones]
    return sorted(told, key=lambda it: (it.new.path, it.new.line, it.kind, it.existing))


def _said(texts: Mapping[str, str]) -> list[Statement]:
    found: list[Statement] = []
    for path, text in sorted(texts.items()):
        kinds = (places.matched(agent, path) for agent in places.IN_REPOSITORY)
        kind = next((it[0] for it in kinds if it is not None), None)
        if kind is not None and kind != places.SERVER:
            found += statements(path, text, place_of(path, kind, text))
    return found
