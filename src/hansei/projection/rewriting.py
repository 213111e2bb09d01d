"""Files that a formatter or linter rewrites after an agent has written them.

Two things show it. An edit fails because the file is no longer as it was read, and the agent itself
was the last to write it: a program it ran has rewritten it, or one that runs by itself did. Or a
check fails, and a formatter or a fixer makes it pass without an edit by hand.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.config import CommandClass
from hansei.projection.checks import WRITES, ended_well
from hansei.projection.facts.ran import bare
from hansei.projection.failures import Ending
from hansei.projection.files import LOOKS, By
from hansei.projection.ways import about

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.projection.facts.ran import Ran
    from hansei.projection.failures import Episode, Failure
    from hansei.projection.window import Window

BY_ITSELF: Final = "by itself"
"""What rewrote a file where no call did: a hook, an editor, a watcher."""
COMMIT: Final = "git commit"
"""Its hooks rewrite what is committed."""
_CHANGED: Final = re.compile(
    r"(?:modified since|unexpectedly modified|changed since|changed on disk)"
)
"""How agent programs say that a file is no longer as it was read."""
_FIXES: Final = frozenset(("--fix", "--write", "--fix-only", "--in-place", "-w", "--autocorrect"))
_RUN_FIXERS: Final = frozenset(("pre-commit", "prek", "lefthook", "lint-staged"))
"""Programs that run whatever fixers a project has."""
_CHECKED: Final = frozenset((CommandClass.LINT, CommandClass.FORMAT, CommandClass.BUILD))
_ONLY_CHECKS: Final = frozenset(("--check", "--diff", "--list-different", "-l", "--verify"))


class Rewritten(NamedTuple):
    """A failed edit or check, and what had rewritten the files or did so then."""

    session: int
    failed: int
    end: int
    by: str
    """The command, or `BY_ITSELF`."""
    edit: bool
    """Whether an edit failed; otherwise a check did."""
    path: str
    """The file, where it is one."""


def rewritten(window: Window) -> Iterator[Rewritten]:
    """Every time that it got into the way, in order."""
    for session, episode in window.episodes:
        if episode.ending is not Ending.RECOVERED:
            continue
        failure = window.failed.get((session, episode.seq))
        if failure is not None and _CHANGED.search(failure.line):
            yield from _edit(window, session, failure, episode)
        else:
            yield from _check(window, session, episode)


def _edit(window: Window, session: int, failure: Failure, episode: Episode) -> Iterator[Rewritten]:
    """An edit of a file that the agent had written itself, in the same turn."""
    touched = window.touched_by.get((session, episode.end), ())
    path = next((it.path for it in touched if it.verb in WRITES), None)
    turn = window.turns.get((session, failure.seq))
    own: int | None = None
    by = BY_ITSELF
    for row in window.calls_of(session, -1, failure.seq):
        if row.turn != turn:
            continue
        for touch in window.touched_by.get((session, row.seq), ()):
            if touch.path == path and touch.verb in WRITES:
                own, by = row.seq, BY_ITSELF
        if own is not None and row.seq > own:
            by = _rewriter(window, session, row.seq) or by
    if path is not None and own is not None:
        yield Rewritten(session, failure.seq, episode.end, by, edit=True, path=path)


def _check(window: Window, session: int, episode: Episode) -> Iterator[Rewritten]:
    """A check that failed after edits, and that a fixer made pass without another by hand."""
    failed = about(window, session, episode.failures[-1])
    wrote = any(it.passed is None and it.seq < episode.seq for it in window.steps.get(session, ()))
    if failed is None or failed.kind not in _CHECKED or _fixes(failed) or not wrote:
        return
    by: str | None = None
    for row in window.calls_of(session, episode.failures[-1], episode.end + 1):
        if any(
            it.verb not in LOOKS and it.by is By.TOOL
            for it in window.touched_by.get((session, row.seq), ())
        ):
            return
        ran = _fixer(window, session, row.seq)
        by = _called(ran) if ran is not None else by
    if by is not None:
        yield Rewritten(session, episode.seq, episode.end, by, edit=False, path="")


def _rewriter(window: Window, session: int, call: int) -> str | None:
    """What a call ran that may have rewritten files; hooks of git do so also where they refuse."""
    rows = window.ran_by.get((session, call), ())
    if any((it.program, it.subcommand) == ("git", "commit") for it in rows):
        return COMMIT
    ran = _fixer(window, session, call)
    return None if ran is None else _called(ran)


def _fixer(window: Window, session: int, call: int) -> Ran | None:
    """The program of a call that rewrites files, if the call did not fail."""
    if ended_well(window, session, call) is False:
        return None
    rows = window.ran_by.get((session, call), ())
    return next((it for it in rows if not it.inside and _fixes(it)), None)


def _fixes(ran: Ran) -> bool:
    """Whether a command rewrites files by rules of its own."""
    if not _ONLY_CHECKS.isdisjoint(ran.flags):
        return False
    if ran.kind is CommandClass.FORMAT or ran.program in _RUN_FIXERS:
        return True
    return ran.kind is CommandClass.LINT and not _FIXES.isdisjoint(ran.flags)


def _called(ran: Ran) -> str:
    return " ".join((*ran.before, bare(ran)))
