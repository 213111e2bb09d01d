"""One file, command or tool that fills the context of several sessions until it is compacted.

A compaction throws away what a session knew: the agent goes on with a summary and reads again what
it needs. One compaction is how long sessions are; but where the same thing made up a good part of
what had to go in several sessions, it is the thing to make smaller. What left is told by
provenance. Counted are its part of carrying the summary, and what reading it again took; what
carrying it took before is told beside it. Floor: three sessions, 15% of the context in each, and
20,000 tokens.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from hansei.bets.model import Category, Change, Design, Finding, Metric, Occurrence
from hansei.bets.recurring import Fact
from hansei.projection.compactions import COMMAND, FILE, REPORTS, fillings
from hansei.projection.wording import amount, code, counted, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hansei.projection.compactions import Filled
    from hansei.projection.window import Window


@dataclass(frozen=True)
class CompactedBy:
    """Knobs: in how many sessions, and what it must have taken."""

    name: str = "compacted-by"
    sessions: int = 3
    """In fewer it was what the session was about."""
    tokens: int = 20_000
    """In all, after the compactions."""
    effort: float = 30
    """Minutes to split a file or to make a command quieter, and to review that."""

    def find(self, window: Window) -> Iterator[Finding]:
        found: dict[str, list[Filled]] = defaultdict(list)
        for it in fillings(window):
            found[it.cause].append(it)
        for cause, told in sorted(found.items()):
            enough = window.tasks(it.session for it in told) >= self.sessions
            if enough and sum(it.after for it in told) >= self.tokens:
                yield self._finding(cause, told)

    def _finding(self, cause: str, told: Sequence[Filled]) -> Finding:
        what, advice = _in_words(cause)
        sessions = counted(len({it.session for it in told}), "session")
        least, most = (pick(it.share for it in told) for pick in (min, max))
        after, before = sum(it.after for it in told), sum(it.carried for it in told)
        because = (
            f"it was {least:.0%} to {most:.0%} of what had to leave",
            f"{amount(after)} tokens afterwards for its part of the summary and to read it again",
            f"carrying it up to then took {amount(before)} tokens",
        )
        seen = "\n".join(f"- {it}" for it in because)
        return Finding(
            heuristic=self.name,
            key=cause,
            claim=f"{what} fills {fmean(it.share for it in told):.0%} of the context of "
            f"{sessions} that ran into compaction",
            because=because,
            occurrences=tuple(Occurrence(it.session, it.seq, it.after) for it in told),
            change=Change(
                Design.BRIEF,
                f"# Keep {what} from filling contexts\n\n{seen}\n\n## What to do\n{advice}\n\n"
                "## How to check\nSessions about the same kind of task end without a compaction, "
                f"or {what} is less than a tenth of what leaves with it.\n",
                cause.partition(" ")[2] if cause.startswith(FILE) else None,
            ),
            category=Category.INVESTIGATE,
            effort=self.effort,
            disproof=f"these sessions had to see all of {what} to do what they were asked",
            metric=Metric(Fact.COMPACTED, cause),
        )


def _in_words(cause: str) -> tuple[str, str]:
    kind, _, name = cause.partition(" ")
    if cause == REPORTS:
        return "what subagents report", (
            "Have them report less: say in the prompt or in the subagent's own file how long a "
            "report may be, and that it names places instead of quoting them."
        )
    if kind == FILE:
        return quoted(name), (
            "Move parts that change for different reasons into files of their own, so that a "
            "session reads and writes only the one it is about. Until then: read it by range, and "
            "edit it in place rather than writing it anew."
        )
    if kind == COMMAND:
        return code(name), (
            "Give agents a quieter form of it: an option for short output, only what failed, or "
            "its output in a file that is searched. Name that form in the instruction file."
        )
    return quoted(name), "Ask the server for less: narrower queries, fewer fields, a limit."
