"""Edit, run, fail, edit, run, fail: one file that several sessions could not get right.

A round is a failed run of a test, build or check, an edit of the file, and the next failed run of
the same. A first failure and one more are how software is written; from the second round on it is
a loop. What it took is counted from the second failed run to the run that ended it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.bets.model import Category, Change, Design, Finding, Metric
from hansei.bets.recurring import Fact
from hansei.projection.loops import LOOP_ROUNDS, Loop, loops
from hansei.projection.wording import code, counted, in_common
from hansei.retro.costs import Span, occurrences, total

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.bets.model import Occurrence
    from hansei.projection.window import Window


@dataclass(frozen=True)
class EditLoop:
    """Knobs."""

    name: str = "edit-loop"
    rounds: int = LOOP_ROUNDS
    """Rounds in a session that make a loop."""
    sessions: int = 2
    """Sessions in which the same file was the one, each counted with its subagents: one may have
    been a bad day."""
    tokens: int = 50_000
    """What the loops must have taken in all: about what it takes to look into it."""

    def find(self, window: Window) -> Iterator[Finding]:
        found: dict[str, list[Loop]] = defaultdict(list)
        for loop in loops(window):
            if loop.rounds >= self.rounds:
                found[loop.path].append(loop)
        for path, told in sorted(found.items()):
            if window.tasks(it.session for it in told) < self.sessions:
                continue
            took = occurrences(
                window, [Span(it.session, it.first, it.last, shown=it.begun) for it in told]
            )
            spent = total(took)
            if spent is None or spent >= self.tokens:
                yield self._finding(path, told, took)

    def _finding(self, path: str, told: list[Loop], took: tuple[Occurrence, ...]) -> Finding:
        command = in_common([it.command for it in told])
        rounds = sum(it.rounds for it in told)
        sessions = counted(len({it.session for it in told}), "session")
        seen = f"{counted(rounds, 'failed round')} in {sessions}"
        return Finding(
            heuristic=self.name,
            key=path,
            claim=f"Agents edit {code(path)} and fail {code(command)} over and over",
            because=(seen, f"the longest took {max(it.rounds for it in told)} rounds"),
            occurrences=took,
            change=Change(Design.BRIEF, _brief(path, command, seen), path),
            category=Category.INVESTIGATE,
            effort=30,
            disproof=f"the rounds failed for reasons that {code(path)} has nothing to do with,"
            " or each for another one",
            metric=Metric(Fact.LOOPS, path),
        )


def _brief(path: str, command: str, seen: str) -> str:
    return (
        f"# Find out what makes {code(path)} hard to change\n\n"
        f"Agents edited it and {code(command)} failed again: {seen}.\n\n"
        "- Open the sessions named as evidence: what did they not know, or not see?\n"
        "- It may be a hidden rule of the file, an error that names the wrong place, or a run"
        " that tells too little. Say it in a comment at the place or in the instruction file,"
        " split the file, or make the error speak.\n"
        f"- Done when an agent that was only told the task changes {code(path)} and passes"
        f" {code(command)} without a second round.\n"
    )
