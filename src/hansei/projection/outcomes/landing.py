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
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from hansei.projection.outcomes.lines import is_phrase, words_of
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
MOST_CHANGES: Final = 200
"""Changes to a file in which a line is looked for at all, on the main line and beside it."""
MOVED_WITHIN_MS: Final = 30 * DAY_MS
MOST_LOOKED_THROUGH: Final = 200
"""Changes to other files in which the lines of one file are looked for that did not land in it."""
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
        gone = {back.line: back.at for back in hunk.taken_back if not back.by_shell}
        made += [
            Copy(number, line, hunk.at, gone.get(place_in_hunk))
            for place_in_hunk, line in enumerate(hunk.added)
        ]
    return sorted(made, key=lambda copy: (copy.at, copy.hunk))


class Elsewhere(Protocol):
    """What all hunks of the repository wrote, also those that are not judged this time."""

    def wrote(self, path: str) -> Collection[str]:
        """The lines that edits wrote into a file."""

    def later(self, line: str, path: str, after: int, until: int) -> int:
        """How many hunks wrote a line into files other than this one in a span of time."""


def land(
    hunks: Sequence[Written],
    places: Sequence[str | None],
    history: History,
    texts: Texts,
    elsewhere: Elsewhere,
) -> tuple[list[Copy], set[int]]:
    """All copies, each with the commit that brought it, if one did.

    With them the hunks that did not land where they were written.
    """
    copies = copies_of(hunks, places)
    pages: Pages = {}
    for copy in copies:
        path = places[copy.hunk]
        assert path is not None
        pages.setdefault(path, {}).setdefault(copy.line, []).append(copy)
    for on_main in (True, False):
        _land_at_home(pages, history, texts, on_main)
    _let_go(copies, hunks)
    lost = _lost(copies, hunks, places, history, texts)
    _land_elsewhere(lost, hunks, history, texts, elsewhere)
    return copies, {copy.hunk for page in lost.values() for them in page.values() for copy in them}


def versions(history: History, paths: Collection[str]) -> dict[str, list[tuple[Commit, Change]]]:
    """Every change to some files, in the order of the history."""
    found: dict[str, list[tuple[Commit, Change]]] = defaultdict(list)
    for commit in history.commits:
        for change in commit.changes:
            if change.path in paths:
                found[change.path].append((commit, change))
    return found


def blob_before(
    history: History, path: str, past: Sequence[tuple[Commit, Change]], moment: int
) -> str | None:
    """What a file held at a moment; None where there was none or nobody knows."""
    earlier = [change for commit, change in past if commit.committed <= moment]
    if earlier:
        return earlier[-1].after
    if past:
        return next(iter(past[0][1].before), None)
    return history.files.get(path)


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


def in_order(history: History, on_main: bool) -> Iterator[tuple[Commit, int]]:
    """The commits of the main line, or the others, with their places in the history."""
    for place, commit in enumerate(history.commits):
        if (commit.id in history.main) is on_main:
            yield commit, place


def _land_at_home(pages: Pages, history: History, texts: Texts, on_main: bool) -> None:
    """Go through the commits of the main line, or through the others."""
    left = {path: _Page(page) for path, page in pages.items()}
    first_seen: dict[tuple[str, str], int] = {}
    for commit, place in in_order(history, on_main):
        for change in commit.changes:
            page = left.get(change.path)
            if page is None or change.after is None:
                continue
            since = first_seen.setdefault((change.path, change.after), commit.committed)
            if commit.committed < page.first - ROUNDED_MS:
                continue
            # If an old version is back, only copies written after it are new.
            only = since if since < commit.committed else None
            _take_in(
                page,
                commit,
                change,
                texts,
                Landing(commit, place, change.path, False, on_main, True),
                only,
            )
            if not page.drop_landed():
                del left[change.path]


class _Page:
    """The copies of one file that have not landed, by line."""

    def __init__(self, page: Mapping[str, list[Copy]]) -> None:
        self.lines: dict[str, list[Copy]] = dict(page)
        self.drop_landed()
        for copies in self.lines.values():
            for copy in copies:
                copy.tries = 0
        times = [copy.at for copies in self.lines.values() for copy in copies]
        self.first = min(times, default=0)

    def drop_landed(self) -> bool:
        """Whether there are copies left."""
        left = {
            line: [it for it in copies if it.landing is None and it.tries < MOST_CHANGES]
            for line, copies in self.lines.items()
        }
        self.lines = {line: copies for line, copies in left.items() if copies}
        return bool(self.lines)


def _take_in(
    page: _Page, commit: Commit, change: Change, texts: Texts, landing: Landing, only: int | None
) -> None:
    waiting = {
        line: fitting
        for line, copies in page.lines.items()
        if (fitting := [it for it in _waiting(copies, commit) if only is None or it.at > only])
    }
    added = texts.added(change) if waiting else None
    if not added:
        return
    for line in [it for it in waiting if it in added]:
        fresh = not texts.before(change, line)
        _settle(waiting[line], added[line], landing._replace(fresh=fresh))
    for line, copies in waiting.items():
        for copy in copies:
            copy.tries += 1
        words = words_of(line)
        some = [it for it in copies if it.landing is None and it.tries <= MOST_TRIES]
        if some and is_phrase(words):
            more = texts.phrases_more(change, words) - added[line]
            if more > 0:
                fresh = not texts.phrases_before(change, words)
                _settle(some, more, landing._replace(reformatted=True, fresh=fresh))


