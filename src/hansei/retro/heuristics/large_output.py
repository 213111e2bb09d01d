"""The same command fills the context again and again, and many requests carry what it printed.

Outputs that were needed are left alone (`large_outputs` says which). What a quieter form would
still print is not counted as saved.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from hansei.bets.model import Category, Change, Design, Finding, Metric, Occurrence
from hansei.bets.recurring import Fact
from hansei.projection.commands.quieter import quieter
from hansei.projection.large_outputs import LARGE, LONG, large_outputs
from hansei.projection.wording import amount, quoted, times

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.projection.large_outputs import Large
    from hansei.projection.window import Window


@dataclass(frozen=True)
class LargeOutput:
    """Knobs: what is large, what is long, and what a quieter form would leave."""

    name: str = "large-output"
    tokens: int = LARGE
    """Of an output that is large."""
    requests: int = LONG
    """That carried it, at least."""
    keep: int = 300
    """What a quieter form still prints: some twenty lines."""
    sessions: int = 3
    """Twice is chance."""
    total: int = 50_000
    """In all; below, it is not worth a line that every session carries."""
    effort: float = 2
    """Minutes to read one line and agree."""
    search: float = 15
    """Minutes to find a quieter form where none is known."""

    def find(self, window: Window) -> Iterator[Finding]:
        found: dict[str, list[Large]] = defaultdict(list)
        for it in large_outputs(window, large=self.tokens, long=self.requests):
            found[it.group].append(it)
        for group, told in sorted(found.items()):
            sessions, excess = {it.session for it in told}, sum(map(self._excess, told))
            if len(sessions) >= self.sessions and excess >= self.total:
                yield self._finding(group, sorted(told, key=lambda it: it[:2]))

    def _excess(self, one: Large) -> int:
        """Tokens billed for what a quieter form would not have printed."""
        return one.billed - one.billed * self.keep // one.tokens

    def _finding(self, group: str, told: list[Large]) -> Finding:
        run = max(told, key=self._excess).run
        sizes = sorted(it.tokens for it in told)
        carried = int(median(it.requests for it in told))
        sessions = len({it.session for it in told})
        command, excess = quoted(_shown(group, told)), sum(map(self._excess, told))
        because = (
            f"so large {times(len(told))}, each time carried by {carried:,} requests (median)",
            f"{amount(excess)} tokens beyond the {self.keep} that a quieter form would print",
        )
        less = None if run is None else quieter(run)
        instead = None if less is None else f"{_shown(group, told)} {less.text}"
        if instead is None:
            change = Change(Design.BRIEF, _brief(command, because, sizes[0]))
        else:
            line = f"Run {quoted(instead)}: without that it prints {_span(sizes)} tokens."
            change = Change(Design.LINE, line)
        return Finding(
            heuristic=self.name,
            key=group,
            claim=f"{command} prints {_span(sizes)} tokens; {sessions} sessions carry them along",
            because=because,
            occurrences=tuple(Occurrence(it.session, it.seq, self._excess(it)) for it in told),
            change=change,
            category=Category.INVESTIGATE if less is None else Category.FIX,
            effort=self.search if less is None else self.effort,
            disproof=f"sessions need most of what {command} prints: they ask for it again",
            metric=Metric(Fact.LARGE_OUTPUTS, group),
            fix=instead,
        )


def _shown(group: str, told: list[Large]) -> str:
    """The form itself where there is only one."""
    forms = {it.run.form for it in told if it.run is not None}
    return forms.pop() if len(forms) == 1 else group


def _span(sizes: list[int]) -> str:
    """From the smallest to the largest, in round numbers."""
    low, high = (amount(it) for it in (sizes[0], sizes[-1]))
    return low if low == high else f"{low} to {high}"


def _brief(command: str, because: tuple[str, ...], size: int) -> str:
    seen = "\n".join(f"- {it}" for it in because)
    return (
        f"# Make {command} print less\n\n{seen}\n\n"
        "## What to do\n"
        "Find an option, a filter or a limit with which it prints only what sessions go on with "
        "(open the calls listed as evidence), and write that form into the instruction file. "
        "Where the output comes from a script of this repository, make the short form its "
        "default.\n\n"
        f"## How to check\nThe same call prints well below {size:,} tokens, and later sessions do "
        "not ask for the long form.\n"
    )
