"""A command that failed, and what was different when it worked.

Both calls are another try of the same work (`projection.failures.relation`), and what changed is
told word by word. Where files were edited in between, or the same command simply worked later, the
words of the command were not what was wrong, and there is nothing to keep. Options and subcommands
that a program does not have are put together by program: who guessed one will guess the next.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.config import CommandClass
from hansei.learn.lines import Line, typed
from hansei.learn.model import Evidence, Offer, Predicates
from hansei.learn.worth import is_repeatable, is_trivial
from hansei.learn.writing import (
    body,
    briefly,
    cell,
    code,
    described,
    key_of,
    name_of,
    numbered,
    topic,
)
from hansei.projection.failures import Ending
from hansei.projection.failures.missing import Missing, What, missing
from hansei.projection.ways import How, about, bare, matching, parted, ways
from hansei.projection.wording import counted, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hansei.learn.steps import Texts
    from hansei.projection.facts.ran import Ran
    from hansei.projection.failures import Episode, Failure
    from hansei.projection.ways import Way
    from hansei.projection.window import Window

_TELLING: Final = frozenset((How.FIRST, How.FOLDER, How.BEFORE, How.OTHER))
_CHECKS: Final = frozenset((CommandClass.TEST, CommandClass.BUILD, CommandClass.LINT))
_GUESSED: Final = frozenset((What.OPTION, What.COMMAND))
_LASTING: Final = frozenset((What.PROGRAM, What.SCRIPT, What.OPTION, What.COMMAND, What.MODULE))
"""What is not there, where knowing it helps the next time: a file may be there by then."""
_PASSING: Final = re.compile(
    r"already in use|EADDRINUSE|ECONN|ETIMEDOUT|timed? ?out|temporar|rate limit|\b429\b|\b50[0-4]\b"
    r"|lock(?:ed)?\b|network|resolve host|no space|connection|unreachable|already exists"
    r"|conflict|permission denied|EACCES",
    re.IGNORECASE,
)
"""Complaints about the moment or the machine, and not about the command."""
_ELSEWHERE: Final = re.compile(
    r"no such file|ENOENT|not found|could ?n[o']t find|cannot find|no \S*(?:json|toml|makefile)"
    r"|not a ",
    re.IGNORECASE,
)
_LEAST_LETTERS: Final = 3
_ROWS: Final = 6
"""Fixes of one program that are told together."""


class _Case(NamedTuple):
    """One episode that ended well, with the two commands that it is about."""

    session: int
    episode: Episode
    row: Failure
    failed: Ran
    worked: Ran
    way: Way
    lacking: Missing | None

    @property
    def group(self) -> tuple[str, ...]:
        """What cases have in common that make one skill."""
        if self.lacking is not None and self.lacking.what in _GUESSED:
            return ("words of", self.failed.program)
        return (self.row.signature, self.way.how, self.way.text)

    @property
    def sameness(self) -> tuple[str, str]:
        """What makes it the same fix as another one."""
        if self.lacking is None:
            return "", ""
        return self.failed.shown, self.lacking.name


class _Fix(NamedTuple):
    case: _Case
    before: Line
    after: Line


@dataclass(frozen=True)
class ErrorRecovery:
    """Knobs."""

    name: str = "error-recovery"
    sessions: int = 3
    """Independent sessions that got past it the same way."""
    words: int = 8
    """Words by which two commands may differ: above, the second is another command."""
    calls: int = 12
    """Calls from the failure to the success: what took longer had other reasons, too."""
    most: int = 3
    """Fixes of many sessions that are offered at once."""

    def find(self, window: Window, texts: Texts) -> Iterator[Offer]:
        groups: dict[tuple[str, ...], list[_Case]] = defaultdict(list)
        for case in _cases(window):
            if self._is_of_words(case):
                groups[case.group].append(case)
        tasks = {it: window.tasks(case.session for case in own) for it, own in groups.items()}
        known = [it for it in groups if tasks[it] >= self.sessions]
        for group in sorted(known, key=lambda it: (-tasks[it], it))[: self.most]:
            yield from self._offers(window, texts, groups.pop(group))
        for session in sorted(window.sessions):
            own = ([it for it in cases if it.session == session] for cases in groups.values())
            found = (it for cases in own if cases for it in self._offers(window, texts, cases))
            yield from found

    def _is_of_words(self, case: _Case) -> bool:
        """Whether the words of the command were wrong, and are wrong the next time, too."""
        episode, line = case.episode, case.row.line
        if episode.edited or episode.calls > self.calls or _PASSING.search(line):
            return False
        if len(episode.removed) + len(episode.added) > self.words:
            return False
        if case.lacking is not None:
            return case.lacking.what in _LASTING and not _strays(case)
        if case.failed.kind in _CHECKS or case.failed.shows or _is_vague(line):
            return False
        if case.way.how is How.OTHER:
            return case.failed.shown == case.worked.shown and _names_it(case)
        if case.way.how is How.BEFORE:
            return "sudo" not in case.way.text
        return _ELSEWHERE.search(line) is not None

    def _offers(self, window: Window, texts: Texts, cases: Sequence[_Case]) -> Iterator[Offer]:
        fixes = list(_fixes(window, texts, cases))[:_ROWS]
        if fixes:
            yield self._offer(window, cases, fixes)

    def _offer(self, window: Window, cases: Sequence[_Case], fixes: Sequence[_Fix]) -> Offer:
        case, before, after = fixes[0]
        tasks = window.tasks(it.session for it in cases)
        alone = len(fixes) == 1
        name = name_of("error", topic(case.failed), (case.failed.subcommand or "") * alone)
        says = list(dict.fromkeys(code(one_line(it.case.row.line, 160)) for it in fixes))
        what = case.failed.shown if alone else case.failed.program
        more = "" if alone else f" and {counted(len(fixes) - 1, 'other fix').replace('xs', 'xes')}"
        return Offer(
            detector=self.name,
            name=name,
            description=described(
                f"Error recovery: {briefly(before.whole)} fails here, {briefly(after.whole)}"
                f" works{more}. Use it before running {what}, or when it complains."
            ),
            body=body(
                name,
                f"Got past in {counted(tasks, 'session')} by other words, without any edit.",
                (
                    (
                        "When to use",
                        [f"- Before {briefly(what)}, or when it says: {it}" for it in says],
                    ),
                    (
                        "Error Fix",
                        [
                            "| Before | After |",
                            "|--------|-------|",
                            *(
                                f"| {cell(it.before.whole)} | {cell(it.after.whole)} |"
                                for it in fixes
                            ),
                        ],
                    ),
                    ("What changed", [line for it in fixes for line in _change(it)]),
                    ("Commands", numbered(dict.fromkeys(it.after.whole for it in fixes))),
                ),
            ),
            commands=tuple(dict.fromkeys(it.after.whole for it in fixes)),
            evidence=tuple(
                Evidence(window.sessions[it.session].name, seq)
                for it in cases
                for seq in (it.episode.failures[-1], it.episode.end)
            ),
            topic=topic(case.failed),
            action=case.failed.subcommand or "",
            predicates=Predicates(
                command=bare(case.failed),
                error=case.row.signature,
                do=tuple(dict.fromkeys(bare(it.case.worked) for it in fixes)),
                avoid=tuple(dict.fromkeys(bare(it.case.failed) for it in fixes)),
                check=bare(case.worked),
            ),
            sessions=tasks,
            key=key_of(self.name, *case.group),
        )


def _cases(window: Window) -> Iterator[_Case]:
    """Episodes that another command ended, in the order of sessions."""
    rows = {(session, row.seq): row for session, row in window.failures}
    for session, episode in parted(window):
        if episode.ending is not Ending.RECOVERED:
            continue
        failed = about(window, session, episode.failures[-1])
        worked = None if failed is None else matching(window, session, episode.end, failed)
        if failed is None or worked is None or is_trivial(worked):
            continue
        way = next(iter(ways(window, session, episode, targets=True)), None)
        if way is None or way.how not in _TELLING:
            continue
        if is_repeatable(failed) and is_repeatable(worked):
            row = rows[session, episode.failures[-1]]
            yield _Case(session, episode, row, failed, worked, way, missing(row))


def _fixes(window: Window, texts: Texts, cases: Iterable[_Case]) -> Iterator[_Fix]:
    """The commands of these cases as they were typed, each fix once, the shortest of them."""
    made: list[_Fix] = []
    for case in cases:
        before = typed(window, texts, case.session, case.episode.failures[-1])
        after = typed(window, texts, case.session, case.episode.end)
        if before is not None and after is not None and before.whole != after.whole:
            made.append(_Fix(case, before, after))
    seen: set[tuple[str, str]] = set()
    for fix in sorted(made, key=lambda it: (len(it.before.whole) + len(it.after.whole), it.before)):
        if fix.case.sameness not in seen:
            seen.add(fix.case.sameness)
            yield fix


def _strays(case: _Case) -> bool:
    """Whether the later command is also about something else."""
    assert case.lacking is not None
    name = case.lacking.name
    removed = [it for it in case.episode.removed if it[:1] != "-" and it.strip("'\"") != name]
    added = [it for it in case.episode.added if it[:1] != "-"]
    return case.lacking.what in _GUESSED and bool(removed) and bool(added)


def _names_it(case: _Case) -> bool:
    """Whether the complaint holds a word that was then left out."""
    words = (it.strip("'\"").lstrip("-") for it in case.episode.removed)
    parts = {part for it in words for part in (it, it.partition("=")[2]) if part}
    return any(len(it) >= _LEAST_LETTERS and it in case.row.line for it in parts)


def _is_vague(line: str) -> bool:
    told = re.findall(r"[A-Za-z]{2,}", line.lower())
    return not set(told) - {
        "exit",
        "code",
        "status",
        "error",
        "errors",
        "failed",
        "found",
        "command",
    }


def _change(fix: _Fix) -> list[str]:
    case = fix.case
    if case.way.how is How.FIRST:
        return [f"- First run {code(case.way.text)}."]
    if case.way.how is How.FOLDER:
        return [f"- Run it in {code(case.way.text)}."]
    ours, theirs = fix.before.whole.split(), fix.after.whole.split()
    removed = " ".join(it for it in ours if it not in theirs)
    added = " ".join(it for it in theirs if it not in ours)
    if removed and added:
        return [f"- {code(removed)} → {code(added)}"]
    if case.way.how is How.BEFORE and added:
        return [f"- Put {code(added)} before it."]
    return [f"- Leave out {code(removed)}."] if removed else [f"- Add {code(added)}."] * bool(added)
