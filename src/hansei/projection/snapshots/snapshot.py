"""The files of a repository at a commit, with what they hold and how much they changed before.

Taken from git's objects, so any commit of the past will do. What a file holds depends on its blob
alone, and what a commit changed on that commit: with a cache only what nobody has seen is read.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import msgspec

from hansei.git.churn import Touch, recent, touches
from hansei.git.history import listed, moment_of
from hansei.git.objects import Objects
from hansei.projection.snapshots.languages import holds_tests, language_of
from hansei.projection.snapshots.symbols import BlobFacts, examine

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

DAY_MS: Final = 24 * 60 * 60 * 1000
SHORT_MS, LONG_MS = 30 * DAY_MS, 90 * DAY_MS
MOST_BYTES: Final = 2 << 20
"""Larger files are data; how many lines they have is left unknown."""
MOST_FILES: Final = 100_000
RULES: Final = 1
"""Counted up when the same blob or commit is told otherwise."""


class Churn(NamedTuple):
    """How much a file changed in some days before a commit."""

    commits: int = 0
    lines: int = 0
    """Lines added and removed; changes to binary files have none."""
    authors: tuple[str, ...] = ()
    """Who made those commits, the busiest first."""


class FileFacts(NamedTuple):
    path: str
    blob: str
    language: str | None
    is_test: bool
    holds: BlobFacts
    churn_30: Churn
    churn_90: Churn


class Snapshot(NamedTuple):
    commit: str
    at: int
    files: tuple[FileFacts, ...]
    left_out: int
    """Files beyond the most we look at."""


_BLOB: Final = msgspec.msgpack.Decoder(BlobFacts)
_TOUCHES: Final = msgspec.msgpack.Decoder(list[Touch])


class Cache(Protocol):
    """What was found before, by name. It can be thrown away at any time."""

    def get(self, names: Sequence[str]) -> Mapping[str, bytes]:
        """Those of the names that are known."""

    def put(self, facts: Mapping[str, bytes]) -> None: ...


def take(folder: str, commit: str, cache: Cache) -> Snapshot | None:
    """The snapshot of a commit; None if it is not here."""
    at = moment_of(folder, commit)
    if at is None:
        return None
    entries = sorted(listed(folder, commit))
    wanted = [(path, blob, language_of(path)) for path, blob in entries[:MOST_FILES]]
    holds = _blobs(folder, [(blob, language) for _, blob, language in wanted], cache)
    churn = _churn(_touches(folder, recent(folder, commit, at - LONG_MS), cache), at)
    files = []
    for path, blob, language in wanted:
        short, long = churn.get(path, (Churn(), Churn()))
        facts = holds[blob, language]
        files.append(FileFacts(path, blob, language, holds_tests(path), facts, short, long))
    return Snapshot(commit, at, tuple(files), max(0, len(entries) - MOST_FILES))


Blob = tuple[str, str | None]
"""The same blob may be Python under one name and plain text under another."""


def _blobs(folder: str, wanted: Sequence[Blob], cache: Cache) -> dict[Blob, BlobFacts]:
    names = {it: f"blob {RULES} {it[0]} {it[1] or ''}" for it in wanted}
    known = cache.get(list(names.values()))
    found = {it: _BLOB.decode(known[name]) for it, name in names.items() if name in known}
    new: dict[str, bytes] = {}
    with Objects(folder) as objects:
        for it in [it for it in names if it not in found]:
            data = objects.blob(it[0], MOST_BYTES)
            found[it] = BlobFacts(None) if data is None else examine(data, it[1])
            if data is not None:
                new[names[it]] = msgspec.msgpack.encode(found[it])
    cache.put(new)
    return found


def _touches(folder: str, commits: Sequence[str], cache: Cache) -> Iterator[Touch]:
    names = {commit: f"touches {RULES} {commit}" for commit in commits}
    known = cache.get(list(names.values()))
    for name in known.values():
        yield from _TOUCHES.decode(name)
    new: dict[str, bytes] = {}
    for commit, made in touches(folder, [it for it in commits if names[it] not in known]):
        with suppress(UnicodeEncodeError):  # a path in an encoding nobody knows is read again
            new[names[commit]] = msgspec.msgpack.encode(made)
        yield from made
    cache.put(new)


def _churn(found: Iterable[Touch], at: int) -> dict[str, tuple[Churn, Churn]]:
    """For each file what changed in the last month, and in the last three."""
    by_path: dict[str, list[Touch]] = defaultdict(list)
    for touch in found:
        by_path[touch.path].append(touch)
    return {
        path: (_sum([it for it in made if it.at >= at - SHORT_MS]), _sum(made))
        for path, made in by_path.items()
    }


def _sum(made: list[Touch]) -> Churn:
    authors = Counter(touch.author for touch in made)
    order = sorted(authors, key=lambda name: (-authors[name], name))
    return Churn(len(made), sum(touch.lines or 0 for touch in made), tuple(order))
