"""A command, option, script, module or file that is not here, tried again and again.

What agents use afterwards is the fix. For files it is the folder that was wrong: `src/a.ts` that
turned out to be `app/src/a.ts` in one session and `src/b.ts` in another are one slip, so files are
brought together by the folders that were taken for one another.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from hansei.bets.model import Category, Change, Design, Finding, Metric
from hansei.projection.failures import Ending
from hansei.projection.failures.missing import What, missing
from hansei.projection.ways import How, about, advice, instead, known, parted, spelled
from hansei.projection.wording import code, counted, in_common, most, words
from hansei.retro.costs import Span, occurrences, total
from hansei.retro.misplaced import Slip, located, slip

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.bets.model import Occurrence
    from hansei.projection.failures import Episode, Failure
    from hansei.projection.failures.missing import Missing
    from hansei.projection.places import Place
    from hansei.projection.window import Window


class _Try(NamedTuple):
    """One call that asked for something that is not there."""

    session: int
    failure: Failure
    episode: Episode
    lost: Missing
    slip: Slip | None
    path: str
    """Of a file, where it was looked for."""

    @property
    def recovered(self) -> bool:
        return self.episode.ending is Ending.RECOVERED

    @property
    def span(self) -> Span:
        """Up to what got past it; where nothing did, the request for it was for nothing."""
        last = self.episode.end if self.recovered else self.failure.seq
        return Span(self.session, self.failure.seq, last, whole=not self.recovered)


class _Words(NamedTuple):
    claim: str
    change: Change
    category: Category
    effort: float
    fix: str | None


@dataclass(frozen=True)
class MissingHere:
    """Knobs."""

    name: str = "missing-here"
    sessions: int = 3
    """Sessions it was tried in, each counted with its subagents: two may be one task that was
    taken up again. Where the same fix is confirmed, those sessions are enough."""
    share: float = 0.5
    """Of the tries that ended well, those that ended in the same way: less is chance."""
    confirmed: int = 2
    """Sessions in which that way ended it."""
    tokens: int = 5_000
    """What the tries must have taken in all: below, nobody would notice that they are gone."""

    def find(self, window: Window) -> Iterator[Finding]:
        for key, tries in sorted(_groups(window).items()):
            count = window.tasks(it.session for it in tries)
            if count < self.confirmed:
                continue
            told = self._words(window, tries)
            if count < self.sessions and told.fix is None:
                continue
            took = occurrences(window, [it.span for it in tries])
            spent = total(took)
            if spent is None or spent >= self.tokens:
                yield self._finding(key, tries, took, told)

    def _finding(
        self, key: str, tries: list[_Try], took: tuple[Occurrence, ...], told: _Words
    ) -> Finding:
        sessions = counted(len({it.session for it in tries}), "session")
        names = sorted({_shown(it) for it in tries})
        because = [f"tried in {sessions}: {', '.join(code(it, 60) for it in names[:3])}"]
        ended = sum(it.recovered for it in tries)
        if told.fix is not None and ended:
            because.append(f"{ended} of {len(tries)} tries were got past, with {code(told.fix)}")
        elif told.fix is not None:
            because.append(f"agents then turned to {code(told.fix)}")
        return Finding(
            heuristic=self.name,
            key=key,
            claim=told.claim,
            because=tuple(because),
            occurrences=took,
            change=told.change,
            category=told.category,
            effort=told.effort,
            disproof=f"{code(names[0], 60)} is there in later sessions",
            metric=Metric("failures", most(it.failure.signature for it in tries)),
            fix=told.fix,
        )

    def _words(self, window: Window, tries: list[_Try]) -> _Words:
        first = tries[0]
        if first.slip is not None:
            return _line(first.slip.claim, first.slip.line, first.slip.fix)
        failing = self._failing(window, tries)
        if first.lost.what is What.FILE or not failing:
            return _look_for(_shown(first))
        if first.lost.what is What.OPTION:
            if first.lost.name.startswith("/"):
                return _other_shell(failing)
            return self._option(window, tries)
        told = [(it.session, it.episode) for it in tries]
        way = known(window, told, targets=first.lost.what is What.COMMAND)
        sure = (
            way is not None
            and way.sessions >= self.confirmed
            and way.times >= self.share * way.of
            and way.way.how not in (How.EDITED, How.AGAIN)
        )
        if way is not None and sure:
            said = advice(way, failing)
            return _line(said.claim, said.line, said.fix)
        return self._without_way(window, tries, failing)

    def _failing(self, window: Window, tries: list[_Try]) -> str:
        """What to call what was tried by."""
        if tries[0].lost.what in (What.COMMAND, What.OPTION):
            return most(_shown(it) for it in tries)
        return in_common(
            [spelled(it) for one in tries if (it := about(window, one.session, one.failure.seq))]
        )

    def _without_way(self, window: Window, tries: list[_Try], failing: str) -> _Words:
        lost = tries[0].lost
        others = [it for one in tries if (it := instead(window, one.session, one.failure.seq))]
        other = most(others)
        if other and others.count(other) >= max(self.confirmed, self.share * len(others)):
            said = f"{code(failing)} does not work here; agents end up with {code(other)}"
            return _line(said, f"Use {code(other)}, not {code(failing)}.", other)
        name = code(lost.name)
        if lost.what is What.COMMAND:
            said = f"{code(failing)} does not exist; agents try it anyway"
            return _line(said, f"There is no {code(failing)}: do not call it.", None)
        if lost.what is What.PROGRAM:
            said = f"{name} is not installed here; agents try it anyway"
            return _line(said, f"{name} is not installed here: do without it.", None)
        return _supply(lost, failing)

    def _option(self, window: Window, tries: list[_Try]) -> _Words:
        """An option that the program does not have: what stands in its place, if anything does."""
        option = tries[0].lost.name
        ran = [about(window, it.session, it.failure.seq) for it in tries]
        program = most(it.shown for it in ran if it is not None)
        pairs = [
            (set(one.flags), set(after.flags))
            for one, tried in zip(ran, tries, strict=True)
            if one is not None and tried.recovered
            if (after := about(window, tried.session, tried.episode.end)) is not None
        ]
        # Only where nothing else changed does the new option stand for the old one.
        new = [min(b - a) for a, b in pairs if a - b == {option} and len(b - a) == 1]
        other = most(new)
        claim = f"{code(program)} has no {code(option)}; agents try it anyway"
        if other and new.count(other) >= max(self.confirmed, self.share * len(pairs)):
            line = f"{code(program)} has no {code(option)}; use {code(other)}."
            return _line(claim, line, f"{program} {other}")
        line = f"{code(program)} has no {code(option)}: leave it out."
        return _line(claim, line, program if pairs else None)


def _groups(window: Window) -> dict[str, list[_Try]]:
    rows = {(session, row.seq): row for session, row in window.failures}
    found: dict[str, list[_Try]] = defaultdict(list)
    for session, episode in parted(window):
        for seq in episode.failures:
            row = rows[session, seq]
            lost = missing(row)
            if lost is None:
                continue
            moved = slip(window, session, row, episode) if lost.what is What.FILE else None
            path = located(window, session, row, lost.name) if lost.what is What.FILE else None
            key = moved.key if moved else _key(row, lost, path)
            if key:
                shown = path.path if path else ""
                found[key].append(_Try(session, row, episode, lost, moved, shown))
    return found


def _key(row: Failure, lost: Missing, path: Place | None) -> str:
    """What makes two tries the same; empty for files outside, which say nothing of this project."""
    if path is not None:
        return f"file {path.path}" if path.inside and "*" not in path.path else ""
    if lost.what is What.PROGRAM:
        return f"program {lost.name}"
    tool = " ".join(part for part in (row.program, row.subcommand) if part)
    if lost.name.startswith("/"):
        return f"{lost.what} {tool} /"
    return f"{lost.what} {tool} {lost.name}"


def _shown(one: _Try) -> str:
    """What was tried, in a few words."""
    if one.lost.what is What.FILE:
        # A spelling that is not understood shows only as it was typed.
        return one.lost.name if one.slip and one.slip.spelling else one.path
    if one.lost.what is What.PROGRAM:
        return one.lost.name
    tool = [part for part in (one.failure.program, one.failure.subcommand) if part]
    name = words(one.lost.name)[0]
    return " ".join(tool if name in tool else [*tool, name])


def _line(claim: str, line: str, fix: str | None) -> _Words:
    return _Words(claim, Change(Design.LINE, line), Category.FIX, 2, fix)


def _other_shell(failing: str) -> _Words:
    """An option with a slash, which a shell of the other kind takes for a path."""
    option = code(failing.rsplit(" ", 1)[-1])
    claim = (
        f"{code(failing)} is for `cmd`; the shell that agents have here takes {option} for a path"
    )
    line = f"The shell is not `cmd`: no options such as {option}, as in {code(failing)}."
    return _line(claim, line, None)


def _look_for(path: str) -> _Words:
    brief = (
        f"# {path} does not exist, and agents keep looking for it\n\n"
        f"- Search the repository and the instruction files for what names {code(path)}.\n"
        "- Correct the name, or remove it; or write the file, if it is wanted.\n"
        f"- Done when nothing names {code(path)} any more, or it is there.\n"
    )
    claim = f"{code(path)} does not exist; something makes agents look for it"
    return _Words(claim, Change(Design.BRIEF, brief), Category.INVESTIGATE, 10, None)


def _supply(lost: Missing, failing: str) -> _Words:
    name = code(lost.name)
    brief = (
        f"# {code(failing)} needs {name}, which is not there\n\n"
        f"- See in the sessions named as evidence what wanted the {lost.what} {name}.\n"
        "- Supply it (declare the dependency, add the script), or write into the instruction file"
        " what to run instead.\n"
        f"- Done when {code(failing)} works from a fresh checkout, or nothing tells agents to run"
        " it.\n"
    )
    claim = f"{code(failing)} fails: there is no {lost.what} {name} here"
    return _Words(claim, Change(Design.BRIEF, brief), Category.INVESTIGATE, 15, None)
