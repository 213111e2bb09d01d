"""Edits after which tests of something else were red.

A test command was green, files were edited, and the same command was red: the tests it names are
those that the edits broke. Where a file's own test is among them, the file itself was broken, and
what else was red is no news.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.projection.checks import is_code, is_test_of, passed_again
from hansei.projection.snapshots.languages import holds_tests, language_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hansei.projection.checks import Step
    from hansei.projection.facts.ran import Ran
    from hansei.projection.window import Window

MOST_EDITED: Final = 3
"""Files edited between two runs, of which one can still be held to have broken it."""
MOST_NAMED: Final = 3
"""Failed test files of one run: more, and the edit broke everything, as a slip of the pen does."""
_FAILED: Final = re.compile(
    r"(?:\bFAIL(?:ED)?\b|\bERROR\b|\bnot ok\b|\brspec\b|[✗✕×❯✖])"
    r"[^\n]{0,80}?(?P<path>[\w.@/\\-]+\.\w{1,5})\b"
)
"""How runners name the files of failed tests."""


class Break(NamedTuple):
    """A file that was edited, and a file of tests that was red afterwards."""

    session: int
    path: str
    tests: str
    run: int
    """The run that was red."""
    end: int
    """The next one that was green; where there was none, the red one."""
    ran: Ran


def breaks(window: Window) -> Iterator[Break]:
    """Every such pair of files, in order."""
    for session, told in window.steps.items():
        last: dict[str, int] = {}
        for place, step in enumerate(told):
            if step.ran is None or not step.tests:
                continue
            before = last.get(step.ran.form)
            if before is not None and told[before].passed and not step.passed:
                yield from _broken(window, session, told, before, place)
            last[step.ran.form] = place


def edits_of(window: Window) -> dict[str, set[int]]:
    """The tasks that edited each file."""
    found: dict[str, set[int]] = defaultdict(set)
    for session, told in window.steps.items():
        for step in told:
            if step.passed is None:
                found[step.name].add(window.task(session))
    return found


def _broken(
    window: Window, session: int, told: Sequence[Step], green: int, red: int
) -> Iterator[Break]:
    edited = {it.name for it in told[green:red] if it.passed is None}
    paths = sorted(it for it in edited if is_code(it) and not holds_tests(it))
    step, end = told[red], passed_again(told, red)
    if not paths or len(edited) > MOST_EDITED or step.ran is None:
        return
    failed = _failed_tests(window, session, step.seq)
    if len(failed) > MOST_NAMED:
        return
    last = step.seq if end is None else told[end].seq
    for path in paths:
        if not any(is_test_of(path, it) for it in failed):
            yield from (Break(session, path, it, step.seq, last, step.ran) for it in failed)


def _failed_tests(window: Window, session: int, run: int) -> list[str]:
    """The files of tests that a run names as failed."""
    text = next((it.text for it in window.told(session) if it.call == run), "")
    named = (it["path"].replace("\\", "/").removeprefix("./") for it in _FAILED.finditer(text))
    return sorted({it for it in named if holds_tests(it) and language_of(it) is not None})
