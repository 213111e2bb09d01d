"""A big file is read whole for small edits, in several sessions.

What reading only the lines around the edits would have spared is counted per session: what
carrying the whole file took, times the share of its lines that were neither edited nor near an
edit. Sessions that read it and change nothing may have needed all of it, and count for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from hansei.bets.counting import WEEK_DAYS
from hansei.bets.model import Category, Change, Design, Finding, Metric, Occurrence
from hansei.bets.recurring import Fact
from hansei.projection.files import fan_out
from hansei.projection.whole_reads import BIG, MARGIN, SHARE, needed, stories
from hansei.projection.wording import amount, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hansei.projection.whole_reads import Story
    from hansei.projection.window import Window

_PROSE = (".md", ".markdown", ".rst", ".txt", ".adoc", ".json", ".jsonl", ".yaml", ".yml", ".csv")
"""Files that hold text or data: they are not split, they are searched."""


@dataclass(frozen=True)
class BigFile:
    """Knobs: what is big, what is a small edit, and how often it must happen."""

    name: str = "big-file"
    lines: int = BIG
    """From which on a file is big."""
    margin: int = MARGIN
    """Lines around an edit that have to be seen to make it."""
    share: float = SHARE
    """Edits that need more of the file than this leave little to spare."""
    sessions: int = 3
    """Twice is chance."""
    of_sessions: float = 0.05
    """Of all sessions: what fewer do is worth neither an hour nor a line that all of them carry."""
    tokens: int = 30_000
    """In all; below, neither a line nor a split pays."""
    split: int = 4
    """Sessions that edit it from which on a split is worth proposing."""
    effort: float = 2
    """Minutes to read one line and agree."""
    splitting: float = 60
    """Minutes to hand a split to an agent, to review it, and to try what depends on it."""
    minute: int = 10_000
    """Tokens that a minute of a person's is worth: about what an agent takes in one."""
    weeks: float = 8
    """In which a split has to pay: who knows what the file looks like later."""

    def find(self, window: Window) -> Iterator[Finding]:
        for path, told in sorted(stories(window).items()):
            if all(it.lines < self.lines for it in told.values()):
                continue
            found = dict(self._spared(window, told))
            total = sum(it.tokens or 0 for it in found.values())
            least = max(self.sessions, self.of_sessions * len(window.sessions))
            if len(found) >= least and total >= self.tokens:
                splits = not path.endswith(_PROSE) and self._pays(window, told, total)
                yield self._finding(path, told, list(found.values()), splits=splits)

    def _pays(self, window: Window, told: dict[int, Story], total: int) -> bool:
        """Whether enough sessions edit it for a split to pay soon."""
        editors = sum(bool(it.edits) for it in told.values())
        a_week = total / max(window.days / WEEK_DAYS, 1)
        return editors >= self.split and a_week * self.weeks >= self.splitting * self.minute

    def _spared(self, window: Window, told: dict[int, Story]) -> Iterator[tuple[int, Occurrence]]:
        """By session, what reading ranges would have spared where the edits were small."""
        for session, story in sorted(told.items()):
            part = needed(story, big=self.lines, margin=self.margin, share=self.share)
            if part is not None:
                rents = [window.rent_of_call(session, it.seq) for it in story.reads]
                known = [it for it in rents if it is not None]
                tokens = round(sum(known) * (1 - part)) if known else None
                yield session, Occurrence(session, story.reads[0].seq, tokens)

    def _finding(
        self, path: str, told: dict[int, Story], small: list[Occurrence], *, splits: bool
    ) -> Finding:
        lengths = [told[it.session].lines for it in small]
        lines, size = max(lengths), _range(lengths)
        file, total = quoted(path), sum(it.tokens or 0 for it in small)
        readers = sum(bool(it.reads) for it in told.values())
        editors = sum(bool(it.edits) for it in told.values())
        fan = fmean(_fan_out(told.values()))
        because = (
            (
                f"read whole in {readers} sessions, edited in {editors}; {fan:.0f} calls a turn "
                "touch it (average)"
            ),
            (
                f"{amount(total)} tokens for lines that were neither edited nor within "
                f"{self.margin} lines of an edit"
            ),
        )
        line = f"{file} has {lines:,} lines: search it and read only the lines you need."
        return Finding(
            heuristic=self.name,
            key=path,
            claim=(f"Split {file}" if splits else f"Read {file} by range")
            + f" ({size} lines, read whole for small edits in {len(small)} sessions, "
            f"{fan:.0f} calls a turn)",
            because=because,
            occurrences=tuple(small),
            change=Change(Design.BRIEF, _brief(file, size, lines // 2, because), path)
            if splits
            else Change(Design.LINE, line),
            category=Category.INVESTIGATE if splits else Category.FIX,
            effort=self.splitting if splits else self.effort,
            disproof=f"sessions that edit {file} go on to read most of it, in pieces",
            metric=Metric(Fact.WHOLE_READS, path),
        )


def _range(lengths: Sequence[int]) -> str:
    """How long a file was when it was read: it grows."""
    least, most = min(lengths), max(lengths)
    return f"{most:,}" if least == most else f"{least:,} to {most:,}"


def _fan_out(told: Iterable[Story]) -> list[int]:
    """Calls that touch it, for every turn that does."""
    return [turn.calls for it in told for turn in fan_out(it.all)] or [0]


def _brief(file: str, size: str, longest: int, because: tuple[str, ...]) -> str:
    seen = "\n".join(f"- {it}" for it in because)
    return (
        f"# Split {file} ({size} lines when it was read)\n\n{seen}\n\n"
        "## What to do\n"
        "Move parts that change for different reasons into files of their own beside it; the "
        "edits in the sessions listed as evidence show which. Move code only: no behaviour "
        "changes, no renaming, imports of others stay valid.\n\n"
        "## How to check\n"
        "The tests pass as before; besides moved lines the diff holds imports, exports and what is "
        f"handed over between the parts; no new file is longer than {longest:,} lines.\n"
    )
