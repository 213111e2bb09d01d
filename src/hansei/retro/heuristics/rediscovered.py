"""Many sessions begin by finding out the same things: where files lie, and what is in them.

Two findings. *Listings*: the same folders are listed before the first change, and the same files
are read after that. The names of those files are what was found, so a line that holds them stands
for the listings of sessions that went on to read one of them. *First reads*: sessions read the same
files before they do anything, and change none of them. A page about those files stands for
reading them; the largest one that a session read is not counted as saved, because a page has to be
read too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from hansei.bets.model import Category, Change, Design, Finding, Metric, Occurrence
from hansei.projection.wording import amount, listed, quoted
from hansei.retro.starts import starts

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    readers: int = 3
    """Sessions that read a file at their start, for it to be worth a place in the map."""
    names: int = 8
    """In the map: every session carries it."""
    least: int = 3
    """Names without which a map says nothing."""
    share: float = 0.2
    """Of the sessions that look around: those that read a file, for it to be one of the first."""
    together: int = 3
    """Of the first files, how many a session has to read to be looking around."""
    tokens: int = 20_000
    """In all; below, a map costs more than it saves."""
    effort: float = 3
    """Minutes to check a few names."""
    writing: float = 20
    """Minutes to have a page written and to read it."""

    def find(self, window: Window) -> Iterator[Finding]:
        begun = [it for it in starts(window, self.calls) if it.lists or it.reads]
        yield from self._listings(window, begun)
        yield from self._first_reads(window, begun)

    def _listings(self, window: Window, starts: list[Start]) -> Iterator[Finding]:
        folders = _common(Counter(folder for it in starts for folder in it.lists), self.sessions)
        read = _common(Counter(file for it in starts for file in it.seen), self.readers)
        below = [file for file in read if any(_is_below(file, it) for it in folders)]
        found = below[: self.names]
        told = []
        for start in starts:
            if start.seen.isdisjoint(found):
                continue  # it looked for something that the line would not tell
            calls = {seq for it in folders for seq in start.lists.get(it, ())}
            told += _occurrences(window, start.session, calls)
        total = sum(it.tokens or 0 for it in told)
        count = len({it.session for it in told})
        if count < self.sessions or total < self.tokens or len(found) < self.least:
            return
        where = listed(folders[:3])
        yield Finding(
            heuristic=self.name,
            key="listings",
            claim=f"{count} of {len(starts)} sessions list {where} to find the same files: "
            "write down where they are",
            because=(
                f"{self.readers} sessions or more go on to read {listed(found[: self.least])}",
                f"{amount(total)} tokens for listings and for requests that did nothing else",
            ),
            occurrences=tuple(told),
            change=Change(
                Design.LINE,
                f"Where things are: {_map(found)}. Open these instead of listing {where}.",
            ),
            category=Category.FIX,
            effort=self.effort,
            disproof="sessions that have the line list the same folders just as often",
            metric=Metric("touches", folders[0]),
        )

    def _first_reads(self, window: Window, starts: list[Start]) -> Iterator[Finding]:
        counts = Counter(file for it in starts for file in it.reads)
        least = max(self.sessions, ceil(self.share * len(starts)))
        files = _common(counts, least)[: self.names]
        told = [
            Occurrence(start.session, seq, tokens)
            for start in starts
            for seq, tokens in _looking_around(window, start, files, self.together)
        ]
        total = sum(it.tokens or 0 for it in told)
        if len(told) < self.sessions or total < self.tokens:
            return
        yield Finding(
            heuristic=self.name,
            key="first-reads",
            claim=f"{len(told)} of {len(starts)} sessions begin by reading {listed(files[:3])} "
            f"{'and others ' if len(files) > self.least else ''}and change none of them: write "
            "down what they say",
            because=(
                *(f"{quoted(it)} is read first in {counts[it]} sessions" for it in files[:2]),
                f"{amount(total)} tokens for them, not counting the largest one in each session",
            ),
            occurrences=tuple(told),
            change=Change(Design.BRIEF, _brief(files, counts, len(told))),
            category=Category.INVESTIGATE,
            effort=self.writing,
            disproof="sessions that have the page read the files themselves just as often",
            metric=Metric("touches", files[0]),
        )


def _common(counts: Counter[str], least: int) -> list[str]:
    """What enough sessions share, the most common first."""
    return sorted(
        (it for it, count in counts.items() if count >= least), key=lambda it: (-counts[it], it)
    )


def _is_below(file: str, folder: str) -> bool:
    return folder in ("./", "") or file.startswith(folder)


def _map(files: list[str]) -> str:
    """Names by folder, so that no folder is told twice."""
    folders: dict[str, list[str]] = defaultdict(list)
    for file in files:
        folder, _, name = file.rpartition("/")
        folders[folder].append(name)
    return "; ".join(
        quoted(f"{folder}/{names[0]}" if folder else names[0])
        if len(names) == 1
        else f"{quoted(f'{folder}/' if folder else './')} {listed(names)}"
        for folder, names in folders.items()
    )


def _occurrences(window: Window, session: int, calls: set[int]) -> list[Occurrence]:
    spared = window.rounds[session].spared(calls)
    return [Occurrence(session, seq, spared.get(seq)) for seq in sorted(calls)]


def _looking_around(
    window: Window, start: Start, files: list[str], least: int
) -> Iterator[tuple[int, int | None]]:
    """The first of the reads and what they took together, without the largest."""
    common = {file: start.reads[file] for file in files if file in start.reads}
    if len(common) < least:
        return
    calls = {min(seqs) for seqs in common.values()}  # reading again is another question
    spared = window.rounds[start.session].spared(calls)
    tokens = sum(spared.values()) - max(spared.values()) if spared else None
    yield min(calls), tokens


def _brief(files: list[str], counts: Counter[str], sessions: int) -> str:
    rows = "\n".join(f"- {quoted(it)}: read first in {counts[it]} sessions" for it in files)
    return (
        f"# Write down what {len(files)} files say\n\n"
        f"{sessions} sessions began by reading several of these, and changed none:\n\n{rows}\n\n"
        "## What to do\n"
        "Write one page (or a section of the instruction file) that says for each file what it is "
        "for, its main types and functions with their signatures, and which file to open for which "
        "change. Keep it under a screen: the instruction file links to it in one line.\n\n"
        "## How to check\n"
        "Later sessions open at most one or two of these files before their first change.\n"
    )
