"""A file or folder in which people rewrite or revert much of what agents write, within two weeks.

Compared is the share of landed lines that people took out or changed there with the share in the
rest of the same workspace: agents that write code nobody keeps lack something that people know
about that place. It must be several sessions, several commits and clearly more than elsewhere, so
that one review or one feature that was dropped is no bet. What it takes is people's time, which no
transcript tells: so no tokens are claimed. The bet is a brief with the commits to read.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.bets.counting import at_least
from hansei.bets.model import Category, Change, Design, Finding, Metric, Occurrence
from hansei.bets.recurring import Fact
from hansei.projection.reworks import Lines, is_below, reworks
from hansei.projection.wording import code, counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hansei.projection.window import Window

_SHOWN: Final = 5
"""Commits that a brief names, the most rewritten lines first."""
_SHORT: Final = 10
"""Letters of a commit's name."""


class _Area(NamedTuple):
    path: str
    """A folder ends with a slash."""
    hunks: list[Lines]

    @property
    def changed(self) -> list[Lines]:
        return [it for it in self.hunks if it.gone]

    @property
    def landed(self) -> int:
        return sum(it.landed for it in self.hunks)

    @property
    def gone(self) -> int:
        return sum(it.gone for it in self.hunks)


@dataclass(frozen=True)
class ReworkedArea:
    """Knobs."""

    name: str = "reworked-area"
    sessions: int = 3
    """Sessions, each with its subagents, whose lines people changed there: two may be one task."""
    commits: int = 2
    """Commits of people that did it: one may have been one sweep over everything."""
    lines: int = 30
    """Landed lines there: of fewer a share says nothing."""
    share: float = 0.2
    """Of landed lines, those that people changed: some rewriting is how people work together."""
    times: float = 2.0
    """As much as in the rest of the workspace, at least."""
    chance: float = 0.01
    """That as many files would be changed there if it were like the rest, times the places that
    were looked at: among many places one always stands out."""
    most: float = 0.5
    """Of all landed lines: what has more of them is no place but the workspace itself."""
    of_folder: float = 0.8
    """Of a folder's changed hunks: where one file or subfolder has so many, that is the place."""
    effort: float = 20
    """Minutes to read the commits and to say what agents do not know."""

    def find(self, window: Window) -> Iterator[Finding]:
        told = list(reworks(window))
        everywhere = _Area("", told)
        looked_at = [it for it in _areas(told) if it.landed >= self.lines]
        areas = {
            it.path: it
            for it in looked_at
            if self._stands_out(window, it, everywhere)
            and _chance(it, everywhere) * len(looked_at) < self.chance
        }
        for path in sorted(areas):
            if not self._lies_within(areas[path], areas):
                yield self._finding(areas[path], everywhere)

    def _stands_out(self, window: Window, area: _Area, everywhere: _Area) -> bool:
        changed = area.changed
        if area.gone < self.share * area.landed or area.landed > self.most * everywhere.landed:
            return False
        if window.tasks(it.session for it in changed) < self.sessions:
            return False
        if len({it.commit for it in changed}) < self.commits:
            return False
        return area.gone >= self.times * _rest(area, everywhere) * area.landed

    def _lies_within(self, area: _Area, areas: dict[str, _Area]) -> bool:
        """Whether another area tells it better: a part that has nearly all of it, or the whole."""
        count = len(area.changed)
        for path, other in areas.items():
            if path == area.path:
                continue
            within = is_below(path, area.path) and len(other.changed) >= self.of_folder * count
            around = is_below(area.path, path) and count < self.of_folder * len(other.changed)
            if within or around:
                return True
        return False

    def _finding(self, area: _Area, everywhere: _Area) -> Finding:
        share, rest = area.gone / area.landed, _rest(area, everywhere)
        where = code(area.path)
        sessions = counted(len({it.session for it in area.changed}), "session")
        commits = _commits(area.changed)
        seen = (
            f"{area.gone:,} of {area.landed:,} landed lines were changed or reverted by people"
            f" within 14 days ({share:.0%}; elsewhere {rest:.0%})"
        )
        by = f"written in {sessions}, changed in {counted(len(commits), 'commit')}"
        return Finding(
            heuristic=self.name,
            key=area.path,
            claim=f"People rewrite {share:.0%} of what agents write in {where}, soon after it lands"
            f" ({rest:.0%} elsewhere)",
            because=(seen, by, "what that takes is people's time: no tokens are counted"),
            occurrences=tuple(
                Occurrence(*place, None)
                for place in sorted({(it.session, it.seq) for it in area.changed})
            ),
            change=Change(Design.BRIEF, _brief(where, seen, commits), area.path),
            category=Category.INVESTIGATE,
            effort=self.effort,
            disproof="the commits named change what was asked for later, and not what was wrong",
            metric=Metric(Fact.REWORKED, area.path),
        )


def _areas(told: Iterable[Lines]) -> Iterator[_Area]:
    """Every file, and the folders it lies in."""
    found: dict[str, list[Lines]] = defaultdict(list)
    for it in told:
        parts = it.path.split("/")
        for depth in range(1, len(parts)):
            found["/".join(parts[:depth]) + "/"].append(it)
        found[it.path].append(it)
    return (_Area(path, hunks) for path, hunks in found.items())


def _chance(area: _Area, everywhere: _Area) -> float:
    """That as many of its files were changed, each session counted, at the rate of the rest.

    The rest is taken to have one change more than it had: that there was none proves no rate of 0.
    """
    files, changed = _files(area.hunks), _files(area.changed)
    others = len(_files(everywhere.hunks)) - len(files)
    rate = (len(_files(everywhere.changed)) - len(changed) + 1) / (others + 2)
    return at_least(len(changed), len(files), rate)


def _files(hunks: Iterable[Lines]) -> set[tuple[int, str]]:
    return {(it.session, it.path) for it in hunks}


def _rest(area: _Area, everywhere: _Area) -> float:
    """The share of lines that people changed in the rest of the workspace."""
    return (everywhere.gone - area.gone) / (everywhere.landed - area.landed)


def _commits(changed: Sequence[Lines]) -> list[str]:
    """The commits of people, those that changed most lines first."""
    lines: dict[str, int] = defaultdict(int)
    for it in changed:
        lines[it.commit or ""] += it.gone
    return sorted(lines, key=lambda it: (-lines[it], it))


def _brief(where: str, seen: str, commits: Sequence[str]) -> str:
    some = ", ".join(code(f"git show {it[:_SHORT]}") for it in commits[:_SHOWN])
    return (
        f"# Find out what agents do not know about {where}\n\n"
        f"{seen[0].upper()}{seen[1:]}.\n\n"
        f"- Read what people changed: {some}.\n"
        "- If the changes have a rule in common, write it into the instruction file, in a line that"
        f" names {where}; if a check can find it, add the check.\n"
        "- If they are about taste or a new wish, dismiss this bet.\n"
        f"- Done when what agents write in {where} stays as it is for two weeks.\n"
    )
