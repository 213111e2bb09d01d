"""Subagents of one kind whose reports come to nothing: the session that asked goes on without them.

A report counts as used as soon as a later call, edit or reply of the parent holds a path, a name or
four words in a row that only the report had told, or some of its new words. What is left are
reports of which nothing at all came back. What they took is the subagent's own bill and what
carrying the report took in the parent. Floor: three such reports in two tasks, half of that
kind's reports, and 50,000 tokens.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.bets.model import Category, Change, Design, Finding, Metric, Occurrence
from hansei.bets.recurring import Fact
from hansei.projection.wording import amount, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hansei.projection.facts.tables import Found
    from hansei.projection.reports import Report
    from hansei.projection.window import Window


@dataclass(frozen=True)
class UnusedReport:
    """Knobs: how many reports, and what they must have taken."""

    name: str = "unused-report"
    reports: int = 3
    """Of one kind: a single one may have said that all is well."""
    tasks: int = 2
    """In one it may have been one change of mind."""
    share: float = 0.5
    """Of the reports of which it is known: a kind that is mostly used is worth its price."""
    tokens: int = 50_000
    """In all; a subagent seldom takes less."""
    effort: float = 15
    """Minutes to see what it is asked for, and to change or drop it."""

    def find(self, window: Window) -> Iterator[Finding]:
        by_role: dict[str, list[Found[Report]]] = defaultdict(list)
        for it in window.reports:
            if it.row.used is not None and it.row.role:
                by_role[it.row.role].append(it)
        for role, told in sorted(by_role.items()):
            unused = [it for it in told if it.row.used is False]
            if (
                len(unused) >= max(self.reports, self.share * len(told))
                and window.tasks(it.session for it in unused) >= self.tasks
            ):
                took = [_took(window, it) for it in unused]
                known = [it.tokens for it in took if it.tokens is not None]
                if not known or sum(known) >= self.tokens:
                    yield self._finding(role, took, len(told), sum(known) if known else None)

    def _finding(
        self, role: str, took: Sequence[Occurrence], reports: int, tokens: int | None
    ) -> Finding:
        kind = quoted(role)
        because = (
            (
                f"of {reports} reports {len(took)} left no trace: no path, name or phrase of them "
                "came up again in the session that asked"
            ),
            "what they took is not told"
            if tokens is None
            else f"{amount(tokens)} tokens for the subagents and for carrying their reports",
        )
        seen = "".join(f"- {it}\n" for it in because)
        return Finding(
            heuristic=self.name,
            key=role,
            claim=f"Reports of {kind} subagents are not used: {len(took)} of {reports}",
            because=because,
            occurrences=tuple(took),
            change=Change(
                Design.BRIEF,
                f"# Make {kind} subagents worth their price, or stop starting them\n\n{seen}\n"
                "## What to do\nOpen the places that are listed: was the question one that the "
                "session could have answered at once, did the report come too late, or did it not "
                "say what was asked? Change the prompt or the subagent's description so that it "
                "is started only for what is used, or take it out.\n\n"
                "## How to check\nIn later sessions what it reports comes up again.\n",
            ),
            category=Category.INVESTIGATE,
            effort=self.effort,
            disproof="the reports said that nothing was to be done, which is what they were for",
            metric=Metric(Fact.UNUSED, role),
        )


def _took(window: Window, found: Found[Report]) -> Occurrence:
    """The subagent's own bill and the rent of its report."""
    session, report = found
    child = window.child_of(session, report.child)
    own = None if child is None else window.sessions[child].tokens
    rent = window.rent_of_call(session, report.seq)
    known = [it for it in (own, rent) if it is not None]
    return Occurrence(session, report.seq, sum(known) if known else None)
