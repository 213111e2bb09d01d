"""Something that agents write and that people replace by the same other thing, again and again.

A deprecated call, a forbidden helper, a name the project does not use: agents write it, it lands,
and people change it to what they want. Learned from commits by content: the line an agent wrote,
the line that stands there now, and the one thing in which they differ. The same replacement in what
several sessions wrote, by several commits, in several files, is a rule that nobody has told agents.
What it takes is people's time, which no transcript tells: so no tokens are claimed.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hansei.bets.model import Category, Change, Design, Finding, Metric, Occurrence
from hansei.bets.recurring import Fact
from hansei.projection.patterns import replacements
from hansei.projection.wording import code, counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.projection.patterns import Pattern, Replaced
    from hansei.projection.window import Window

_SHOWN: Final = 3
"""Commits that are named."""
_SHORT: Final = 10
"""Letters of a commit's name."""


@dataclass(frozen=True)
class ReplacedPattern:
    """Knobs."""

    name: str = "replaced-pattern"
    sessions: int = 3
    """Sessions, each with its subagents, that wrote it: two may have been one task."""
    commits: int = 2
    """Commits of people that replaced it: one may have been a change of mind about everything."""
    files: int = 2
    """Files it was replaced in: in one it may be about that file alone."""
    effort: float = 2
    """Minutes to read one of the commits and to write the line."""

    def find(self, window: Window) -> Iterator[Finding]:
        found: dict[Pattern, list[Replaced]] = defaultdict(list)
        for it in replacements(window):
            found[it.pattern].append(it)
        opposed = {pattern._replace(old=pattern.new, new=pattern.old) for pattern in found}
        for pattern, told in sorted(found.items()):
            often = (
                window.tasks(it.session for it in told) >= self.sessions
                and len({it.commit for it in told}) >= self.commits
                and len({it.path for it in told}) >= self.files
            )
            if often and pattern not in opposed:
                yield self._finding(pattern, told)

    def _finding(self, pattern: Pattern, told: list[Replaced]) -> Finding:
        commits = sorted({it.commit for it in told})
        files = counted(len({it.path for it in told}), "file")
        sessions = counted(len({it.session for it in told}), "session")
        shown = ", ".join(code(f"git show {it[:_SHORT]}") for it in commits[:_SHOWN])
        by = counted(len(commits), "commit")
        seen = f"{counted(len(told), 'line')} in {files}, written in {sessions}"
        return Finding(
            heuristic=self.name,
            key=pattern.key,
            claim=f"Agents write {code(pattern.old, 60)}; people make it {code(pattern.new, 60)}",
            because=(
                f"{seen}, changed by people in {by}: {shown}",
                "what that takes is people's time: no tokens are counted",
            ),
            occurrences=tuple(
                Occurrence(*place, None) for place in sorted({(it.session, it.seq) for it in told})
            ),
            change=Change(
                Design.LINE, f"Write {code(pattern.new, 60)}, not {code(pattern.old, 60)}."
            ),
            category=Category.FIX,
            effort=self.effort,
            disproof=f"people still write {code(pattern.old, 60)} themselves, or the commits named"
            " changed it for what those lines were about",
            metric=Metric(Fact.REPLACED, pattern.key),
        )
