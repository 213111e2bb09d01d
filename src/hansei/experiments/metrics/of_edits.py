"""Where what bets on edits and runs are about came up, and where it could have.

Places are calls of sessions. As in `recurrence`, a session is judged by its own facts alone: of
callers that were missed only those count whose definition the same session changed, and of work
that was left untested how the agent ended, not what the next one met.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.bets.recurring import Fact
from hansei.projection.breaks import breaks
from hansei.projection.renames import changed, missed
from hansei.projection.rewriting import rewritten
from hansei.projection.slow_runs import AGAIN, slow, timed
from hansei.projection.together import forgotten
from hansei.projection.unchecked import untested
from hansei.projection.unsteady import attempts, unsteady
from hansei.projection.wrong_places import folders, misput

if TYPE_CHECKING:
    from collections.abc import Callable

    from hansei.projection.window import Window

Places = set[tuple[int, int]]
"""Sessions and calls."""


class Met(NamedTuple):
    """Where something came up, and where else it could have; None where nobody can say."""

    hits: Places
    could: Places | None


def _callers(window: Window, _: str) -> Met:
    """Runs that failed by an old name or old parameters, among changes of definitions."""
    hits = {(it.session, it.failed) for it in missed(window) if it.renamed.session == it.session}
    return Met(hits, {(it.session, it.seq) for them in changed(window).values() for it in them})


def _misplaced(window: Window, subject: str) -> Met:
    """What was written into the first place and then put into the second, among edits there."""
    told = [
        it
        for it in misput(window)
        if subject in (f"{it.source} {it.target}", " ".join(folders(it.source, it.target)))
    ]
    return Met({(it.session, it.seq) for it in told}, _edits(window, subject))


def _broken(window: Window, subject: str) -> Met:
    """Runs that named the tests as failed after an edit, among edits of the file or folder."""
    told = [
        it
        for it in breaks(window)
        if subject.endswith(f" {it.tests}") and _is_first(it.path, subject)
    ]
    return Met({(it.session, it.run) for it in told}, _edits(window, subject))


def _forgotten(window: Window, subject: str) -> Met:
    """Times that the second file came only after a failure or a word, among edits of the first."""
    told = [it for it in forgotten(window) if f"{it.first} {it.second}" == subject]
    return Met({(it.session, it.told) for it in told}, _edits(window, subject))


def _rewritten(window: Window, by: str) -> Met:
    """Failed edits and checks that it caused, among all edits."""
    told = {(it.session, it.failed) for it in rewritten(window) if it.by == by}
    edits = {(s, it.seq) for s, those in window.steps.items() for it in those if it.ran is None}
    return Met(told, edits)


def _untested(window: Window, _: str) -> Met:
    """Times that an agent ended without a test, among those that it had changed code."""
    ended = list(untested(window))
    hits = {(session, seq) for session, seq, left in ended if left}
    return Met(hits, {(session, seq) for session, seq, _ in ended})


def _flaky(window: Window, command: str) -> Met:
    """Runs that failed and then passed unchanged, among all runs of the command."""
    told = {(it.session, it.failed) for it in unsteady(window) if it.command == command}
    return Met(told, {(session, seq) for session, seq, it in attempts(window) if it == command})


def _slow(window: Window, subject: str) -> Met:
    """Runs of a minute or more, among all runs of the command."""
    command = subject.removeprefix(AGAIN)
    runs = {(it.session, it.seq) for it in timed(window) if it.command == command}
    return Met({(it.session, it.seq) for it in slow(window, subject)}, runs)


def _edits(window: Window, subject: str) -> Places:
    """Edits of the first file of a pair, or of any in the first folder."""
    return {
        (session, step.seq)
        for session, told in window.steps.items()
        for step in told
        if step.passed is None and _is_first(step.name, subject)
    }


def _is_first(path: str, subject: str) -> bool:
    folder, slash, _ = subject.partition("/ ")
    within = bool(slash) and f"/{path}".startswith(f"/{folder}/" if folder else "/")
    return within or subject.startswith(f"{path} ")


OF_EDITS: Final[dict[Fact, Callable[[Window, str], Met]]] = {
    Fact.CALLERS: _callers,
    Fact.MISPLACED: _misplaced,
    Fact.BROKEN: _broken,
    Fact.REWRITTEN: _rewritten,
    Fact.UNTESTED: _untested,
    Fact.FLAKY: _flaky,
    Fact.SLOW: _slow,
    Fact.FORGOTTEN: _forgotten,
}
