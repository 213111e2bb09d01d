"""The same command fills the context again and again, and many requests carry what it printed.

Outputs that were needed are left alone: those of calls that failed, files of the repository, texts
that are there to be read, searches and listings, which are questions of their own, and calls that
were filtered already. What a quieter form would still print is not counted as saved.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from hansei.bets.model import Category, Change, Design, Finding, Metric, Occurrence
from hansei.config import CommandClass
from hansei.events.model import Status, Tool
from hansei.projection.files import Verb
from hansei.projection.wording import amount, quoted, times
from hansei.retro.quieter import quieter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.projection.facts.called import Called
    from hansei.projection.facts.ran import Ran
    from hansei.projection.window import Window

_FILTERS = frozenset(
    ("head", "tail", "grep", "wc", "jq", "sed", "awk", "cut", "Select-Object", "Select-String")
)
"""What takes a part of another program's output."""
_TEXTS = (".md", ".mdc", ".txt", ".rst")


class _Large(NamedTuple):
    """One large output."""

    session: int
    seq: int
    tokens: int
    requests: int
    excess: int
    """Tokens billed for what a quieter form would not have printed."""
    run: Ran | None
    """The command; None where it is no shell call."""


@dataclass(frozen=True)
class LargeOutput:
    """Knobs: what is large, what is long, and what a quieter form would leave."""

    name: str = "large-output"
    tokens: int = 2_000
    """Two screens; below, an agent program has cut it already, or there is little to drop."""
    requests: int = 5
    """Carried by fewer, an output costs about as much as asking for it again."""
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
        found: dict[str, list[_Large]] = defaultdict(list)
        ran = {(session, run.seq): run for session, run in window.commands if run.about}
        sources = _sources(window)
        for session, call in window.calls:
            if (session, call.seq) not in sources and not _is_filtered(window, session, call.seq):
                run = ran.get((session, call.seq))
                large = self._large(window, session, call, run)
                if large is not None:
                    found[_group(call, run)].append(large)
        for group, told in sorted(found.items()):
            sessions, excess = {it.session for it in told}, sum(it.excess for it in told)
            if len(sessions) >= self.sessions and excess >= self.total:
                yield self._finding(group, sorted(told, key=lambda it: it[:2]))

    def _large(self, window: Window, session: int, call: Called, run: Ran | None) -> _Large | None:
        """A call's output if it is large, was carried long and was not needed to see a failure."""
        known = _can_be_quieter(run) if run is not None else call.tool is Tool.MCP
        pieces = window.carried.get((session, call.result)) if call.result is not None else None
        if not known or not pieces or call.status is Status.FAILED:
            return None
        tokens = sum(piece.tokens for piece in pieces)
        requests = max(piece.requests for piece in pieces)
        if tokens < self.tokens or requests < self.requests:
            return None
        billed = sum(piece.billed for piece in pieces)
        excess = billed - billed * self.keep // tokens
        return _Large(session, call.seq, tokens, requests, excess, run)

    def _finding(self, group: str, told: list[_Large]) -> Finding:
        run = max(told, key=lambda it: it.excess).run
        sizes = sorted(it.tokens for it in told)
        carried = int(median(it.requests for it in told))
        sessions = len({it.session for it in told})
        command, excess = quoted(_shown(group, told)), sum(it.excess for it in told)
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
            occurrences=tuple(Occurrence(it.session, it.seq, it.excess) for it in told),
            change=change,
            category=Category.INVESTIGATE if less is None else Category.FIX,
            effort=self.search if less is None else self.effort,
            disproof=f"sessions need most of what {command} prints: they ask for it again",
            metric=Metric("commands" if run is not None else "calls", group),
            fix=instead,
        )


def _group(call: Called, run: Ran | None) -> str:
    """What counts as the same command.

    A subcommand is, whatever it was given, where a quieter form is known that fits all of it. Of
    others only the very same command is: given something else it shows something else.
    """
    if run is None:
        return call.name
    return run.form if run.subcommand is None or quieter(run) is None else run.shown


def _shown(group: str, told: list[_Large]) -> str:
    """The form itself where there is only one."""
    forms = {it.run.form for it in told if it.run is not None}
    return forms.pop() if len(forms) == 1 else group


def _span(sizes: list[int]) -> str:
    """From the smallest to the largest, in round numbers."""
    low, high = (amount(it) for it in (sizes[0], sizes[-1]))
    return low if low == high else f"{low} to {high}"


def _is_filtered(window: Window, session: int, seq: int) -> bool:
    """Whether a call has only a part of what a program prints already."""
    return any(it.program in _FILTERS for it in window.ran_by.get((session, seq), ()))


def _can_be_quieter(run: Ran) -> bool:
    return run.parsed and run.kind is not CommandClass.SEARCH


def _sources(window: Window) -> set[tuple[int, int]]:
    """Calls that read files of the repository, or texts that are there to be read."""
    return {
        (session, touch.seq)
        for session, touch in window.touches
        if touch.verb is Verb.READ and (touch.inside or touch.path.endswith(_TEXTS))
    }


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
