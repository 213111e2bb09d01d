"""The same failure in several sessions, where something is known to end it."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.bets.model import Category, Change, Design, Finding, Metric, Occurrence
from hansei.projection.failures import Ending, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.projection.failures import Episode
    from hansei.retro.window import Window


@dataclass(frozen=True)
class RecurringFailure:
    """Knobs: in how many sessions, and how often the same command must have ended it."""

    name: str = "recurring-failure"
    sessions: int = 3
    recoveries: int = 2
    share: float = 0.5
    """Of the episodes that ended well, those that the same command ended."""

    def find(self, window: Window) -> Iterator[Finding]:
        by_signature: dict[str, list[tuple[int, Episode]]] = defaultdict(list)
        for session, episode in window.episodes:
            if episode.kind is Kind.FAILURE:
                by_signature[episode.signature].append((session, episode))
        for signature, told in sorted(by_signature.items()):
            if len({session for session, _ in told}) >= self.sessions:
                yield from self._finding(signature, told)

    def _finding(self, signature: str, told: list[tuple[int, Episode]]) -> Iterator[Finding]:
        ended = [it for _, it in told if it.ending is Ending.RECOVERED]
        ways = Counter(it.after for it in ended if it.after and it.after != it.before)
        way, times = min(ways.items(), key=lambda it: (-it[1], it[0]), default=("", 0))
        if times < self.recoveries or times < self.share * len(ended):
            return
        failing = Counter(it.before for _, it in told).most_common(1)[0][0]
        count = len({session for session, _ in told})
        yield Finding(
            heuristic=self.name,
            key=signature,
            claim=f"`{failing}` fails here; `{way}` is what works",
            because=(
                f"failed in {count} sessions with: {signature}",
                f"`{way}` ended it {times} times of {len(ended)}",
            ),
            occurrences=tuple(
                Occurrence(session, it.seq, _taken(it), it.minutes) for session, it in told
            ),
            change=Change(Design.LINE, f"Use `{way}`, not `{failing}`: {signature}."),
            category=Category.FIX,
            effort=2,
            disproof=f"`{failing}` works here in later sessions",
            metric=Metric("failures", signature),
            fix=way,
        )


def _taken(episode: Episode) -> int | None:
    return None if episode.input is None else episode.input + (episode.output or 0)
