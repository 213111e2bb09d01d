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
from typing import TYPE_CHECKING, Final

from hansei.bets.model import Category, Change, Design, Finding, Metric, Occurrence
from hansei.bets.recurring import Fact
from hansei.projection.files import Verb
from hansei.projection.starts import shares
from hansei.projection.wording import amount, listed, times

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from hansei.projection.files import Crowded
    from hansei.projection.window import Window

_CHANGES: Final = frozenset((Verb.EDIT, Verb.WRITE, Verb.CREATE))


@dataclass(frozen=True)
class CrowdedSearch:
    """Knobs: how often, and what it must have taken."""

    name: str = "crowded-search"
    sessions: int = 3
    """Twice is chance."""
    searches: int = 5
    """Fewer are no habit, however long their answers are."""
    days: int = 3
    """On fewer it may have been one piece of work."""
    tokens: int = 30_000
    """In all but the longest answer, which may have been one vague search: below, it is not worth a
    line that every session carries."""
    named: int = 3
    """Folders to skip, in the line: the rest is guessed from them."""
    met: int = 2
    """Sessions that met a folder, for it to be named."""
    sources: int = 3
    """Folders to search in, in the line: more are not kept in mind."""
    least: float = 0.05
    """Of the files that are changed, in a folder, for it to be one of them."""
    most: float = 0.9
    """Of the files that are changed, in those folders: else the line would hide the others."""
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
        taken_by = [it.tokens or 0 for it in told]
        if self._recurs(window, told) and sum(taken_by) - max(taken_by) >= self.tokens:
            # A line that all projects carry cannot name the folders of one.
            sources = [] if window.is_user_wide else self._sources(window, spread)
            yield self._finding(sources, told, rows, _ordered(spread, self.met)[: self.named])

    def _recurs(self, window: Window, told: list[Occurrence]) -> bool:
        """On several days: subagents of one task are told the same."""
        sessions = {it.session for it in told}
        return (
            len(sessions) >= self.sessions
            and len(told) >= self.searches
            and len(window.days_of(sessions)) >= self.days
        )

    def _sources(self, window: Window, made: Collection[str]) -> list[str]:
        """The folders that hold what sessions change and nothing made; none where they are many."""
        files: dict[int, set[str]] = defaultdict(set)
        for session, touch in window.touches:
            if touch.inside and touch.verb in _CHANGES and "*" not in touch.path:
                files[session].add(touch.path)
        clean = {
            folder: share
            for folder, share in shares(files.values()).items()
            if share >= self.least and not any(f"{it}/".startswith(folder) for it in made)
        }
        highest = [it for it in clean if not any(it != up and it.startswith(up) for up in clean)]
        chosen = sorted(highest, key=lambda it: (-clean[it], it))[: self.sources]
        return chosen if sum(clean[it] for it in chosen) >= self.most else []

    def _finding(
        self, sources: list[str], told: list[Occurrence], rows: list[Crowded], folders: list[str]
    ) -> Finding:
        sessions = len({it.session for it in told})
        made, taken = [it.made for it in rows], [it.tokens or 0 for it in told]
        lines = sum(it.lines for it in rows)
        skipped = listed(f"{it}/" for it in folders)
        begin = f"name a folder, or leave out {skipped}: else they fill the answer"
        if sources:
            begin = f"begin in {listed(sources)}: higher up, {skipped} fill the answer"
        return Finding(
            heuristic=self.name,
            key="top",
            claim=f"Searches find {skipped} instead of source, in {sessions} sessions",
            because=(
                f"{times(len(told))}, {sum(made):,} of {lines:,} lines lie there{_mostly(made)}",
                f"{amount(sum(taken))} tokens for carrying those lines{_mostly(taken)}",
                "answers are cut at a length: they stand in the place of what was asked for",
            ),
            occurrences=tuple(told),
            change=Change(Design.LINE, f"To search, {begin}. With `find`, use `-prune`."),
            category=Category.FIX,
            effort=self.effort,
            disproof="sessions that have the line get such answers just as often",
            metric=Metric(Fact.CROWDED, "top"),
            anywhere=not sources,
        )


def _mostly(amounts: Sequence[int]) -> str:
    """A sum that one answer makes up is said to be one."""
    return ", most of it one answer" if 2 * max(amounts) > sum(amounts) else ""


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
