"""Sessions that change something begin by finding out where it lies, as others did before them.

Who is asked to explore has to explore, and who reads files reads them for a reason of their own: so
subagents and sessions that change nothing count for nothing, and reading is no waste. What is left
are two findings about listings. *Where source begins*: sessions list the top and then work in one
folder far below it; a line that names that folder stands for the listings above it. *Names*:
sessions list one folder and go on with files in it, so a line may hold their names; that is seldom
worth much, and only told on demand.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.bets.model import Category, Change, Design, Finding, Metric, Occurrence
from hansei.bets.recurring import Fact
from hansei.projection.starts import LONGEST, above, is_in, listings, shares, working
from hansei.projection.wording import amount, listed, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hansei.projection.starts import Start
    from hansei.projection.window import Window


@dataclass(frozen=True)
class Rediscovered:
    """Knobs: what the start of a session is, and how many have to begin alike."""

    name: str = "rediscovered"
    calls: int = LONGEST
    """Of the start of a session, at most."""
    sessions: int = 4
    """That begin alike; three may be one piece of work taken up again."""
    most: float = 0.8
    """Of the files that a session goes on with: what lies in one folder is where source begins."""
    deep: int = 2
    """Folders down from the top: what lies in the top is seen at a glance."""
    readers: int = 3
    """Sessions that go on with a file, for it to be worth a place in the line."""
    least: int = 3
    """Names without which a line says nothing."""
    names: int = 8
    """In the line: every session carries it."""
    tokens: int = 20_000
    """In all; below, a line costs more than it saves."""
    effort: float = 3
    """Minutes to check a folder and a few names."""

    def find(self, window: Window) -> Iterator[Finding]:
        begun = [it for it in working(window, self.calls) if it.lists]
        below = shares(it.went_on for it in begun)
        deep = [
            folder
            for folder, share in below.items()
            if share >= self.most and folder.count("/") >= self.deep
        ]
        source = max(deep, key=lambda it: (it.count("/"), it), default=None)
        shared = _shared(begun, self.sessions)
        if source is not None and (higher := [it for it in shared if it in above(source)]):
            yield from self._begins(window, begun, source, higher)
        yield from self._names(window, begun, [it for it in shared if it != "./"])

    def _begins(
        self, window: Window, begun: list[Start], source: str, higher: list[str]
    ) -> Iterator[Finding]:
        there = [it for it in begun if any(file.startswith(source) for file in it.went_on)]
        told = _occurrences(window, there, above(source))
        if self._is_enough(told):
            where = listed(higher[:3])
            yield self._finding(
                "begins",
                f"Source begins in {quoted(source)}; {_sessions(told)} sessions list {where} to "
                "find that out",
                told,
                f"Source begins in {quoted(source)}: look there first, not in {where}.",
                Metric(Fact.LISTINGS_ABOVE, source),
            )

    def _names(self, window: Window, begun: list[Start], folders: list[str]) -> Iterator[Finding]:
        counts = Counter(file for it in begun for file in it.went_on)
        for folder in folders:
            files = [it for it in _common(counts, self.readers) if is_in(it, folder)][: self.names]
            going = [it for it in begun if not it.went_on.isdisjoint(files)]
            told = _occurrences(window, going, [folder])
            if len(files) >= self.least and self._is_enough(told):
                names = listed(sorted(it.removeprefix(folder) for it in files))
                yield self._finding(
                    f"names {folder}",
                    f"{_sessions(told)} sessions list {quoted(folder)}, then open a file in it",
                    told,
                    f"{quoted(folder)} holds {names}: open them without listing it.",
                    Metric(Fact.LISTINGS, folder),
                    on_demand=True,
                )

    def _is_enough(self, told: list[Occurrence]) -> bool:
        total = sum(it.tokens or 0 for it in told)
        return _sessions(told) >= self.sessions and total >= self.tokens

    def _finding(
        self,
        key: str,
        claim: str,
        told: list[Occurrence],
        line: str,
        metric: Metric,
        *,
        on_demand: bool = False,
    ) -> Finding:
        total = sum(it.tokens or 0 for it in told)
        return Finding(
            heuristic=self.name,
            key=key,
            claim=claim,
            because=(
                "all of them went on to change something, and none is a subagent",
                f"{amount(total)} tokens for listings and for requests that did nothing else",
            ),
            occurrences=tuple(told),
            change=Change(Design.LINE, line),
            category=Category.FIX,
            effort=self.effort,
            disproof="sessions that have the line list the same folders just as often",
            metric=metric,
            on_demand=on_demand,
        )


def _sessions(told: Iterable[Occurrence]) -> int:
    return len({it.session for it in told})


def _shared(begun: Iterable[Start], least: int) -> list[str]:
    """Folders that enough sessions list, the most common first."""
    return _common(Counter(folder for it in begun for folder in it.lists), least)


def _common(counts: Counter[str], least: int) -> list[str]:
    return sorted(
        (it for it, count in counts.items() if count >= least), key=lambda it: (-counts[it], it)
    )


def _occurrences(
    window: Window, begun: Iterable[Start], folders: Iterable[str]
) -> list[Occurrence]:
    """The listings of those folders."""
    told = []
    for start in begun:
        calls = listings(window, start, folders)
        spared = window.rounds[start.session].spared(calls)
        told += [Occurrence(start.session, seq, spared.get(seq)) for seq in sorted(calls)]
    return told
