"""A big file is read whole for small edits, in several sessions.

What reading only the lines around the edits would have spared is counted per session: what
carrying the whole file took, times the share of its lines that were neither edited nor near an
edit. Sessions that read it and change nothing may have needed all of it, and count for nothing.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING

from hansei.bets.model import Category, Change, Design, Finding, Metric, Occurrence
from hansei.projection.files import Extent, Verb, fan_out
from hansei.projection.wording import amount, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hansei.projection.files import Touch
    from hansei.projection.window import Window

_PROSE = (".md", ".markdown", ".rst", ".txt", ".adoc", ".json", ".jsonl", ".yaml", ".yml", ".csv")
"""Files that hold text or data: they are not split, they are searched."""
_ANEW = frozenset((Verb.WRITE, Verb.CREATE, Verb.DELETE, Verb.RENAME))


@dataclass
class _Story:
    """What one session did with one file."""

    reads: list[Touch] = field(default_factory=list)
    edits: list[Touch] = field(default_factory=list)
    rewritten: bool = False
    """Whether it was made, written anew or removed, which takes all of it."""
    all: list[Touch] = field(default_factory=list)


@dataclass(frozen=True)
class BigFile:
    """Knobs: what is big, what is a small edit, and how often it must happen."""

    name: str = "big-file"
    lines: int = 400
    """Below, a file fits into what agents read at once anyway."""
    margin: int = 30
    """Lines around an edit that have to be seen to make it."""
    share: float = 0.6
    """Edits that need more of the file than this leave little to spare."""
    sessions: int = 3
    """Twice is chance."""
    tokens: int = 30_000
    """In all; below, neither a line nor a split pays."""
    split: int = 4
    """Sessions that edit it from which on a split is worth proposing."""
    effort: float = 2
    """Minutes to read one line and agree."""
    splitting: float = 60
    """Minutes to hand a split to an agent, to review it, and to try what depends on it."""

    def find(self, window: Window) -> Iterator[Finding]:
        stories: dict[str, dict[int, _Story]] = defaultdict(dict)
        for session, touch in window.touches:
            if touch.inside:
                _tell(stories[touch.path].setdefault(session, _Story()), touch)
        for path, told in sorted(stories.items()):
            lines = max((_length(it.reads) for it in told.values()), default=0)
            if lines >= self.lines:
                found = dict(self._spared(window, told))
                total = sum(it.tokens or 0 for it in found.values())
                if len(found) >= self.sessions and total >= self.tokens:
                    yield self._finding(path, lines, told, list(found.values()))

    def _spared(self, window: Window, told: dict[int, _Story]) -> Iterator[tuple[int, Occurrence]]:
        """By session, what reading ranges would have spared where the edits were small."""
        for session, story in sorted(told.items()):
            lines = _length(story.reads)
            if story.rewritten or not story.edits or lines < self.lines:
                continue
            needed = _covered(story.edits, self.margin, lines) / lines
            if needed <= self.share:
                rents = [window.rent_of_call(session, it.seq) for it in story.reads]
                known = [it for it in rents if it is not None]
                tokens = round(sum(known) * (1 - needed)) if known else None
                yield session, Occurrence(session, story.reads[0].seq, tokens)

    def _finding(
        self, path: str, lines: int, told: dict[int, _Story], small: list[Occurrence]
    ) -> Finding:
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
        splits = editors >= self.split and not path.endswith(_PROSE)
        line = f"{file} has {lines:,} lines: search it and read only the lines you need."
        return Finding(
            heuristic=self.name,
            key=path,
            claim=(f"Split {file}" if splits else f"Read {file} by range")
            + f" ({lines:,} lines, read whole for small edits in {len(small)} sessions, "
            f"{fan:.0f} calls a turn)",
            because=because,
            occurrences=tuple(small),
            change=Change(Design.BRIEF, _brief(file, lines, because), path)
            if splits
            else Change(Design.LINE, line),
            category=Category.INVESTIGATE if splits else Category.FIX,
            effort=self.splitting if splits else self.effort,
            disproof=f"sessions that edit {file} go on to read most of it, in pieces",
            metric=Metric("touches", path),
        )


def _tell(story: _Story, touch: Touch) -> None:
    story.all.append(touch)
    if touch.verb is Verb.READ:
        if touch.extent is Extent.WHOLE and touch.bytes is not None:
            story.reads.append(touch)
    elif touch.verb is Verb.EDIT and touch.extent is not Extent.WHOLE:
        story.edits.append(touch)
    elif touch.verb in _ANEW:
        story.rewritten = True


def _length(reads: Iterable[Touch]) -> int:
    """Lines of the file, as far as a read of all of it told them."""
    return max((it.last or 0 for it in reads), default=0)


def _covered(edits: Iterable[Touch], margin: int, lines: int) -> int:
    """Lines that are edited or near an edit; where an edit was is not always told."""
    spans = sorted((it.first, it.last or it.first) for it in edits if it.first is not None)
    unknown = sum(it.first is None for it in edits)
    covered = end = 0
    for first, last in spans:
        start, stop = max(first - margin, end + 1, 1), min(last + margin, lines)
        covered += max(stop - start + 1, 0)
        end = max(end, stop)
    return min(covered + unknown * (2 * margin + 1), lines)


def _fan_out(stories: Iterable[_Story]) -> list[int]:
    """Calls that touch it, for every turn that does."""
    return [turn.calls for it in stories for turn in fan_out(it.all)] or [0]


def _brief(file: str, lines: int, because: tuple[str, ...]) -> str:
    seen = "\n".join(f"- {it}" for it in because)
    return (
        f"# Split {file} ({lines:,} lines)\n\n{seen}\n\n"
        "## What to do\n"
        "Move parts that change for different reasons into files of their own beside it; the "
        "edits in the sessions listed as evidence show which. Move code only: no behaviour "
        "changes, no renaming, imports of others stay valid.\n\n"
        "## How to check\n"
        "The tests pass as before; besides moved lines the diff holds imports, exports and what is "
        f"handed over between the parts; no new file is longer than {lines // 2:,} lines.\n"
    )
