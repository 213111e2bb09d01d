"""Which hunks must be judged again: those that news of git, of sessions or of the calendar concern.

A verdict depends on the commits to the files its lines were in, and on the other hunks in them.
Only lines that did not land where they were written were looked for in other files as well.
"""

from __future__ import annotations

import posixpath
from bisect import bisect_left
from collections import defaultdict
from typing import TYPE_CHECKING

from hansei.projection.outcomes.landing import MOVED_WITHIN_MS, ROUNDED_MS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hansei.git.history import Commit, History
    from hansei.projection.outcomes.memory import Entry, Memory
    from hansei.projection.outcomes.rows import Stored

Key = tuple[int, int, int]


def key_of(hunk: Stored) -> Key:
    """What a hunk is known by: session, event, and number in it."""
    return hunk.session, hunk.row.seq, hunk.row.hunk


def still_good(
    before: Memory,
    hunks: Sequence[Stored],
    prints: Sequence[str],
    places: Sequence[str | None],
    history: History,
    now: int,
) -> dict[int, Entry]:
    """Verdicts of last time that nothing has touched, by the hunk's place in the list."""
    old = {(it.session, it.seq, it.hunk): it for it in before.entries}
    same: dict[int, Entry] = {}
    touched: set[str] = set()
    arrived: list[int] = []
    for number, hunk in enumerate(hunks):
        entry = old.pop(key_of(hunk), None)
        if entry and (entry.print, entry.place) == (prints[number], places[number]):
            same[number] = entry
            continue
        arrived += [] if hunk.row.at is None else [hunk.row.at]
        touched |= {places[number] or "", *(entry.verdict.files if entry else ())}
    for entry in old.values():
        touched.update(entry.verdict.files)
    news = _news(before, history)
    touched.update(change.path for commit in news for change in commit.changes)
    times = _times(news)
    reach = (before.complete_since or 0, history.complete_since or 0)
    return {
        number: entry
        for number, entry in same.items()
        if touched.isdisjoint(entry.verdict.files)
        and not (entry.due is not None and entry.due <= now)
        and not (entry.at is not None and (entry.at < reach[0]) != (entry.at < reach[1]))
        and not (entry.verdict.astray and (old or _search_differs(entry, times, arrived)))
    }


def _news(before: Memory, history: History) -> list[Commit]:
    """Commits that came, went, or changed between the main line and a branch."""
    main = frozenset(before.main)
    then = {it.id: it for it in before.commits}
    now = {it.id: it for it in history.commits}
    came = [it for it in history.commits if it.id not in then]
    went = [it for it in before.commits if it.id not in now]
    turned = {name for name in main ^ history.main if name in then and name in now}
    return [*came, *went, *(now[name] for name in sorted(turned))]


def _times(news: Iterable[Commit]) -> dict[str, list[int]]:
    """When commits changed files of a kind."""
    found: dict[str, set[int]] = defaultdict(set)
    for commit in news:
        for change in commit.changes:
            found[posixpath.splitext(change.path)[1]].add(commit.committed)
    return {ending: sorted(times) for ending, times in found.items()}


def _search_differs(entry: Entry, times: dict[str, list[int]], arrived: Sequence[int]) -> bool:
    """Whether a search in other files would find other commits or other writers."""
    if entry.at is None or entry.place is None:
        return False
    found = times.get(posixpath.splitext(entry.place)[1], [])
    first = bisect_left(found, entry.at - ROUNDED_MS)
    if first < len(found) and found[first] <= entry.at + MOVED_WITHIN_MS:
        return True
    landed = entry.verdict.outcome.landed_at
    return landed is not None and any(entry.at <= at <= landed + ROUNDED_MS for at in arrived)


def together(chosen: Iterable[int], files: Sequence[Iterable[str]]) -> set[int]:
    """The chosen and all that share a file with one of them, directly or over others."""
    by_file: dict[str, list[int]] = defaultdict(list)
    for number, paths in enumerate(files):
        for path in paths:
            by_file[path].append(number)
    found = set(chosen)
    todo = list(found)
    while todo:
        for path in files[todo.pop()]:
            for number in by_file.pop(path, ()):
                if number not in found:
                    found.add(number)
                    todo.append(number)
    return found
