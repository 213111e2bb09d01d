"""What differs between two sets of instruction texts, bullet by bullet. Pure.

A bullet, paragraph, heading or code block that is there on one side only was added or removed. One
that takes the place of another with mostly the same words was changed. One that is gone here and
there in another place was moved.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from hansei.instructions.census import waiting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hansei.instructions.census import Text
    from hansei.instructions.sentences import Part

SAME_LINE: Final = 0.5
"""Share of all their words that two parts have in common for the one to be the other reworded."""


_WORD: Final = re.compile(r"\w+")


class Kind(StrEnum):
    """What became of a part."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"
    MOVED = "moved"


@dataclass(frozen=True)
class Change:
    """One part that differs, told from the text it is in now; a removed one from where it was."""

    kind: Kind
    text: Text
    part: Part
    always: bool
    """Whether it stands in every session that has the text; else it comes when it is wanted."""
    before: Part | None = None
    """What it was, of a changed or moved one."""
    origin: Text | None = None
    """Where it was, of a moved one."""

    @property
    def place(self) -> tuple[str, int]:
        return self.text.path, self.part.line


def changes(before: Iterable[Text], after: Iterable[Text]) -> list[Change]:
    """Every part that differs, by path and line."""
    old, new = ({it.path: it for it in side} for side in (before, after))
    found: list[Change] = []
    for path in sorted({*old, *new}):
        found += _changes(old.get(path), new.get(path))
    return sorted(_with_moves(found), key=lambda it: (it.place, it.kind is not Kind.REMOVED))


def _changes(old: Text | None, new: Text | None) -> Iterator[Change]:
    for always in (True, False):
        yield from _between(old, new, _parts(old, always), _parts(new, always), always)


def _parts(text: Text | None, always: bool) -> list[Part]:
    if text is None:
        return []
    return list(text.carried or ()) if always else waiting(text)


def _between(
    old: Text | None, new: Text | None, before: Sequence[Part], after: Sequence[Part], always: bool
) -> Iterator[Change]:
    was, now = ([_plain(it) for it in side] for side in (before, after))
    matcher = SequenceMatcher(None, was, now, autojunk=False)
    for what, first, end, start, stop in matcher.get_opcodes():
        if what == "equal":
            continue
        for one, other in _paired(before[first:end], after[start:stop]):
            if other is None and old is not None and one is not None:
                yield Change(Kind.REMOVED, old, one, always)
            elif new is not None and other is not None:
                kind = Kind.ADDED if one is None else Kind.CHANGED
                yield Change(kind, new, other, always, one)


def _paired(
    before: Sequence[Part], after: Sequence[Part]
) -> Iterator[tuple[Part | None, Part | None]]:
    """Parts of which one is the other reworded, in order; the rest alone."""
    left = [(it, _words(it)) for it in before]
    for other in after:
        words = _words(other)
        near = max(left, key=lambda it: _likeness(it[1], words), default=None)
        if near is None or _likeness(near[1], words) < SAME_LINE:
            yield None, other
        else:
            left.remove(near)
            yield near[0], other
    yield from ((it, None) for it, _ in left)


def _words(part: Part) -> frozenset[str]:
    return frozenset(_WORD.findall(part.text.lower()))


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one or other else 1.0


def _plain(part: Part) -> str:
    return " ".join(part.text.split())


def _with_moves(found: Sequence[Change]) -> Iterator[Change]:
    """Removed parts that were added elsewhere, word for word, as one move."""
    gone: dict[tuple[str, bool], list[Change]] = {}
    for it in found:
        if it.kind is Kind.REMOVED:
            gone.setdefault((_plain(it.part), it.always), []).append(it)
    moved: set[tuple[str, int]] = set()
    told: list[Change] = []
    for it in found:
        same = gone.get((_plain(it.part), it.always), []) if it.kind is Kind.ADDED else []
        if same:
            old = same.pop(0)
            moved.add(old.place)
            told.append(replace(it, kind=Kind.MOVED, before=old.part, origin=old.text))
        else:
            told.append(it)
    yield from (it for it in told if it.kind is not Kind.REMOVED or it.place not in moved)
