"""Which commit brought the lines of an edit.

Every line an edit wrote is a *copy* that waits to land. Commits are gone through in order; one that
adds a line to the file takes in as many copies of it as it adds, the newest first: who wrote a line
again after it was lost is the one whose line landed. The main line goes first, because what was
squashed there may still lie on a branch as well.
"""

from __future__ import annotations

import posixpath
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.projection.outcomes.lines import is_phrase, phrase
from hansei.projection.outcomes.model import DAY_MS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from hansei.git.history import Change, Commit, History
    from hansei.projection.outcomes.model import Written
    from hansei.projection.outcomes.texts import Texts

ROUNDED_MS: Final = 1000
"""Git leaves out the milliseconds. More leeway would credit a commit with what came right after it:
agents commit and go on within seconds."""
MOST_TRIES: Final = 20
"""Commits to a file in which a line is looked for in another layout."""
MOVED_WITHIN_MS: Final = 30 * DAY_MS
MOST_LOOKED_THROUGH: Final = 5_000
"""Changed files in which lines are looked for that did not land where they were written."""
MOVED_CHARACTERS: Final = 60
"""So many characters must be the same before another file is believed to hold the lines."""
MOVED_LINES: Final = 2


class Landing(NamedTuple):
    commit: Commit
    place: int
    """The commit's place in the history."""
    path: str
    reformatted: bool
    on_main: bool
    fresh: bool
    """Whether the file had no such line before."""


@dataclass(eq=False, slots=True)
class Copy:
    """A line as one hunk wrote it once."""

    hunk: int
    line: str
    at: int
    until: int | None
    """When a later edit of the same session removed it."""
    landing: Landing | None = None
    tries: int = 0

    def fits(self, commit: Commit) -> bool:
        """Whether it can have been there when the commit was made."""
        if commit.committed < self.at - ROUNDED_MS:
            return False
        return self.until is None or commit.committed <= self.until


Pages = dict[str, dict[str, list[Copy]]]
"""Copies by file and line, in the order they were written."""


def copies_of(hunks: Sequence[Written], places: Sequence[str | None]) -> list[Copy]:
    """The copies of all hunks that lie in the repository and whose time is known."""
    made = []
    for number, (hunk, place) in enumerate(zip(hunks, places, strict=True)):
        if place is None or hunk.at is None:
            continue
        gone: dict[str, list[int | None]] = defaultdict(list)
        for back in hunk.taken_back:
            if not back.by_shell:
                gone[back.line].append(back.at)
        for line in hunk.added:
            until = gone[line].pop() if gone[line] else None
            made.append(Copy(number, line, hunk.at, until))
    return sorted(made, key=lambda copy: (copy.at, copy.hunk))


def land(
    hunks: Sequence[Written], places: Sequence[str | None], history: History, texts: Texts
) -> list[Copy]:
    """All copies, each with the commit that brought it, if one did."""
    copies = copies_of(hunks, places)
    pages: Pages = {}
    for copy in copies:
        path = places[copy.hunk]
        assert path is not None
        pages.setdefault(path, {}).setdefault(copy.line, []).append(copy)
    first_seen: dict[tuple[bool, str, str], int] = {}
    for commit, place, on_main in in_order(history):
        for change in commit.changes:
            if change.path in pages and change.after is not None:
                version = (on_main, change.path, change.after)
                since = first_seen.setdefault(version, commit.committed)
                page = pages[change.path]
                if since < commit.committed:  # an old version is back: only later copies are new
                    page = _written_after(page, since)
                _take_in(page, commit, change, texts, place, on_main)
    _let_go(copies, hunks)
    _land_elsewhere(copies, hunks, places, pages, history, texts)
    return copies


def versions(history: History, paths: Collection[str]) -> dict[str, list[tuple[Commit, Change]]]:
    """Every change to some files, in the order of the history."""
    found: dict[str, list[tuple[Commit, Change]]] = defaultdict(list)
    for commit in history.commits:
        for change in commit.changes:
            if change.path in paths:
                found[change.path].append((commit, change))
    return found


def last_before(past: Sequence[tuple[Commit, Change]], moment: int) -> Change | None:
    """The last change to a file that was committed by then."""
    earlier = [change for commit, change in past if commit.committed <= moment]
    return earlier[-1] if earlier else None


def _written_after(page: Mapping[str, list[Copy]], moment: int) -> dict[str, list[Copy]]:
    return {line: [copy for copy in copies if copy.at > moment] for line, copies in page.items()}


def _let_go(copies: Sequence[Copy], hunks: Sequence[Written]) -> None:
    """Forget the landings of hunks of which only a few lines came, all known to the file before.

    Such lines are its idiom: somebody else's work brought them once more.
    """
    landings: dict[int, list[Landing]] = defaultdict(list)
    for copy in copies:
        if copy.landing is not None:
            landings[copy.hunk].append(copy.landing)
    weak = {
        hunk
        for hunk, found in landings.items()
        if len(found) * 2 < len(hunks[hunk].added) and not any(it.fresh for it in found)
    }
    for copy in copies:
        if copy.hunk in weak:
            copy.landing = None


