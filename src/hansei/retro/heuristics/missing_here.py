"""A command, option, script, module or file that is not here, tried again and again.

What agents use afterwards is the fix; for files it is the folder that was taken for another one.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.bets.model import Category, Change, Design, Finding, Metric
from hansei.bets.recurring import Fact
from hansei.projection.failures.missing import What
from hansei.projection.told import CORRECTABLE, Teller
from hansei.projection.tries import tries as every_try
from hansei.projection.ways import How, about, advice, instead, known, spelled, usual
from hansei.projection.wording import before_options, code, counted, most, words
from hansei.retro.costs import Span, occurrences, total
from hansei.retro.options import corrected
from hansei.retro.over import chances, is_over, later, users, went_well
from hansei.retro.sources import command_words, option_words, path_words, source

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from re import Pattern

    from hansei.bets.model import Chances, Occurrence
    from hansei.projection.failures.missing import Missing
    from hansei.projection.slips import Slip
    from hansei.projection.tries import Try
    from hansei.projection.window import Window
    from hansei.retro.sources import Source


_ANYWAY: Final = "; agents try it anyway"
_FINDING_OUT: Final = 5
"""Minutes to find out what to write in the place of a wrong word; to write it takes two."""


class _Words(NamedTuple):
    claim: str
    change: Change
    category: Category
    effort: float
    fix: str | None
    times: int | None = None
    """Tries that the fix got past; None is all that were got past."""


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
        doing, well = users(window), went_well(window)
        for key, tries in sorted(_groups(window).items()):
            count = window.tasks(it.session for it in tries)
            if count < self.confirmed or not any(it.shows for it in tries):
                continue
            if _is_there(window, tries, well):
                continue
            could = _chances(window, tries, doing)
            if is_over(could):
                continue
            took = occurrences(window, [_span(it) for it in tries])
            spent = total(took)
            if spent is not None and spent < self.tokens:
                continue
            told = self._words(window, tries)
            where = _source(window, tries)
            if count < self.sessions and told.fix is None and where is None:
                continue
            if where is not None and tries[0].lost.what is What.COMMAND:
                too = told.fix is not None and where.names(words(told.fix))
                told = _no_such(tries, told.fix, told_too=too)
            yield self._finding(key, tries, took, told, where, could)

    def _finding(
        self,
        key: str,
        tries: list[Try],
        took: tuple[Occurrence, ...],
        told: _Words,
        where: Source | None,
        could: Chances | None,
    ) -> Finding:
        sessions = counted(len({it.session for it in tries}), "session")
        names = sorted({it.shown for it in tries})
        because = [f"tried in {sessions}: {', '.join(code(it, 60) for it in names[:3])}"]
        if tries[0].lost.what is What.MODULE:
            because = [f"tried in {sessions}: no module {code(tries[0].lost.name)}"]
        ended = sum(it.recovered for it in tries)
        if told.fix is not None and ended:
            by = sum(it.recovered and it.shows for it in tries)
            by = by if told.times is None else told.times
            because.append(f"{by} of {len(tries)} tries were got past with {code(told.fix)}")
        elif told.fix is not None:
            because.append(f"agents then turned to {code(told.fix)}")
        if where is not None:
            because.append(where.seen)
            told = _correct_there(told, _wrong(tries[0], names[0]), where)
        return Finding(
            heuristic=self.name,
            key=key,
            claim=told.claim,
            because=tuple(because),
            occurrences=took,
            change=told.change,
            category=told.category,
            effort=told.effort,
            disproof=_disproof(tries, names[0], told.fix),
            metric=Metric(Fact.MISSING, key),
            fix=told.fix,
            chances=could,
            anywhere=_holds_anywhere(tries[0]),
        )

    def _words(self, window: Window, tries: list[Try]) -> _Words:
        first = tries[0]
        if first.slip is not None:
            return _moved(first.slip, {it.path for it in tries})
        failing = self._failing(window, tries)
        if first.lost.what is What.FILE or not failing:
            return _look_for(first.shown)
        if first.lost.what is What.OPTION:
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
            return _line(said.claim, said.line, said.fix, way.times)
        return self._without_way(window, tries, failing)

    def _failing(self, window: Window, tries: list[Try]) -> str:
        """What to call what was tried by."""
        if tries[0].lost.what in (What.COMMAND, What.OPTION):
            return most(it.shown for it in tries)
        return usual(
            it for one in tries if (it := about(window, one.session, one.failure.seq)) is not None
        )

    def _without_way(self, window: Window, tries: list[Try], failing: str) -> _Words:
        lost = tries[0].lost
        others = [it for one in tries if (it := instead(window, one.session, one.failure.seq))]
        other = most(others)
        if other and others.count(other) >= max(self.confirmed, self.share * len(others)):
            said = f"{code(failing)} does not work here; agents end up with {code(other)}"
            return _line(said, f"Use {code(other)}, not {code(failing)}.", other)
        name = code(lost.name)
        if lost.what is What.COMMAND:
            return _no_such(tries)
        if lost.what is What.PROGRAM:
            said = f"{name} is not installed here{_ANYWAY}"
            return _line(said, f"{name} is not installed here: do without it.", None)
        return _supply(lost, failing)

    def _option(self, window: Window, tries: list[Try]) -> _Words:
        """An option that the program does not have: what stands in its place, if anything does."""
        option = tries[0].lost.name
        told = corrected(
            window,
            option,
            [(it.session, it.failure.seq, it.episode if it.recovered else None) for it in tries],
            self.confirmed,
        )
        claim = f"{code(told.tool)} has no {code(option)}{_ANYWAY}"
        if told.line is not None:
            return _line(claim, told.line, told.fix, told.times)
        return _find_out(claim, told.tool, option)


def _groups(window: Window) -> dict[str, list[Try]]:
    found: dict[str, list[Try]] = defaultdict(list)
    for one in every_try(window):
        found[one.key].append(one)
    return found


def _span(one: Try) -> Span:
    """Up to what got past it; where nothing did, the request for it was for nothing."""
    last = one.found if one.recovered else one.failure.seq
    tries = (*one.episode.failures, last) if one.recovered else ()
    return Span(one.session, one.failure.seq, last, whole=not one.recovered, tries=tries)


def _chances(
    window: Window, tries: list[Try], doing: Mapping[tuple[str, str | None], set[int]]
) -> Chances | None:
    """Who could have run into it: sessions that used the program, or opened the right folder."""
    first = tries[0]
    met = {it.session for it in tries}
    if first.lost.what is What.PROGRAM:
        return None
    if first.lost.what is not What.FILE:
        tools = {(it.failure.program, it.failure.subcommand) for it in tries}
        return chances(window, met, {it for tool in tools for it in doing.get(tool, ())})
    right = first.slip.right if first.slip is not None else ""
    if not right:
        return None
    opened = {session for session, it in window.touches if it.path.startswith(right)}
    return chances(window, met, opened)


def _is_there(window: Window, tries: list[Try], well: set[tuple[int, int]]) -> bool:
    """Whether what was missing was used well after all who missed it: somebody has made it."""
    met = {it.session for it in tries}
    if tries[0].lost.what is What.FILE:
        paths = {it.path for it in tries}
        spelled_so = tries[0].slip is not None and tries[0].slip.spelling
        used = {s for s, it in window.touches if it.path in paths and (s, it.seq) in well}
        return not spelled_so and later(window, met, used)
    forms = {spelled(it) for one in tries if (it := about(window, one.session, one.failure.seq))}
    used = {
        s for s, it in window.commands if it.about and (s, it.seq) in well and spelled(it) in forms
    }
    return later(window, met, used)


def _source(window: Window, tries: list[Try]) -> Source | None:
    """What made agents try it."""
    what = tries[0].lost.what
    if what is What.MODULE:
        return None
    if what is What.FILE:
        # A listing names files as seen from where it was made: nothing to correct in that.
        tellers = frozenset((Teller.PERSON, Teller.COMMAND, Teller.FILE))
        if tries[0].slip is not None and tries[0].slip.spelling:
            return None
    else:
        tellers = CORRECTABLE
    wanted = [_as_told(window, it) for it in tries]
    return source(window, [(it.session, it.failure.seq) for it in tries], wanted, tellers)


def _as_told(window: Window, one: Try) -> Pattern[str]:
    if one.lost.what is What.FILE:
        return path_words(one.path, one.slip.right if one.slip is not None else "")
    ran = about(window, one.session, one.failure.seq)
    if one.lost.what is What.OPTION and ran is not None:
        return option_words(before_options(ran.form), one.lost.name)
    return command_words(words(one.shown))


def _wrong(one: Try, name: str) -> str:
    """What is to be corrected where it stands."""
    return one.slip.wrong if one.slip is not None and one.slip.wrong else name


def _holds_anywhere(one: Try) -> bool:
    """Whether it is about the machine: what is installed there, how its tools take paths."""
    spelling = one.slip is not None and one.slip.spelling
    return spelling or one.lost.what is What.PROGRAM


def _disproof(tries: list[Try], name: str, fix: str | None) -> str:
    """What would have to be seen for it to be wrong."""
    what = tries[0].lost.what
    if tries[0].slip is not None and tries[0].slip.spelling:
        return f"the same path is opened as it was typed, or is not found as {code(fix or name)}"
    if tries[0].slip is not None:
        return (
            f"{code(fix or name)} does not hold what was looked for, or the other folder does too"
        )
    if what is What.FILE:
        return f"{code(name, 60)} is there in the checkouts of those sessions"
    instead = f", or {code(fix, 60)} does something else" if fix is not None else ""
    return f"{code(name, 60)} works when it is run in the folder of those sessions{instead}"


def _correct_there(told: _Words, wrong: str, where: Source) -> _Words:
    """The change where something tells agents: correct that, and write no line against it."""
    line = told.change.text if told.change.design is Design.LINE else None
    places = ", ".join(code(f"hansei show {it}") for it in where.places)
    known = f"- What is known: {line}\n" if line else ""
    text = (
        f"# Correct {code(wrong)} in {where.words}\n\n"
        f"{told.claim[0].upper()}{told.claim[1:]}. It is not their own idea:"
        f" {where.seen} ({places}).\n\n"
        f"{known}"
        f"- Correct it in {where.words}: find the template, step or file that this comes from,"
        f" and all other copies of {code(wrong)}.\n"
        "- If that cannot be changed, say in the instruction file what to do instead.\n"
        "- Done when a new session is no longer told so.\n"
    )
    claim = f"{told.claim.removesuffix(_ANYWAY)}; it stands in {where.words}"
    change = Change(Design.BRIEF, text)
    if told.fix is None:
        return _Words(claim, change, Category.INVESTIGATE, _FINDING_OUT, None)
    return _Words(claim, change, Category.FIX, 2, told.fix, told.times)


def _line(claim: str, line: str, fix: str | None, times: int | None = None) -> _Words:
    return _Words(claim, Change(Design.LINE, line), Category.FIX, 2, fix, times)


def _moved(slip: Slip, paths: set[str]) -> _Words:
    """A folder that was taken for another; where it was always one file, that file is named."""
    if len(paths) == 1 and slip.wrong and min(paths).startswith(slip.wrong) and slip.right:
        name = code(min(paths).removeprefix(slip.wrong))
        return _line(
            f"Agents look for {name} in {code(slip.wrong)}; it is in {code(slip.right)}",
            f"{name} is in {code(slip.right)}, not in {code(slip.wrong)}.",
            slip.fix,
        )
    return _line(slip.claim, slip.line, slip.fix)


def _no_such(tries: list[Try], other: str | None = None, *, told_too: bool = False) -> _Words:
    """A subcommand that does not exist; `other` is what agents went on with.

    Where they were told that too, it may be the next step, and not what was meant.
    """
    failing = code(most(it.shown for it in tries))
    line = f"There is no {failing}: do not call it."
    if other:
        line = f"There is no {failing}. Agents went on with {code(other)}"
        line += ", which the same text names: is it what was meant?" if told_too else "."
    return _line(f"{failing} does not exist{_ANYWAY}", line, None)


def _find_out(claim: str, tool: str, option: str) -> _Words:
    brief = (
        f"# {code(tool)} has no {code(option)}: find out what to write\n\n"
        "- Open the sessions named as evidence: what was run instead differs.\n"
        f"- Look at what {code(f'{tool} --help')} offers, and write down the whole command that"
        " does what was meant, where agents will read it.\n"
        "- Done when that command works as it is written down.\n"
    )
    return _Words(claim, Change(Design.BRIEF, brief), Category.INVESTIGATE, 10, None)


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
