"""What a session wrote and what it then ran to see whether that holds, in one order.

Most of what goes wrong with edits shows in the order of these two: edited and not run, run and red,
red until another file was edited.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.config import CommandClass
from hansei.events.model import Status
from hansei.projection.failures import Kind
from hansei.projection.files import Verb
from hansei.projection.snapshots.languages import holds_tests, language_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hansei.projection.facts.ran import Ran
    from hansei.projection.window import Window

CHECKS: Final = frozenset((CommandClass.TEST, CommandClass.BUILD, CommandClass.LINT))
WRITES: Final = frozenset((Verb.EDIT, Verb.WRITE, Verb.CREATE))
_TEXTS: Final = frozenset(
    ("markdown", "restructuredtext", "text", "json", "yaml", "toml", "xml", "html", "css")
)
"""Languages of files that no test is expected to run."""


class Step(NamedTuple):
    """An edit of a file, or a run of a test, build or check."""

    seq: int
    name: str
    """The path, or what a person would call the command."""
    passed: bool | None = None
    """None for an edit."""
    ran: Ran | None = None
    """None for an edit."""

    @property
    def tests(self) -> bool:
        return self.ran is not None and self.ran.kind is CommandClass.TEST


def steps(window: Window) -> dict[int, list[Step]]:
    """The edits of files of the repository and the runs whose ending is known, by session."""
    found: dict[int, list[Step]] = defaultdict(list)
    for session, touch in window.touches:
        if touch.verb in WRITES and touch.inside:
            found[session].append(Step(touch.seq, touch.path))
    for session, ran in window.commands:
        if ran.about and ran.kind in CHECKS:
            passed = ended_well(window, session, ran.seq)
            if passed is not None:
                found[session].append(Step(ran.seq, ran.shown, passed, ran))
    return {it: sorted(found[it], key=lambda step: step[:2]) for it in sorted(found)}


def ended_well(window: Window, session: int, call: int) -> bool | None:
    """Whether a call passed or failed by itself; None where it was refused, stopped or hidden."""
    called = window.called.get((session, call))
    if called is None or called.status is Status.UNKNOWN:
        return None
    failure = window.failed.get((session, call))
    if called.status is Status.FAILED and failure is not None and failure.kind is not Kind.FAILURE:
        return None
    return called.status is Status.OK


def came_to_an_end(window: Window, session: int, after: int, before: int) -> bool:
    """Whether the agent spoke without a call between two events: it had done what it was to do.

    What a person throws in meanwhile, and a context that is made smaller, begin a turn as well.
    """
    return any(not it.calls for it in window.requests_between(session, after, before))


def passed_again(told: Sequence[Step], place: int) -> int | None:
    """Where the same command passes after a run that failed; None where it does not."""
    failed = told[place]
    for later in range(place + 1, len(told)):
        if told[later].name == failed.name and told[later].passed:
            return later
    return None


def is_code(path: str) -> bool:
    """Whether tests are expected to say something about a file."""
    language = language_of(path)
    return language is not None and language not in _TEXTS


def is_test_of(path: str, other: str) -> bool:
    """Whether one of two files is the other's own test, by its name."""
    one, two = (_stem(it) for it in (path, other))
    return holds_tests(path) is not holds_tests(other) and one == two


def _stem(path: str) -> str:
    """A file's name without what marks it as a test."""
    name = posixpath.basename(path).split(".", 1)[0].lower()
    for mark in ("test", "tests", "spec"):
        name = name.removeprefix(f"{mark}_").removesuffix(f"_{mark}").removesuffix(f"-{mark}")
    return name
