"""The same failure over many sessions: how often, since when, and what usually gets past it."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from hansei.projection.failures.model import Ending, Family

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hansei.projection.failures.model import Episode, Failure


def families(
    failures: Iterable[tuple[int, Failure]], episodes: Iterable[tuple[int, Episode]]
) -> list[Family]:
    """Failures with one signature brought together, those of most sessions first.

    Each row comes with the number of its session.
    """
    seen: dict[str, list[tuple[int, Failure]]] = defaultdict(list)
    for session, failure in failures:
        seen[failure.signature].append((session, failure))
    after: dict[str, Counter[str]] = defaultdict(Counter)
    for _, episode in episodes:
        if episode.ending is Ending.RECOVERED:
            after[episode.signature][episode.after] += 1
    found = [_family(name, rows, after[name]) for name, rows in seen.items()]
    return sorted(found, key=lambda it: (-len(it.sessions), -it.times, it.signature))


def _family(name: str, rows: list[tuple[int, Failure]], after: Counter[str]) -> Family:
    times = sorted(row.at for _, row in rows if row.at is not None)
    recovery, count = min(after.items(), key=lambda it: (-it[1], it[0]), default=("", 0))
    return Family(
        signature=name,
        kind=rows[0][1].kind,
        program=rows[0][1].program,
        sessions=tuple(sorted({session for session, _ in rows})),
        times=len(rows),
        first=times[0] if times else None,
        last=times[-1] if times else None,
        recovered=after.total(),
        recovery=recovery,
        recoveries=count,
    )