def _waiting(copies: Iterable[Copy], commit: Commit) -> list[Copy]:
    return [copy for copy in copies if copy.landing is None and copy.fits(commit)]


def _settle(copies: Iterable[Copy], most: int, landing: Landing) -> None:
    """Let a commit take in as many waiting copies as it adds, the newest first."""
    waiting = _waiting(copies, landing.commit)
    for copy in waiting[::-1][: max(most, 0)]:
        copy.landing = landing


# --- lines that were moved before they were committed ---------------------------------------------


def _land_elsewhere(
    lost: Pages, hunks: Sequence[Written], history: History, texts: Texts, elsewhere: Elsewhere
) -> None:
    searches = [_Search.of(path, page) for path, page in sorted(lost.items())]
    for on_main in (True, False) if searches else ():
        for commit, place in in_order(history, on_main):
            near = [it for it in searches if it.first <= commit.committed <= it.last]
            for change in commit.changes if near else ():
                ending = posixpath.splitext(change.path)[1]
                asking = [it for it in near if change.after and it.asks(ending)]
                landing = Landing(commit, place, change.path, False, on_main, fresh=True)
                for search in asking:
                    search.looked += 1
                    if search.may_be_in(texts.text(change.after)):
                        _take_in_moved(search, landing, texts.added(change), hunks, elsewhere)


@dataclass
class _Search:
    """Lines of one file that are looked for in others."""

    path: str
    ending: str
    """Lines move between files of a kind."""
    page: dict[str, list[Copy]]
    marks: list[str]
    first: int
    last: int
    looked: int = 0

    @classmethod
    def of(cls, path: str, page: dict[str, list[Copy]]) -> _Search:
        times = [copy.at for copies in page.values() for copy in copies]
        ending = posixpath.splitext(path)[1]
        marks = [max(line.split(), key=len) for line in page]
        first, last = min(times) - ROUNDED_MS, max(times) + MOVED_WITHIN_MS
        return cls(path, ending, page, marks, first, last)

    def may_be_in(self, text: str) -> bool:
        """Whether a text has the longest words of enough lines: cheaper than comparing lines."""
        return len(list(islice((True for mark in self.marks if mark in text), MOVED_LINES))) > 1

    def asks(self, ending: str) -> bool:
        return ending == self.ending and self.looked < MOST_LOOKED_THROUGH


def _lost(
    copies: Sequence[Copy],
    hunks: Sequence[Written],
    places: Sequence[str | None],
    history: History,
    texts: Texts,
) -> Pages:
    """Copies of hunks that did not land, by file and line; what the file had before is none."""
    landed = Counter(copy.hunk for copy in copies if copy.landing is not None)
    waiting = [
        copy
        for copy in copies
        if copy.landing is None and landed[copy.hunk] * 2 < len(hunks[copy.hunk].added)
    ]
    past = versions(history, {places[copy.hunk] or "" for copy in waiting})
    lost: Pages = {}
    for copy in waiting:
        path = places[copy.hunk] or ""
        last = blob_before(history, path, past.get(path, ()), copy.at)
        if not texts.holds(last, copy.line):
            lost.setdefault(path, {}).setdefault(copy.line, []).append(copy)
    return lost


def _take_in_moved(
    search: _Search,
    landing: Landing,
    added: Counter[str],
    hunks: Sequence[Written],
    elsewhere: Elsewhere,
) -> None:
    """Believe a move only where half of a hunk came with one change.

    What an edit wrote into that file is its own; of several files that the same lines were written
    into, the last one is where they came from.
    """
    found: dict[int, list[Copy]] = defaultdict(list)
    for line in [it for it in search.page if it in added]:
        for copy in _waiting(search.page[line], landing.commit)[-added[line] :]:
            if landing.commit.committed - copy.at <= MOVED_WITHIN_MS:
                found[copy.hunk].append(copy)
    until = landing.commit.committed + ROUNDED_MS
    for hunk, copies in found.items():
        if not _half(hunks[hunk], copies):
            continue
        own = elsewhere.wrote(landing.path)
        left = [
            copy
            for copy in copies
            if copy.line not in own
            and elsewhere.later(copy.line, search.path, copy.at, until) < added[copy.line]
        ]
        for copy in left if _half(hunks[hunk], left) else ():
            copy.landing = landing


def _half(hunk: Written, copies: Sequence[Copy]) -> bool:
    enough = enough_to_move([copy.line for copy in copies])
    return enough and len(copies) * 2 >= len(hunk.added)


def enough_to_move(lines: Collection[str]) -> bool:
    """Whether lines are too many to stand in another file by chance."""
    return len(lines) >= MOVED_LINES and sum(map(len, lines)) >= MOVED_CHARACTERS
