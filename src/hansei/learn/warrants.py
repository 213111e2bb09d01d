"""What entitles a text to be used without anybody having promoted it.

Words told anew leave no trace of where they came from, so looking for their origin is not enough:
a text is used only if a person typed it, or if sessions that had nothing to do with one another
came to it and it runs nothing and tells nothing in words of the agent or of a program. For three
sessions that run the same are also what a page leaves behind that was read three times, or a
program that prints what to run. Everything else waits for a person.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.learn.model import Label

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hansei.learn.labels import First

QUORUM: Final = 3
"""Independent sessions that stand in for a person's own words.

Two are one page that was read again on the next day; three is also from when on detectors take
something for recurring, and counters a skill for proven.
"""

_PERSONS: Final = frozenset((Label.TYPED, Label.REPOSITORY))
"""Words that may stand beside a person's own: what the repository itself says is under review."""


class Circumstance(NamedTuple):
    """What tells whether two sessions are independent."""

    family: str
    """The session that it, its forks, resumptions and subagents all came from."""
    day: int | None
    """On which it began; None where nobody knows."""
    task: str
    """What it was first asked, in one spelling; empty where nobody asked anything."""


class Warrant(NamedTuple):
    """Whether a text may be used, and on what that rests."""

    given: bool
    why: str


def warrant(
    found: Mapping[str, Sequence[First]],
    circumstances: Mapping[str, Circumstance],
    *,
    runs: bool,
) -> Warrant:
    """What entitles a text to be used, given where its parts first stood in each session.

    `runs` says whether it tells anybody to run something.
    """
    every = [first for parts in found.values() for first in parts]
    typed = {first.part for first in every if first.label is Label.TYPED}
    others = [it for it in every if it.part not in typed and it.label not in _PERSONS]
    if typed and not others:
        return Warrant(True, "a person typed it")
    # Of a text that is hansei's own throughout no part is found: its sessions show what it counts.
    clean = [name for name, parts in found.items() if parts or not every]
    count = independent(clean, circumstances)
    told = f"{count} independent session{'' if count == 1 else 's'}"
    who = "a person typed only a part of it" if typed else "nobody typed it"
    if runs:
        return Warrant(
            False, f"{who}, and it says what to run; the sessions that ran it are no proof"
        )
    if others:
        return Warrant(False, f"{who}, and it holds words of an agent or of a program")
    if count >= QUORUM:
        return Warrant(True, f"{told} came to it")
    return Warrant(False, f"{who}, and only {told} of {QUORUM} came to it")


def independent(names: Iterable[str], circumstances: Mapping[str, Circumstance]) -> int:
    """How many sessions are independent.

    Two count as one where they are of one family, or were asked the same on the same day; those of
    which that is not known are one together.
    """
    groups: list[set[tuple[object, ...]]] = []
    for name in sorted(set(names)):
        told = circumstances.get(name)
        ties: set[tuple[object, ...]] = {("unknown",)}
        if told is not None:
            ties = {("family", told.family), ("asked", told.day, told.task)}
        met = [it for it in groups if it & ties]
        groups = [it for it in groups if it not in met] + [ties.union(*met)]
    return len(groups)
