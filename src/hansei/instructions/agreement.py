"""Whether two statements say the same, the opposite, or have nothing to do with one another.

This is the one place where that is decided: for instruction files, for skills, for what is offered
and for what a pull request adds. Opposite polarity is a conflict and never a duplicate. So are two
numbers for the same thing, and two rival programs for the same job. In doubt nothing is said: what
is scoped to one place does not conflict with what is scoped to another, nor a rule with an
exception, nor a description with anything. Everything here is pure.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING, Final

from hansei.instructions.statements import VERBS, Statement, read
from hansei.projection.commands.programs import PLAIN, SUBCOMMANDS
from hansei.projection.commands.rivals import families
from hansei.projection.snapshots.languages import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hansei.instructions.statements import Meaning

ALIKE: Final = 0.8
"""Share of words that two sentences have in common to be the same, of all words of both."""
OPPOSITE: Final = 0.75
"""The same for a contradiction: one more word is often there to say what to do instead."""
SHORTEST_ALIKE: Final = 4
"""Words; what is shorter is a heading or a habit of speech."""
SHORTEST_OPPOSITE: Final = 2
SHORTEST_FACT: Final = 6
"""Words of a description that stands twice, word for word; a shorter one is part of a list."""
WHOLE_ALIKE: Final = 0.6
"""The same of the whole sentences, where one clause is the same: the rest says what it is about."""
NESTED_ALIKE: Final = 0.5
"""Share of words that what two items are nested in must have in common to be the same thing."""

MOST_ALIKE: Final = 20
"""Statements with the very same words that are compared each with each: more are a template."""


class Agreement(StrEnum):
    """How two statements stand to one another."""

    SAME = "same"
    OPPOSITE = "opposite"  # one forbids what the other asks for
    NUMBERS = "numbers"  # the same thing, with another number
    RIVALS = "rivals"  # the same job, with another program

    @property
    def is_conflict(self) -> bool:
        return self is not Agreement.SAME


@dataclass(frozen=True)
class Conflict:
    """Two statements of which an agent can follow one."""

    one: Statement
    other: Statement
    how: Agreement


@dataclass(frozen=True)
class Compared:
    """Groups that say the same, and pairs that conflict, in the order they were given."""

    same: tuple[tuple[Statement, ...], ...]
    conflicts: tuple[Conflict, ...]


# --- two statements -------------------------------------------------------------------------------


def agreement(one: Statement, other: Statement) -> Agreement | None:
    """How two statements stand to one another; None: they have nothing to do with each other."""
    if one.languages and other.languages and one.languages.isdisjoint(other.languages):
        return None
    found = {
        told
        for first in one.meanings
        for second in other.meanings
        if (told := _between(one, other, first, second)) is not None
    }
    return min(found, key=list(Agreement).index, default=None)


def _between(one: Statement, other: Statement, first: Meaning, second: Meaning) -> Agreement | None:
    if first.forbids is not second.forbids:
        return Agreement.OPPOSITE if _is_opposite(one, other, first, second) else None
    if _is_same(one, other, first, second):
        return Agreement.SAME
    if not _may_conflict(one, other, first, second):
        return None
    if _are_numbers(one, other, first, second):
        return Agreement.NUMBERS
    return Agreement.RIVALS if _are_rivals(one, other, first, second) else None


def _is_same(one: Statement, other: Statement, first: Meaning, second: Meaning) -> bool:
    if min(len(first.words), len(second.words)) < SHORTEST_ALIKE or not _read_together(one, other):
        return False
    if not _same_code(one, other) or first.numbers != second.numbers:
        return False
    if one.text.endswith(":") or other.text.endswith(":"):
        return False
    very_same = one.plain == other.plain and len(first.words) >= SHORTEST_FACT
    if not _same_nesting(one, other):
        return very_same and not (one.under and other.under)
    if not (first.is_directive and second.is_directive):
        return very_same
    if shared(first.words, second.words) < ALIKE:
        return False
    # Where each has a word of its own they speak of two things: the web app, the desktop app.
    whole, other_whole = one.words, other.words
    contained = whole <= other_whole or other_whole <= whole
    return contained and shared(whole, other_whole) >= WHOLE_ALIKE


def _is_opposite(one: Statement, other: Statement, first: Meaning, second: Meaning) -> bool:
    if not _may_conflict(one, other, first, second) or not _same_code(one, other, both=False):
        return False
    if first.numbers != second.numbers or not _same_condition(first, second):
        return False
    common = first.core & second.core
    if min(len(first.core), len(second.core)) < SHORTEST_OPPOSITE:
        return False
    if shared(first.core, second.core) < OPPOSITE:
        return False
    named = any(common & set(it.split()) for it in one.code & other.code)
    short = (first.chooses and second.chooses) or first.words == second.words
    return named or len(first.words & second.words) > SHORTEST_OPPOSITE or short


def _are_numbers(one: Statement, other: Statement, first: Meaning, second: Meaning) -> bool:
    """Whether all that differs is one number for the same thing."""
    if len(first.numbers) != 1 or len(second.numbers) != 1 or first.numbers == second.numbers:
        return False
    if not (first.sets_number and second.sets_number):
        return False
    if first.is_bounded is not second.is_bounded or not _same_code(one, other, numbers=True):
        return False
    words = _without_numbers(first)
    subject = words - VERBS
    named = bool(subject & (LANGUAGES | SUBCOMMANDS | PLAIN))
    if words != _without_numbers(second) or not (len(subject) >= SHORTEST_OPPOSITE or named):
        return False
    apart = one.path == other.path and one.heading != other.heading
    return not apart or len(subject) > SHORTEST_OPPOSITE


def _are_rivals(one: Statement, other: Statement, first: Meaning, second: Meaning) -> bool:
    """Whether all that differs is the program, of which a project uses one."""
    if first.forbids or len(first.programs) != 1 or len(second.programs) != 1:
        return False
    if first.programs == second.programs:
        return False
    if any(len(_programs(it)) > 1 for it in (one, other)):
        return False
    beside = (one.path, one.heading) == (other.path, other.heading)
    return canonical(first) == canonical(second) and not (beside and len(first.words) > 2)


def _programs(statement: Statement) -> frozenset[str]:
    return frozenset().union(*(it.programs for it in statement.meanings))


def _may_conflict(one: Statement, other: Statement, first: Meaning, second: Meaning) -> bool:
    if (one.path, one.line, one.text) == (other.path, other.line, other.text):
        return False
    if one.text.endswith(":") or other.text.endswith(":"):
        return False
    told = first.is_directive and second.is_directive
    free = not (first.is_excepted or second.is_excepted)
    return told and free and _same_nesting(one, other) and _same_place(one, other)


def _same_place(one: Statement, other: Statement) -> bool:
    """Whether both hold in the same place; what is nearer to a file is meant to differ."""
    first, second = one.place, other.place
    if first.skill and second.skill and first.skill != second.skill:
        return bool(one.code & other.code)
    return (first.folder, first.files) == (second.folder, second.files)


def _read_together(one: Statement, other: Statement) -> bool:
    """Whether who reads the one may have read the other, and gains nothing by it.

    Skills are read one at a time, and one of them repeats a step wherever it is to be taken.
    """
    first, second = one.place, other.place
    if first.skill and second.skill:
        return False
    if first.files and second.files and first.files != second.files:
        return False
    return _within(first.folder, second.folder) or _within(second.folder, first.folder)


def _within(folder: str, other: str) -> bool:
    return not other or folder == other or folder.startswith(f"{other}/")


def _same_nesting(one: Statement, other: Statement) -> bool:
    """Whether what they are items of is the same, or nothing in particular."""
    if not one.under and not other.under:
        return True
    if not one.under or not other.under:
        return one.path != other.path
    first, second = _under(one.under), _under(other.under)
    return shared(first, second) >= NESTED_ALIKE


@lru_cache(maxsize=4096)
def _under(text: str) -> frozenset[str]:
    return read(text).words


def _same_condition(first: Meaning, second: Meaning) -> bool:
    if not first.condition and not second.condition:
        return True
    return shared(first.condition, second.condition) >= OPPOSITE


def _same_code(
    one: Statement, other: Statement, *, both: bool = True, numbers: bool = False
) -> bool:
    """Whether what stands between backticks here stands there too, with or without them.

    Not `both`: what one of them says besides, as what to do instead, may name more.
    """
    if numbers:
        return _figureless(one.code) == _figureless(other.code)
    first = all(_stands_in(it, other) for it in one.code)
    second = all(_stands_in(it, one) for it in other.code)
    return (first and second) if both else (first or second)


def _figureless(code: frozenset[str]) -> frozenset[str]:
    return frozenset("".join("#" if it.isdigit() else it for it in span) for span in code)


def _stands_in(code: str, statement: Statement) -> bool:
    return code in statement.code or f" {code} " in f" {statement.text.casefold()} ".replace(
        "`", ""
    )


def _without_numbers(meaning: Meaning) -> frozenset[str]:
    return frozenset(it for it in meaning.words if not it[:1].isdigit())


def shared(one: frozenset[str], other: frozenset[str]) -> float:
    """Which part of the words of both stands in both."""
    return len(one & other) / len(one | other) if one or other else 1.0


# --- many statements ------------------------------------------------------------------------------


def canonical(meaning: Meaning) -> frozenset[str]:
    """The words by which a clause is found: without numbers, and rival programs as one."""
    return frozenset(families().get(it, it) for it in meaning.words if not it[:1].isdigit())


def compared(said: Sequence[Statement]) -> Compared:
    """Every two statements that say the same or conflict, in the order they are given."""
    together = list(range(len(said)))
    conflicts: dict[tuple[int, int], Agreement] = {}
    for one, other in _candidates(said):
        told = agreement(said[one], said[other])
        if told is Agreement.SAME:
            _join(together, one, other)
        elif told is not None:
            conflicts[one, other] = told
    groups: dict[int, list[int]] = defaultdict(list)
    for number in range(len(said)):
        groups[_root(together, number)].append(number)
    seen: set[tuple[int, int]] = set()
    found: list[Conflict] = []
    for (one, other), told in sorted(conflicts.items()):
        pair = (_root(together, one), _root(together, other))
        if pair not in seen:  # what stands in several places conflicts once
            seen.add(pair)
            found.append(Conflict(said[one], said[other], told))
    same = sorted(it for it in groups.values() if len(it) > 1)
    return Compared(tuple(tuple(said[it] for it in group) for group in same), tuple(found))


def _candidates(said: Sequence[Statement]) -> Iterator[tuple[int, int]]:
    """Pairs of statements that share enough words in one of their clauses, each once."""
    clauses: dict[frozenset[str], list[int]] = defaultdict(list)
    for number, it in enumerate(said):
        for meaning in it.meanings:
            words = canonical(meaning)
            if len(words) >= SHORTEST_OPPOSITE:
                clauses[words].append(number)
    sets = list(clauses)
    pairs: set[tuple[int, int]] = set()
    for words in sets:
        _pair(pairs, clauses[words], clauses[words])
    for one, other in _near(sets):
        _pair(pairs, clauses[sets[one]], clauses[sets[other]])
    yield from sorted(pairs)


def _pair(pairs: set[tuple[int, int]], some: Sequence[int], others: Sequence[int]) -> None:
    for one in some[:MOST_ALIKE]:
        pairs.update((min(one, it), max(one, it)) for it in others[:MOST_ALIKE] if it != one)


def _near(sets: Sequence[frozenset[str]]) -> Iterator[tuple[int, int]]:
    """Pairs that share enough words.

    Two sets that are so much alike share one of the few rarest words of each, so only sets with
    such a word in common are compared: a million sentences need no million comparisons each.
    """
    times = Counter(word for it in sets for word in it)
    holding: dict[str, list[int]] = defaultdict(list)
    for number, words in enumerate(sets):
        rare = sorted(words, key=lambda it: (times[it], it))
        rarest = rare[: len(rare) - ceil(OPPOSITE * len(rare)) + 1]
        for other in sorted({it for word in rarest for it in holding[word]}):
            common = len(words & sets[other])
            if common >= OPPOSITE * len(words | sets[other]):
                yield other, number
        for word in rarest:
            holding[word].append(number)


def _root(together: list[int], number: int) -> int:
    while together[number] != number:
        together[number] = together[together[number]]
        number = together[number]
    return number


def _join(together: list[int], one: int, other: int) -> None:
    first, second = sorted((_root(together, one), _root(together, other)))
    together[second] = first
