"""A command that fails and passes when it is run again, with nothing changed in between.

Agents look for a cause that is not there, or learn to run everything twice. Three times in two
tasks at least, and 20,000 tokens from the failed run to the one that passed. What such runs print
differs from time to time, so they are brought together by the command. The bet is a brief that
quotes what the failed runs said: the cause is a test that depends on time, order or a port, a cache
that two runs share, or a service that is not up yet.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hansei.bets.model import Category, Change, Design, Finding, Metric
from hansei.bets.recurring import Fact
from hansei.projection.unsteady import Unsteady, attempts, unsteady
from hansei.projection.ways import spelled
from hansei.projection.wording import code, counted, in_common, one_line
from hansei.retro.costs import Span, occurrences, total

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.bets.model import Occurrence
    from hansei.projection.window import Window

_QUOTED: Final = 4
"""Failures that a brief quotes: enough to see whether they have something in common."""


@dataclass(frozen=True)
class FlakyCommand:
    """Knobs."""

    name: str = "flaky-command"
    times: int = 3
    """Times it failed and then passed: twice may be two accidents."""
    tasks: int = 2
    """Tasks it was seen in: in one alone the machine may have been busy."""
    tokens: int = 20_000
    """What it must have taken in all: about what it takes to look into it at all."""

    def find(self, window: Window) -> Iterator[Finding]:
        found: dict[str, list[Unsteady]] = defaultdict(list)
        for it in unsteady(window):
            found[it.command].append(it)
        runs = Counter(command for _, _, command in attempts(window))
        for command, told in sorted(found.items()):
            if len(told) < self.times or window.tasks(it.session for it in told) < self.tasks:
                continue
            took = occurrences(window, [Span(it.session, it.failed, it.passed) for it in told])
            spent = total(took)
            if spent is None or spent >= self.tokens:
                yield self._finding(window, told, took, runs[command])

    def _finding(
        self, window: Window, told: list[Unsteady], took: tuple[Occurrence, ...], runs: int
    ) -> Finding:
        command = in_common([spelled(it.ran) for it in told]) or told[0].command
        sessions = counted(len({it.session for it in told}), "session")
        seen = f"{len(told)} times in {sessions}, of {counted(runs, 'run')}"
        failed = (window.failed.get((it.session, it.failed)) for it in told)
        lines = Counter(one_line(it.signature) for it in failed if it is not None)
        said = sorted(lines, key=lambda it: (-lines[it], it))[:_QUOTED]
        return Finding(
            heuristic=self.name,
            key=told[0].command,
            claim=f"{code(command)} fails and then passes, with nothing changed",
            because=(seen, *(f"failed with: {it}" for it in said[:1])),
            occurrences=took,
            change=Change(Design.BRIEF, _brief(command, seen, said)),
            category=Category.INVESTIGATE,
            effort=30,
            disproof="somebody changed something between the two runs that no call shows",
            metric=Metric(Fact.FLAKY, told[0].command),
        )


def _brief(command: str, seen: str, said: list[str]) -> str:
    quoted = "".join(f"    {it}\n" for it in said)
    failed = f"The failed runs said:\n\n{quoted}\n" if said else ""
    return (
        f"# Make {code(command)} say the same every time\n\n"
        f"It failed and passed when it was run again, with nothing changed: {seen}.\n\n{failed}"
        "- Run it ten times in a row, in random order if it can, and note what fails.\n"
        "- Look for time, order, ports, the network, files that two runs share, and services that"
        " are not up yet. Mend that, or put the test aside with an issue that names it.\n"
        f"- Done when twenty runs of {code(command)} in a row end alike.\n"
    )
