"""Files of different folders that belong together, where one was forgotten at first.

That two files are often changed in one session is no news to anybody. It is where the second was
edited only after a run had failed, which then passed, or as the first thing after an agent had come
to an end and a person objected to it.
"""

from __future__ import annotations

import posixpath
from bisect import bisect_left
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.projection.checks import is_test_of, passed_again

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hansei.projection.checks import Step
    from hansei.projection.window import Window

MOST_FILES: Final = 30
"""Files that a session edits before it is a sweep through all of them, which pairs nothing."""


class Forgotten(NamedTuple):
    """A file that was edited only when something spoke up about it."""

    session: int
    first: str
    """The file that had been edited."""
    second: str
    """The one that was missing."""
    told: int
    """The run that failed, or the last call before a person spoke."""
    mended: int
    """The edit of the second file."""
    command: str | None
    """What failed; None where a person spoke up."""


def forgotten(window: Window) -> Iterator[Forgotten]:
    """Every such pair of files, in order."""
    for session, told in window.steps.items():
        if len({it.name for it in told if it.passed is None}) > MOST_FILES:
            continue
        answers = _objections(window, session)
        turns = [window.turns.get((session, it.seq), 0) for it in told]
        for place, step in enumerate(told):
            if step.passed is None and all(it.name != step.name for it in told[:place]):
                yield from _late(session, told, turns, place, answers)


def edited(window: Window) -> Mapping[int, set[str]]:
    """The files of the repository that each task edited."""
    found: dict[int, set[str]] = defaultdict(set)
    for session, told in window.steps.items():
        found[window.task(session)] |= {it.name for it in told if it.passed is None}
    return found


def _late(
    session: int, told: Sequence[Step], turns: Sequence[int], place: int, answers: Sequence[int]
) -> Iterator[Forgotten]:
    """What a first edit of a file came after: edits of others, and then a failure or a word."""
    step, begun = told[place], bisect_left(turns, turns[place])
    failed = next((at for at in reversed(range(place)) if told[at].passed is not None), None)
    if failed is not None and not told[failed].passed and _ends_it(told, failed, place):
        before, seq, command = _since_green(told, failed), told[failed].seq, told[failed].name
    elif begun == place > 0 and any(told[place - 1].seq < it < step.seq for it in answers):
        before = told[bisect_left(turns, turns[place - 1]) : place]
        seq, command = told[place - 1].seq, None
    else:
        return
    for path in dict.fromkeys(it.name for it in before if it.passed is None):
        if _belongs(path, step.name):
            yield Forgotten(session, path, step.name, seq, step.seq, command)


def _objections(window: Window, session: int) -> list[int]:
    """What a person said against what was done once the agent had come to an end."""
    return [
        seq
        for seq in window.corrected.get(session, ())
        if (last := window.request_for(session, seq)) is not None and not last.calls
    ]


def _since_green(told: Sequence[Step], failed: int) -> Sequence[Step]:
    """The steps before a failed run that came after the same had last passed."""
    passed = (at for at in reversed(range(failed)) if told[at].name == told[failed].name)
    return told[next((at for at in passed if told[at].passed), 0) : failed]


def _ends_it(told: Sequence[Step], failed: int, place: int) -> bool:
    """Whether nothing but this edit lies between a failed run and the next one, which passes."""
    end = passed_again(told, failed)
    return end is not None and {it.name for it in told[failed + 1 : end]} == {told[place].name}


def _belongs(path: str, other: str) -> bool:
    """Whether two files are worth a word: of different folders, and not a file and its test."""
    return posixpath.dirname(path) != posixpath.dirname(other) and not is_test_of(path, other)
