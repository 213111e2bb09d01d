"""Code or files that agents put into the wrong place first, and then where they belong.

It shows where the lines of an edit are taken back and written into another file, where a file that
the session made is moved to another folder, and where a person objects and the next edit is of a
file of the same name elsewhere. The same two files, or the same two folders, in two tasks at least.
The bet is a line that says where it belongs; of lines that only moved within one file it is a
brief, three tasks at least. Counted are the requests after the first edit, up to the one that put
it right.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hansei.bets.model import Category, Change, Design, Finding, Metric
from hansei.bets.recurring import Fact
from hansei.projection.wording import code, counted, listed
from hansei.projection.wrong_places import Misput, folders, misput
from hansei.retro.costs import Span, occurrences, total

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.bets.model import Occurrence
    from hansei.projection.window import Window

_NAMED: Final = 3
"""Files that a line has room for."""
TOP: Final = "the top folder"


@dataclass(frozen=True)
class WrongPlace:
    """Knobs."""

    name: str = "wrong-place"
    tasks: int = 2
    """Tasks that mistook the same one for the same other: once is a slip."""
    tasks_in_one_file: int = 3
    """The same within one file, where a place is easily missed."""
    tokens: int = 5_000
    """What it must have taken in all: below, nobody would notice."""

    def find(self, window: Window) -> Iterator[Finding]:
        files: dict[tuple[str, str], list[Misput]] = defaultdict(list)
        wider: dict[tuple[str, str], list[Misput]] = defaultdict(list)
        for it in misput(window):
            files[it.source, it.target].append(it)
        for (source, target), told in files.items():
            if source != target and window.tasks(it.session for it in told) < self.tasks:
                wider[folders(source, target)] += told
        for (source, target), told in sorted((files | wider).items()):
            least = self.tasks_in_one_file if source == target else self.tasks
            if window.tasks(it.session for it in told) < least:
                continue
            took = occurrences(
                window, [Span(it.session, it.since, it.end, shown=it.seq) for it in told]
            )
            spent = total(took)
            if spent is None or spent >= self.tokens:
                within = source == target
                yield (self._within if within else self._elsewhere)((source, target), told, took)

    def _elsewhere(
        self, pair: tuple[str, str], told: list[Misput], took: tuple[Occurrence, ...]
    ) -> Finding:
        source, target = map(_shown, pair)
        names = listed(sorted({posixpath.basename(it.target) for it in told})[:_NAMED])
        line = f"Before you edit {source}, see whether {target} is the one that is meant."
        if pair[1].endswith("/"):
            line = f"Put files like {names} into {target}, not into {source}."
        return self._finding(
            pair,
            f"Agents write into {source} what belongs in {target}",
            told,
            took,
            Change(Design.LINE, line),
        )

    def _within(
        self, pair: tuple[str, str], told: list[Misput], took: tuple[Occurrence, ...]
    ) -> Finding:
        path = code(pair[0])
        brief = (
            f"# Make it plain where things go in {path}\n\n"
            "Agents wrote lines into it, took them back and wrote them elsewhere in it, in"
            f" {counted(len({it.session for it in told}), 'session')}.\n\n"
            "- Open the places named as evidence: which two places were mistaken for one another?\n"
            "- Give them headings or names that differ, or split the file.\n"
        )
        claim = f"Agents put lines into the wrong place of {path} and move them"
        return self._finding(pair, claim, told, took, Change(Design.BRIEF, brief, pair[0]))

    def _finding(
        self,
        pair: tuple[str, str],
        claim: str,
        told: list[Misput],
        took: tuple[Occurrence, ...],
        change: Change,
    ) -> Finding:
        line = change.design is Design.LINE
        seen = counted(len(told), "time")
        sessions = counted(len({it.session for it in told}), "session")
        example = [f"{code(it.source)} for {code(it.target)}" for it in told[:1] if it[-2:] != pair]
        return Finding(
            heuristic=self.name,
            key=" ".join(pair),
            claim=claim,
            because=(f"{seen} in {sessions}, put right in the same session", *example),
            occurrences=took,
            change=change,
            category=Category.FIX if line else Category.INVESTIGATE,
            effort=2 if line else 20,
            disproof="what was moved was first meant to stay, and somebody changed their mind",
            metric=Metric(Fact.MISPLACED, " ".join(pair)),
        )


def _shown(path: str) -> str:
    return TOP if path == "/" else code(path)
