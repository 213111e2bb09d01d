"""A file that several sessions read page by page, four pages or more between two prompts.

Every page is a request of its own that carries the whole context again. Where the pages add up to
most of a file that fits into one read, reading it whole would have taken one request; where they
do not, a search and one read would have done. Only the requests beyond that are counted: the text
might have been carried as well. Floor: three sessions and 30,000 tokens.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.bets.model import Category, Change, Design, Finding, Metric, Occurrence
from hansei.bets.recurring import Fact
from hansei.projection.pagings import PAGES, pagings
from hansei.projection.wording import amount, counted, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hansei.projection.pagings import Paging
    from hansei.projection.window import Window


@dataclass(frozen=True)
class PagedFile:
    """Knobs: what paging is, and how often it must happen."""

    name: str = "paged-file"
    pages: int = PAGES
    """Reads of a part in one go: two or three are a look at the places that a search told."""
    sessions: int = 3
    """Twice is chance."""
    tokens: int = 30_000
    """In all; below, a line in the instruction file would cost about as much as it saves."""
    share: float = 0.6
    """Of the lines up to the furthest: who reads more of a file is better off reading all of it."""
    at_once: int = 1_000
    """Lines that agents are given in one read, at least: tools cut at 2,000 lines or 25,000
    tokens, and a line of code takes ten to twenty."""
    effort: float = 2
    """Minutes to read one line and agree."""

    def find(self, window: Window) -> Iterator[Finding]:
        found: dict[str, list[Paging]] = defaultdict(list)
        for it in pagings(window):
            if len(it.pages) >= self.pages:
                found[it.path].append(it)
        for path, told in sorted(found.items()):
            took = [_took(window, it, 1 if self._whole(told) else 2) for it in told]
            total = sum(it.tokens or 0 for it in took)
            known = any(it.tokens is not None for it in took)
            if window.tasks(it.session for it in told) >= self.sessions and (
                total >= self.tokens or not known
            ):
                yield self._finding(path, told, took)

    def _whole(self, told: Sequence[Paging]) -> bool:
        """Whether reading all of it at once is what most of them were after."""
        mostly = 2 * sum(it.seen >= self.share * it.furthest for it in told) > len(told)
        return mostly and max(it.furthest for it in told) <= self.at_once

    def _finding(self, path: str, told: Sequence[Paging], took: list[Occurrence]) -> Finding:
        file = quoted(path)
        sessions = len({it.session for it in told})
        pages = sum(len(it.pages) for it in told)
        furthest = max(it.furthest for it in told)
        known = [it.tokens for it in took if it.tokens is not None]
        return Finding(
            heuristic=self.name,
            key=path,
            claim=f"{file} is read page by page in {sessions} sessions, up to "
            f"{max(len(it.pages) for it in told)} reads in a row",
            because=(
                (
                    f"{pages} reads of a part in {counted(len(told), 'run')}, up to line "
                    f"{furthest:,}, without an edit in between"
                ),
                (
                    f"{amount(sum(known))} tokens for requests that only asked for the next page"
                    if known
                    else "what the requests took is not told"
                ),
            ),
            occurrences=tuple(took),
            change=Change(
                Design.LINE,
                f"Read {file} whole in one call (about {furthest:,} lines), not in pages."
                if self._whole(told)
                else f"{file} is long (line {furthest:,} and more): search it for the place "
                "and read only that part.",
            ),
            category=Category.FIX,
            effort=self.effort,
            disproof=f"later sessions page through {file} just as often",
            metric=Metric(Fact.PAGED, path),
        )


def _took(window: Window, paging: Paging, needed: int) -> Occurrence:
    """What the requests for the pages took, but for those that are needed: one, or a search too."""
    rounds = window.rounds[paging.session].rounds_of(paging.pages[needed:])
    return Occurrence(paging.session, paging.pages[0], sum(rounds.values()) if rounds else None)
