"""Sessions that change something begin by finding out where it lies, as others did before them.

Who is asked to explore has to explore, and who reads files reads them for a reason of their own: so
subagents and sessions that change nothing count for nothing, and reading is no waste. What is left
are two findings about listings. *Where source begins*: sessions list the top and then work in one
folder far below it; a line that names that folder stands for the listings above it. *Names*:
sessions list one folder and go on with files in it, so a line may hold their names; that is seldom
worth much, and only told on demand.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.bets.model import Category, Change, Design, Finding, Metric, Occurrence
from hansei.events.model import Driver
from hansei.projection.wording import amount, listed, quoted
from hansei.retro.starts import shares, starts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hansei.projection.window import Window
    from hansei.retro.starts import Start


@dataclass(frozen=True)
class Rediscovered:
    """Knobs: what the start of a session is, and how many have to begin alike."""

    name: str = "rediscovered"
    calls: int = 25
    """A session has found its feet by then even if it changes nothing."""
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
        begun = [it for it in starts(window, self.calls) if it.lists and _is_work(window, it)]
        below = shares(it.went_on for it in begun)
        deep = [
            folder
            for folder, share in below.items()
            if share >= self.most and folder.count("/") >= self.deep
        ]
        source = max(deep, key=lambda it: (it.count("/"), it), default=None)
        above = _shared(begun, self.sessions)
        if source is not None and (higher := [it for it in above if _is_above(it, source)]):
            yield from self._begins(window, begun, source, higher)
        yield from self._names(window, begun, [it for it in above if it != "./"])

    def _begins(
        self, window: Window, begun: list[Start], source: str, higher: list[str]
    ) -> Iterator[Finding]:
        working = [it for it in begun if any(file.startswith(source) for file in it.went_on)]
        told = _occurrences(window, working, higher)
        if self._is_enough(told):
            where = listed(higher[:3])
            yield self._finding(
                "begins",
                f"Source begins in {quoted(source)}; {_sessions(told)} sessions list {where} to "
                "find that out",
                told,
                f"Source begins in {quoted(source)}: look there first, not in {where}.",
                higher[0],
            )

    def _names(self, window: Window, begun: list[Start], folders: list[str]) -> Iterator[Finding]:
        counts = Counter(file for it in begun for file in it.went_on)
        for folder in folders:
            files = [it for it in _common(counts, self.readers) if _is_in(it, folder)][: self.names]
            going = [it for it in begun if not it.went_on.isdisjoint(files)]
            told = _occurrences(window, going, [folder])
            if len(files) >= self.least and self._is_enough(told):
                names = listed(sorted(it.removeprefix(folder) for it in files))
                yield self._finding(
                    f"names {folder}",
                    f"{_sessions(told)} sessions list {quoted(folder)}, then open a file in it",
                    told,
                    f"{quoted(folder)} holds {names}: open them without listing it.",
                    folder,
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
        folder: str,
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
            metric=Metric("touches", folder),
            on_demand=on_demand,
        )


def _is_work(window: Window, start: Start) -> bool:
    """Whether somebody set out to change something and did."""
    return bool(start.changed) and window.sessions[start.session].driver != Driver.SUBAGENT


def _sessions(told: Iterable[Occurrence]) -> int:
    return len({it.session for it in told})


def _shared(begun: Iterable[Start], least: int) -> list[str]:
    """Folders that enough sessions list, the most common first."""
    return _common(Counter(folder for it in begun for folder in it.lists), least)


def _common(counts: Counter[str], least: int) -> list[str]:
    return sorted(
        (it for it, count in counts.items() if count >= least), key=lambda it: (-counts[it], it)
    )


def _is_above(folder: str, source: str) -> bool:
    return folder != source and (folder == "./" or source.startswith(folder))


def _is_in(file: str, folder: str) -> bool:
    """Whether a file lies in a folder itself: names of others are told where they lie."""
    return file.startswith(folder) and "/" not in file.removeprefix(folder)


def _occurrences(
    window: Window, begun: Iterable[Start], folders: Iterable[str]
) -> list[Occurrence]:
    """The listings of those folders, without what is another bet: those that are crowded."""
    crowded: dict[int, set[int]] = defaultdict(set)
    for session, row in window.crowded:
        crowded[session].add(row.seq)
    told = []
    for start in begun:
        calls = {seq for it in folders for seq in start.lists.get(it, ())} - crowded[start.session]
        spared = window.rounds[start.session].spared(calls)
        told += [Occurrence(start.session, seq, spared.get(seq)) for seq in sorted(calls)]
    return told