def in_order(history: History) -> Iterator[tuple[Commit, int, bool]]:
    """All commits with their places: those of the main line first."""
    for on_main in (True, False):
        for place, commit in enumerate(history.commits):
            if (commit.id in history.main) is on_main:
                yield commit, place, on_main


def _take_in(
    page: Mapping[str, list[Copy]],
    commit: Commit,
    change: Change,
    texts: Texts,
    place: int,
    on_main: bool,
) -> None:
    added, before = texts.added(change), texts.before(change)
    if not added:
        return
    landing = Landing(commit, place, change.path, False, on_main, fresh=True)
    for line in [it for it in page if it in added]:
        _settle(page[line], added[line], landing._replace(fresh=line not in before))
    open_lines = {
        line: fitting
        for line, copies in page.items()
        if (fitting := [it for it in _waiting(copies, commit) if it.tries < MOST_TRIES])
    }
    for line, fitting in open_lines.items():
        words = phrase(line)
        for copy in fitting:
            copy.tries += 1
        if is_phrase(words):
            stood = texts.phrases_before(change, words)
            more = texts.phrase(change.after).count(words) - stood - added[line]
            _settle(fitting, more, landing._replace(reformatted=True, fresh=not stood))


def _waiting(copies: Iterable[Copy], commit: Commit) -> list[Copy]:
    return [copy for copy in copies if copy.landing is None and copy.fits(commit)]


def _settle(copies: Iterable[Copy], most: int, landing: Landing) -> None:
    """Let a commit take in as many waiting copies as it adds, the newest first."""
    waiting = _waiting(copies, landing.commit)
    for copy in waiting[::-1][: max(most, 0)]:
        copy.landing = landing


# --- lines that were moved before they were committed ---------------------------------------------


def _land_elsewhere(
    copies: Sequence[Copy],
    hunks: Sequence[Written],
    places: Sequence[str | None],
    pages: Pages,
    history: History,
    texts: Texts,
) -> None:
    lost = _lost(copies, hunks, places, history, texts)
    endings = {
        posixpath.splitext(places[it.hunk] or "")[1] for them in lost.values() for it in them
    }
    times = [copy.at for them in lost.values() for copy in them]
    looked = 0
    for commit, place, on_main in in_order(history) if times else ():
        if not min(times) - ROUNDED_MS <= commit.committed <= max(times) + MOVED_WITHIN_MS:
            continue
        for change in commit.changes:
            ending = posixpath.splitext(change.path)[1]
            if change.after is None or ending not in endings or looked >= MOST_LOOKED_THROUGH:
                continue
            looked += 1
            landing = Landing(commit, place, change.path, False, on_main, fresh=True)
            _take_in_moved(lost, landing, texts.added(change), pages.get(change.path, {}), hunks)


def _lost(
    copies: Sequence[Copy],
    hunks: Sequence[Written],
    places: Sequence[str | None],
    history: History,
    texts: Texts,
) -> dict[str, list[Copy]]:
    """Copies, by line, of hunks that did not land; lines their file had before are none."""
    landed = Counter(copy.hunk for copy in copies if copy.landing is not None)
    waiting = [
        copy
        for copy in copies
        if copy.landing is None and landed[copy.hunk] * 2 < len(hunks[copy.hunk].added)
    ]
    past = versions(history, {places[copy.hunk] or "" for copy in waiting})
    lost: dict[str, list[Copy]] = defaultdict(list)
    for copy in waiting:
        last = last_before(past.get(places[copy.hunk] or "", ()), copy.at)
        if last is None or not texts.holds(last.after, copy.line):
            lost[copy.line].append(copy)
    return lost


def _take_in_moved(
    lost: Mapping[str, list[Copy]],
    landing: Landing,
    added: Counter[str],
    written_here: Mapping[str, list[Copy]],
    hunks: Sequence[Written],
) -> None:
    """Believe a move only where half of a hunk came with one change and nobody wrote it there."""
    found: dict[int, list[Copy]] = defaultdict(list)
    for line in [it for it in lost if it in added and it not in written_here]:
        for copy in _waiting(lost[line], landing.commit)[-added[line] :]:
            if landing.commit.committed - copy.at <= MOVED_WITHIN_MS:
                found[copy.hunk].append(copy)
    for hunk, copies in found.items():
        if len(copies) * 2 >= len(hunks[hunk].added) and enough_to_move(
            [copy.line for copy in copies]
        ):
            for copy in copies:
                copy.landing = landing


def enough_to_move(lines: Collection[str]) -> bool:
    """Whether lines are too many to stand in another file by chance."""
    return len(lines) >= MOVED_LINES and sum(map(len, lines)) >= MOVED_CHARACTERS
