"""A slow test, build or check that agents run whole, again and again.

Everything waits meanwhile. Half of its runs take a minute or more, in three tasks at least, and
twenty minutes were waited in all. Where agents have also run it on single files, and that takes a
third of the time at most, the bet is a line that says so, and what counts is every whole run after
the first of a session. Where it ran into a time limit in two tasks, the line says how long it takes
and to run it in the background. Else it is a brief to make it faster. It saves minutes; what tokens
waiting takes nobody knows.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.bets.model import Category, Change, Design, Finding, Metric, Occurrence
from hansei.bets.recurring import Fact
from hansei.projection.slow_runs import AGAIN, SLOW_SECONDS, Timed, middle, slow, timed
from hansei.projection.wording import code, counted, most

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.projection.window import Window


@dataclass(frozen=True)
class SlowCommand:
    """Knobs."""

    name: str = "slow-command"
    seconds: float = SLOW_SECONDS
    """What half of the runs take at least: below, people do not turn to something else."""
    tasks: int = 3
    """Tasks it was run in: two may be one piece of work."""
    minutes: float = 20
    """What was waited in all: below, looking into it takes longer."""
    narrower: float = 1 / 3
    """The share of the time that a run on single files may take, to be worth another habit."""
    narrow_runs: int = 3
    """Runs on single files that show it."""
    limited: int = 2
    """Tasks in which it ran into a time limit: one may have had another reason."""

    def find(self, window: Window) -> Iterator[Finding]:
        found: dict[str, list[Timed]] = defaultdict(list)
        for run in timed(window):
            found[run.command].append(run)
        for command, runs in sorted(found.items()):
            whole = [it for it in runs if it.is_whole]
            narrow = [it for it in runs if not it.is_whole]
            if self._is_slow(window, whole) and self._is_quicker(narrow, whole):
                again = slow(window, f"{AGAIN}{command}")
                if self._waited(again) >= self.minutes:
                    yield self._narrower(command, again, whole, narrow)
            elif self._is_slow(window, runs):
                limited = [it for it in runs if it.timed_out]
                if window.tasks(it.session for it in limited) >= self.limited:
                    yield self._limited(command, runs, limited)
                else:
                    yield self._look(command, runs)

    def _is_slow(self, window: Window, runs: list[Timed]) -> bool:
        return (
            middle(runs) >= self.seconds
            and self._waited(runs) >= self.minutes
            and window.tasks(it.session for it in runs) >= self.tasks
        )

    def _is_quicker(self, narrow: list[Timed], whole: list[Timed]) -> bool:
        enough = len(narrow) >= self.narrow_runs
        return enough and middle(narrow) <= self.narrower * middle(whole)

    def _waited(self, runs: list[Timed]) -> float:
        return sum(it.seconds for it in runs) / 60

    def _narrower(
        self, command: str, again: list[Timed], whole: list[Timed], narrow: list[Timed]
    ) -> Finding:
        one = f"{command} {most(' '.join(it.ran.targets) for it in narrow)}"
        text = (
            f"While you work, run {code(command)} on what you changed ({code(one)});"
            f" all of it ({_time(middle(whole))}) once, before you finish."
        )
        claim = f"{code(command)} takes {_time(middle(whole))} and is run whole again and again"
        because = (
            f"a part of it takes {_time(middle(narrow))}: {code(one)}",
            f"{counted(len(again), 'whole run')} after the first of a session",
        )
        saved = [(it, max(it.seconds - middle(narrow), 0.0)) for it in again]
        subject = f"{AGAIN}{command}"
        return self._finding(subject, claim, because, Change(Design.LINE, text), saved)

    def _limited(self, command: str, runs: list[Timed], limited: list[Timed]) -> Finding:
        text = (
            f"Run {code(command)} in the background, or give it more time:"
            f" it takes longer than {_time(middle(limited))}."
        )
        claim = f"{code(command)} runs into a time limit again and again"
        because = (f"{len(limited)} of {counted(len(runs), 'run')} ended at a limit",)
        saved = [(it, it.seconds) for it in runs if it.seconds >= self.seconds]
        return self._finding(command, claim, because, Change(Design.LINE, text), saved)

    def _look(self, command: str, runs: list[Timed]) -> Finding:
        sessions = counted(len({it.session for it in runs}), "session")
        half = _time(middle(runs))
        seen = f"{counted(len(runs), 'run')} in {sessions}, half of them {half} or more"
        claim = f"Agents wait for {code(command)}: {half} a run"
        change = Change(Design.BRIEF, _brief(command, seen))
        saved = [(it, it.seconds) for it in runs if it.seconds >= self.seconds]
        return self._finding(command, claim, (seen,), change, saved)

    def _finding(
        self,
        subject: str,
        claim: str,
        because: tuple[str, ...],
        change: Change,
        saved: list[tuple[Timed, float]],
    ) -> Finding:
        line = change.design is Design.LINE
        command = subject.removeprefix(AGAIN)
        return Finding(
            heuristic=self.name,
            key=command,
            claim=claim,
            because=(*because, "it saves waiting; tokens are not known"),
            occurrences=tuple(
                Occurrence(it.session, it.seq, None, seconds / 60) for it, seconds in saved
            ),
            change=change,
            category=Category.FIX if line else Category.INVESTIGATE,
            effort=2 if line else 60,
            disproof=f"{code(command)} is quick by itself: the calls waited for something else",
            metric=Metric(Fact.SLOW, subject),
        )


def _time(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


def _brief(command: str, seen: str) -> str:
    return (
        f"# Make {code(command)} quicker\n\n"
        f"Agents and people wait for it: {seen}.\n\n"
        "- Measure where the time goes (slowest tests, set-up, compiling what did not change).\n"
        "- Run parts side by side, keep what was built, or leave out what only CI needs.\n"
        "- Say in the instruction file how to run a part of it, and what to run before the end.\n"
        "- Done when a change of one file is checked in under a minute.\n"
    )
