"""The files of a repository at a commit, with what they hold and how much they changed before.

Taken from git's objects, so any commit of the past will do. What a file holds depends on its blob
alone: hand in the facts that are known, and only blobs nobody has seen are read.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.git.churn import touches
from hansei.git.history import listed, moment_of
from hansei.git.objects import Objects
from hansei.projection.snapshots.languages import holds_tests, language_of
from hansei.projection.snapshots.symbols import BlobFacts, examine

if TYPE_CHECKING:
    from collections.abc import Iterable, MutableMapping

    from hansei.git.churn import Touch

DAY_MS: Final = 24 * 60 * 60 * 1000
SHORT_MS, LONG_MS = 30 * DAY_MS, 90 * DAY_MS
MOST_BYTES: Final = 2 << 20
"""Larger files are data; how many lines they have is left unknown."""
MOST_FILES: Final = 100_000


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


def take(
    folder: str, commit: str, known: MutableMapping[tuple[str, str | None], BlobFacts]
) -> Snapshot | None:
    """The snapshot of a commit; None if it is not here.

    `known` are facts by blob and language; new ones are put there.
    """
    at = moment_of(folder, commit)
    if at is None:
        return None
    entries = sorted(listed(folder, commit))
    churn = _churn(touches(folder, commit, at - LONG_MS), at)
    files = []
    with Objects(folder) as objects:
        for path, blob in entries[:MOST_FILES]:
            language = language_of(path)
            facts = known.get((blob, language))
            if facts is None:
                data = objects.blob(blob, MOST_BYTES)
                facts = BlobFacts(None) if data is None else examine(data, language)
                known[blob, language] = facts
            short, long = churn.get(path, (Churn(), Churn()))
            files.append(FileFacts(path, blob, language, holds_tests(path), facts, short, long))
    return Snapshot(commit, at, tuple(files), max(0, len(entries) - MOST_FILES))


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
