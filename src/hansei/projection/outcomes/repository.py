"""All hunks of a repository judged, and judged again only where there is news.

What is found is the same whether everything is looked at or only the news.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.git.history import listed, read_history, standing, worktrees
from hansei.git.objects import Objects
from hansei.git.repository import git
from hansei.projection.outcomes.judge import Verdict, judge, unknown
from hansei.projection.outcomes.memory import Entry, Known, Memory, kept, recalled, storable
from hansei.projection.outcomes.model import DAY_MS
from hansei.projection.outcomes.places import place
from hansei.projection.outcomes.rows import fingerprint, told_once, unpacked
from hansei.projection.outcomes.stale import key_of, still_good, together
from hansei.projection.outcomes.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from hansei.git.history import History, Standing
    from hansei.projection.outcomes.model import Outcome
    from hansei.projection.outcomes.rows import Stored

RULES: Final = 2
"""Counted up when the same history is judged otherwise: everything is then judged again."""
BEFORE_MS: Final = 30 * DAY_MS
"""How far before the first edit the history is read, to know which lines are old."""
UNPACKED: Final = 2_000
"""Hunks whose lines are kept at hand."""

NO_GIT: Final = "git is not installed"
NOT_HERE: Final = "its repository is not on this machine"
NO_REPOSITORY: Final = "its folder is no git repository"


class Judged(NamedTuple):
    """What a judgement found."""

    rows: dict[int, list[Outcome]]
    """All rows of each session that has a new or changed one."""
    known: Known
    looked_at: int
    """How many hunks were judged again."""


def judge_repository(
    hunks: Sequence[Stored],
    folder: str | None,
    now: int,
    known: Known | None,
    scrub: Callable[[str], str],
) -> Judged:
    """What became of all hunks that sessions wrote in one repository.

    `scrub` replaces secrets in git's files the way those of transcripts were.
    """
    problem, at = _asked(folder)
    key = f"{RULES} {problem or (at and at.key)} {fingerprint(hunks)}"
    if known is not None and known.key == key and not known.is_due(now):
        return Judged({}, known, 0)
    before = recalled(known) if known and known.key.startswith(f"{RULES} ") else Memory()
    told = told_once(hunks)
    if at is None:
        verdicts = [Verdict(unknown(it.row, problem or ""), (), False) for it in told]
        entries = [_entry(hunk, None, it) for hunk, it in zip(told, verdicts, strict=True)]
        after, looked = Memory(entries=tuple(entries)), len(told)
    else:
        after, looked = _judged(told, folder or "", at, before, scrub, now)
    return Judged(_changed(hunks, before, after), kept(key, after), looked)


def has_news(folder: str | None, now: int, known: Known) -> bool:
    """Whether git or the calendar has news; that of sessions the caller knows without asking."""
    problem, at = _asked(folder)
    state = f"{RULES} {problem or (at and at.key)} "
    return known.is_due(now) or not known.key.startswith(state)


def _asked(folder: str | None) -> tuple[str | None, Standing | None]:
    """Where a repository stands, or why it cannot be asked."""
    problem = why_not(folder)
    at = None if problem else standing(folder or "")
    return problem or (None if at else NO_REPOSITORY), at


def why_not(folder: str | None) -> str | None:
    """Why a repository cannot be asked, if so."""
    try:
        here = folder is not None and Path(folder).is_dir()
    except (OSError, ValueError):
        here = False
    if not here:
        return NOT_HERE
    return NO_GIT if git(folder or "", "--version") is None else None


def _judged(
    hunks: Sequence[Stored],
    folder: str,
    at: Standing,
    before: Memory,
    scrub: Callable[[str], str],
    now: int,
) -> tuple[Memory, int]:
    history = _history(hunks, folder, at, before, now)
    places = _places(hunks, folder, history)
    prints = [fingerprint([hunk]) for hunk in hunks]
    entries = still_good(before, hunks, prints, places, history, now)
    old = {(it.session, it.seq, it.hunk): it.verdict.files for it in before.entries}
    files = [
        (*_alone(path), *old.get(key_of(it), ())) for it, path in zip(hunks, places, strict=True)
    ]
    everyone = Everyone(hunks, places)
    done: set[int] = set()
    chosen = together(set(range(len(hunks))) - entries.keys(), files)
    with Objects(folder) as objects:
        texts = Texts(objects.blob, scrub)
        while chosen != done:  # lines may have gone to files whose hunks were not chosen
            numbers = sorted(chosen)
            some = [unpacked(hunks[it].row) for it in numbers]
            found = judge(some, [places[it] for it in numbers], history, texts, now, everyone)
            for number, verdict in zip(numbers, found, strict=True):
                entries[number] = _entry(hunks[number], places[number], verdict)
                files[number] = (*files[number], *verdict.files)
            done, chosen = chosen, together(chosen, files)
    memory = Memory(
        history.complete_since,
        history.commits,
        tuple(sorted(history.main)),
        tuple(entries[number] for number in range(len(hunks))),
    )
    return memory, len(done)


def _history(
    hunks: Sequence[Stored], folder: str, at: Standing, before: Memory, now: int
) -> History:
    times = [hunk.row.at for hunk in hunks if hunk.row.at is not None]
    since = min(times) - BEFORE_MS if times else now
    known = {commit.id: commit for commit in before.commits}
    history = read_history(folder, since=since, known=known)
    files = dict(listed(folder, at.main)) if at.main else {}
    return replace(history, commits=tuple(storable(history.commits)), files=files)


def _alone(path: str | None) -> tuple[str, ...]:
    return () if path is None else (path,)


def _entry(hunk: Stored, path: str | None, verdict: Verdict) -> Entry:
    row = hunk.row
    return Entry(hunk.session, row.seq, row.hunk, row.at, fingerprint([hunk]), path, verdict)


def _places(hunks: Sequence[Stored], folder: str, history: History) -> list[str | None]:
    roots = [folder, *worktrees(folder)]
    known = {change.path for commit in history.commits for change in commit.changes}
    known.update(history.files)
    found = {path: place(path, roots, known) for path in {hunk.row.path for hunk in hunks}}
    return [found[hunk.row.path] for hunk in hunks]


def _changed(hunks: Iterable[Stored], before: Memory, after: Memory) -> dict[int, list[Outcome]]:
    """The rows of sessions that have not the same as before."""
    then, now = _by_session(before.entries), _by_session(after.entries)
    sessions = sorted({hunk.session for hunk in hunks})
    return {it: now.get(it, []) for it in sessions if it not in then or then[it] != now.get(it)}


def _by_session(entries: Iterable[Entry]) -> dict[int, list[Outcome]]:
    found: dict[int, list[Outcome]] = defaultdict(list)
    for entry in entries:
        found[entry.session].append(entry.verdict.outcome)
    return dict(found)


class Everyone:
    """What all hunks of a repository wrote, unpacked when it is asked for."""

    def __init__(self, hunks: Sequence[Stored], places: Sequence[str | None]) -> None:
        self._hunks = hunks
        self._places = places
        self._by_place: dict[str, list[int]] = defaultdict(list)
        for number, path in enumerate(places):
            if path is not None:
                self._by_place[path].append(number)
        self._in_time = sorted(
            (hunk.row.at, number) for number, hunk in enumerate(hunks) if hunk.row.at is not None
        )
        self._lines = lru_cache(maxsize=UNPACKED)(self._unpacked)

    def wrote(self, path: str) -> Collection[str]:
        """The lines that edits wrote into a file."""
        return {line for number in self._by_place.get(path, ()) for line in self._lines(number)[0]}

    def later(self, line: str, path: str, after: int, until: int) -> int:
        """How many hunks wrote a line into files other than this one in a span of time, to stay."""
        return sum(
            line in self._lines(number)[1]
            for at, number in self._in_time
            if after < at <= until and self._places[number] not in (None, path)
        )

    def _unpacked(self, number: int) -> tuple[frozenset[str], frozenset[str]]:
        hunk = unpacked(self._hunks[number].row)
        gone = {back.line for back in hunk.taken_back}
        left = (line for at, line in enumerate(hunk.added) if at not in gone)
        return frozenset(hunk.added), frozenset(left)
