"""Searches from the top of the repository are answered with installed packages and caches.

Whoever asks, and whatever for: such an answer is no use, and where answers are cut at a length it
holds nothing else. What counts is the share of the answer that lies in folders which only programs
write to, as long as it was carried. That what was looked for would have been found at once is not
counted.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from hansei.bets.model import Category, Change, Design, Finding, Metric, Occurrence
from hansei.bets.recurring import Fact
from hansei.projection.files import Verb
from hansei.projection.starts import shares
from hansei.projection.wording import amount, listed, quoted, times

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hansei.projection.files import Crowded
    from hansei.projection.window import Window


@dataclass(frozen=True)
class CrowdedSearch:
    """Knobs: how often, and what it must have taken."""

    name: str = "crowded-search"
    sessions: int = 3
    """Twice is chance."""
    tokens: int = 30_000
    """In all; below, it is not worth a line that every session carries."""
    named: int = 3
    """Folders to skip, in the line: the rest is guessed from them."""
    met: int = 2
    """Sessions that met a folder, for it to be named."""
    least: float = 0.5
    """Of the files that are read and changed, in a folder, for it to be where one should search."""
    effort: float = 2
    """Minutes to read one line and agree."""

    def find(self, window: Window) -> Iterator[Finding]:
        told: list[Occurrence] = []
        rows: list[Crowded] = []
        spread: dict[str, set[int]] = defaultdict(set)
        for session, row in window.crowded:
            taken = window.rent_of_call(session, row.seq)
            tokens = None if taken is None else round(taken * row.share)
            told.append(Occurrence(session, row.seq, tokens))
            rows.append(row)
            for folder in row.folders:
                spread[folder].add(session)
        total = sum(it.tokens or 0 for it in told)
        if len({it.session for it in told}) < self.sessions or total < self.tokens:
            return
        if self._recurs(window, told):
            source = _source(window, self.least, spread)
            yield self._finding(source, told, rows, _ordered(spread, self.met)[: self.named])

    def _recurs(self, window: Window, told: list[Occurrence]) -> bool:
        """On another day or in another task: subagents of one task are told the same."""
        sessions = {it.session for it in told}
        return window.tasks(sessions) > 1 or len(window.days_of(sessions)) > 1

    def _finding(
        self, source: str | None, told: list[Occurrence], rows: list[Crowded], folders: list[str]
    ) -> Finding:
        sessions = len({it.session for it in told})
        made, lines = (sum(it) for it in zip(*((it.made, it.lines) for it in rows), strict=True))
        begin = f"Search below {quoted(source)}" if source else "Name a folder when you search"
        skipped = listed(f"{it}/" for it in folders)
        return Finding(
            heuristic=self.name,
            key="top",
            claim=f"Searches from the top find {skipped} instead of source, in {sessions} sessions",
            because=(
                f"{times(len(told))}, {made:,} of {lines:,} lines of the answers lie there",
                f"{amount(sum(it.tokens or 0 for it in told))} tokens for carrying those lines",
                "answers are cut at a length: they stand in the place of what was asked for",
            ),
            occurrences=tuple(told),
            change=Change(
                Design.LINE,
                f"{begin}, not `**` from the top: answers would be full of {skipped}. With `find`, "
                "use `-prune`.",
            ),
            category=Category.FIX,
            effort=self.effort,
            disproof="sessions that have the line get such answers just as often",
            metric=Metric(Fact.CROWDED, "top"),
        )


def _ordered(spread: dict[str, set[int]], least: int) -> list[str]:
    """Folders by how many sessions met them; of several with one name only the name."""
    by_name: dict[str, set[str]] = defaultdict(set)
    for folder in spread:
        by_name[PurePosixPath(folder).name].add(folder)
    met = {name: set[int]().union(*(spread[it] for it in own)) for name, own in by_name.items()}
    return [
        next(iter(own)) if len(own) == 1 else name
        for name, own in sorted(by_name.items(), key=lambda it: (-len(met[it[0]]), it[0]))
        if len(met[name]) >= least
    ]


def _source(window: Window, least: float, made: Iterable[str]) -> str | None:
    """The folder with most of the files that sessions read and change, and none that is made."""
    files: dict[int, set[str]] = defaultdict(set)
    for session, touch in window.touches:
        if touch.inside and touch.verb in (Verb.READ, Verb.EDIT) and "*" not in touch.path:
            files[session].add(touch.path)
    clean = {
        folder: share
        for folder, share in shares(files.values()).items()
        if share >= least and not any(f"{it}/".startswith(folder) for it in made)
    }
    return min(clean, key=lambda it: (-clean[it], it.count("/"), it), default=None)
