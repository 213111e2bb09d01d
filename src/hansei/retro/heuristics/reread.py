"""A file is read again within a turn though it is unchanged and still in the context.

That happens to any file now and then and is nobody's fault. Worth a line is a file that many
sessions read again: there is something about it that makes agents forget, and naming it helps. Who
is given a new prompt has a new reason to look, and what a command prints is another thing each time
it runs: so only files of the repository count, read twice between two prompts.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.bets.model import Category, Change, Design, Finding, Metric, Occurrence
from hansei.bets.recurring import Fact
from hansei.projection.files import Verb
from hansei.projection.rereads import repeats
from hansei.projection.wording import amount, quoted, times

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.projection.rereads import Repeat
    from hansei.projection.window import Window


@dataclass(frozen=True)
class Reread:
    """Knobs: in how many sessions, and what it must have taken."""

    name: str = "reread"
    sessions: int = 3
    """Twice is chance."""
    tokens: int = 10_000
    """In all; below, the line would cost about as much as it saves."""
    effort: float = 2
    """Minutes to read one line and agree."""

    def find(self, window: Window) -> Iterator[Finding]:
        again = repeats(window)
        taken = _taken(window, again)
        by_path: dict[str, list[Occurrence]] = defaultdict(list)
        reads: dict[str, set[int]] = defaultdict(set)
        for session, touch in window.touches:
            if touch.verb is Verb.READ:
                reads[touch.path].add(session)
            if (session, touch.seq, touch.path) in again:
                tokens = taken.get((session, touch.seq))
                by_path[touch.path].append(Occurrence(session, touch.seq, tokens))
        for path, those in sorted(by_path.items()):
            told = sorted(set(those))
            total = sum(it.tokens or 0 for it in told)
            if len({it.session for it in told}) >= self.sessions and total >= self.tokens:
                yield self._finding(path, told, len(reads[path]))

    def _finding(self, path: str, told: list[Occurrence], readers: int) -> Finding:
        sessions = len({it.session for it in told})
        file = quoted(path)
        return Finding(
            heuristic=self.name,
            key=path,
            claim=f"{file} is read again, unchanged, in {sessions} of {readers} sessions that "
            "read it",
            because=(
                f"read again {times(len(told))} while the same lines were still in the context",
                f"{amount(sum(it.tokens or 0 for it in told))} tokens for having it there twice",
            ),
            occurrences=tuple(told),
            change=Change(
                Design.LINE,
                f"Read {file} once, whole, and again only if it changed or your context was "
                "compacted.",
            ),
            category=Category.FIX,
            effort=self.effort,
            disproof=f"later sessions read {file} again just as often",
            metric=Metric(Fact.REREADS, path),
        )


def _taken(window: Window, again: set[Repeat]) -> dict[tuple[int, int], int]:
    """What reading again took, by session and call; not where a call did something else too."""
    useless: dict[tuple[int, int], bool] = {}
    paths: dict[tuple[int, int], int] = defaultdict(int)
    for session, touch in window.touches:
        place = session, touch.seq
        useless[place] = useless.get(place, True) and (*place, touch.path) in again
        paths[place] += 1
    calls: dict[int, set[int]] = defaultdict(set)
    for (session, seq), all_of_it in useless.items():
        if all_of_it:
            calls[session].add(seq)
    return {
        (session, seq): tokens // paths[session, seq]
        for session, seqs in calls.items()
        for seq, tokens in window.rounds[session].spared(seqs).items()
    }
