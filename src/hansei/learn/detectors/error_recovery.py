"""A command that failed, and what was different when it worked.

Both calls are another try of the same work (`projection.failures.relation`), and what changed is
told word by word. Where files were edited in between, or the same command simply worked later, the
words of the command were not what was wrong, and there is nothing to keep. Options and subcommands
that a program does not have are put together by program: who guessed one will guess the next.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from hansei.config import CommandClass
from hansei.events.model import Status, ToolResult
from hansei.learn.around import alike
from hansei.learn.instructed import given, is_given
from hansei.learn.lines import Line, typed, written
from hansei.learn.model import Evidence, Offer, Predicates
from hansei.learn.replacements import caveats, is_equivalent, prints_usage
from hansei.learn.steps import steps
from hansei.learn.worth import is_of_one_machine, is_repeatable, is_trivial
from hansei.learn.writing import (
    body,
    briefly,
    code,
    described,
    key_of,
    name_of,
    numbered,
    table,
    topic,
)
from hansei.projection.failures import Ending
from hansei.projection.failures.missing import Missing, What, missing
from hansei.projection.ways import How, about, matching, parted, spelled, ways
from hansei.projection.wording import before_options, counted, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from hansei.learn.steps import Step, Texts
    from hansei.projection.facts.ran import Ran
    from hansei.projection.failures import Episode, Failure
    from hansei.projection.ways import Way
    from hansei.projection.window import Window

K = TypeVar("K")
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
_WANTS: Final = re.compile(
    r"\b(?:accepts|expects?|requires?|required|missing|needs?)\b.*\b(?:arg|argument|option|flag|param)"
    r"|\bargs?\b.*\brequired\b|must (?:specify|provide|be given)",
    re.IGNORECASE,
)
"""Complaints that something was not given."""
_LEAST_LETTERS: Final = 3
_VAGUE: Final = frozenset(
    ("exit", "code", "status", "error", "errors", "failed", "found", "command")
)
"""A line of nothing but these says nothing about what went wrong."""
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
    def sameness(self) -> tuple[str, ...]:
        """What makes it the same fix as another one."""
        if self.group[0] == self.row.signature:
            return self.group
        name = self.lacking.name if self.lacking else ""
        return (self.failed.shown, name, *sorted(set(self.failed.flags)))


class _Fix(NamedTuple):
    case: _Case
    before: str
    after: str
    """With slots where it is known what varies."""
    typed: str
    """As it was typed."""

    @property
    def added(self) -> tuple[str, ...]:
        """What was told instead."""
        return tuple(
            sorted(it.partition("=")[0] for it in self.case.episode.added if it[:1] == "-")
        )


@dataclass(frozen=True)
class ErrorRecovery:
    """Knobs."""

    name: str = "error-recovery"
    sessions: int = 3
    """Independent sessions that got past it the same way."""
    share: float = 0.5
    """Of the episodes of one failure that another command ended, those that the same way ended."""
    words: int = 8
    """Words by which two commands may differ: above, the second is another command."""
    calls: int = 12
    """Calls from the failure to the success: what took longer had other reasons, too."""
    most: int = 10
    """Fixes of many sessions that are offered at once."""

    def find(self, window: Window, texts: Texts) -> Iterator[Offer]:
        found = list(_cases(window))
        moved = _grouped((it, case) for case in found if (it := _place(case)))
        for pair in self._known(window, moved)[: self.most]:
            yield self._of_place(window, moved[pair], pair)
        own = steps(window)
        told = [it for it in found if self._is_of_words(it)]
        groups = _grouped((it.group, it) for it in told)
        groups |= _grouped((it.group, it) for it in self._proven(found))
        known = self._known(window, groups)
        for group in known[: self.most]:
            yield from self._offers(window, texts, groups[group], own)
        alone = _grouped(((it.session, it.group), it) for it in told if it.group not in known)
        for place in sorted(alone):
            yield from self._offers(window, texts, alone[place], own)

    def _proven(self, found: Sequence[_Case]) -> list[_Case]:
        """Cases that most sessions got past the same way, whatever the complaint was."""
        ended = Counter(it.row.signature for it in found)
        same = Counter(it.group for it in found)
        return [
            it
            for it in found
            if it.group[0] == it.row.signature
            and same[it.group] >= self.share * ended[it.row.signature]
            and not is_trivial(it.worked)
            and is_repeatable(it.failed)
            and is_repeatable(it.worked)
        ]

    def _known(self, window: Window, groups: Mapping[K, Sequence[_Case]]) -> list[K]:
        """What enough sessions ran into, the most frequent first."""
        tasks = {it: window.tasks(case.session for case in own) for it, own in groups.items()}
        known = [it for it in groups if tasks[it] >= self.sessions]
        return sorted(known, key=lambda it: (-tasks[it], str(it)))

    def _is_of_words(self, case: _Case) -> bool:
        """Whether the words of the command were wrong, and are wrong the next time, too."""
        episode, line = case.episode, case.row.line
        if is_trivial(case.worked) or not (
            is_repeatable(case.failed) and is_repeatable(case.worked)
        ):
            return False
        if episode.edited or episode.calls > self.calls or _PASSING.search(line):
            return False
        if len(episode.removed) + len(episode.added) > self.words:
            return False
        if case.lacking is not None:
            return case.lacking.what in _LASTING and not _strays(case)
        if case.failed.kind in _CHECKS or is_trivial(case.failed) or _is_vague(line):
            return False
        if case.way.how is How.OTHER:
            return case.failed.shown == case.worked.shown and (_names_it(case) or _asks_for(case))
        if case.way.how is How.BEFORE:
            return "sudo" not in case.way.text
        return _ELSEWHERE.search(line) is not None

    def _offers(
        self,
        window: Window,
        texts: Texts,
        cases: Sequence[_Case],
        own: Mapping[int, Sequence[Step]],
    ) -> Iterator[Offer]:
        made = self._sound(window, texts, list(_made(window, texts, cases, own)))
        if made:
            ranked = sorted(_apart(made), key=lambda it: -len(_met(window, [it])))
            fixes = ranked[:_ROWS]
            minds = [line for it in fixes for line in _caveats(window, texts, it)]
            yield self._offer(window, made, fixes, minds)

    def _sound(self, window: Window, texts: Texts, made: Sequence[_Fix]) -> list[_Fix]:
        """Fixes that do the same in other words, and that the next complaint does not tell anyway.

        Three sessions that took the same one mean it; a text that tells it wrongly goes on so.
        """
        same = _grouped(((it.case.sameness, it.added), it.case) for it in made)
        often = {
            it for it, own in same.items() if window.tasks(c.session for c in own) >= self.sessions
        }
        kept = [
            it
            for it in made
            if (it.case.sameness, it.added) in often
            or it.case.group[0] == it.case.row.signature
            or is_equivalent(it.before, it.typed)
        ]
        if window.tasks(session for session, _ in _met(window, kept)) >= self.sessions:
            return kept
        return [it for it in kept if not _tells_itself(window, texts, it)]

    def _offer(
        self,
        window: Window,
        made: Sequence[_Fix],
        fixes: Sequence[_Fix],
        minds: Sequence[str],
    ) -> Offer:
        case, before, after, _ = fixes[0]
        cases, met = [it.case for it in made], _met(window, made)
        tasks = window.tasks(session for session, _ in met)
        past = window.tasks(it.session for it in cases)
        others = "" if tasks == past else f" {counted(tasks, 'session').capitalize()} ran into it."
        alone = len(fixes) == 1
        what = case.failed.shown if alone else case.failed.program
        name = name_of("error", topic(case.failed), (case.failed.subcommand or "") * alone)
        says = dict.fromkeys(code(one_line(it.case.row.line, 160)) for it in fixes)
        commands = tuple(dict.fromkeys(it.after for it in fixes))
        more = "" if alone else f", and {len(fixes) - 1} more like it"
        when = [f"- Before {briefly(what)}.", *(f"- When it says: {it}" for it in says)]
        return Offer(
            detector=self.name,
            name=name,
            description=described(
                f"Error recovery: {briefly(before)} fails here, {briefly(after)} works{more}"
                + (", but mind what it does." if minds else ".")
                + f" Use it before running {what}, or when it complains."
            ),
            body=body(
                name,
                f"Got past in {counted(past, 'session')} by other words, without any edit.{others}",
                (
                    ("When to use", when),
                    ("Error Fix", table((it.before, it.after) for it in fixes)),
                    ("What changed", [line for it in fixes for line in _change(it)]),
                    ("Mind", minds),
                    ("Commands", numbered(commands)),
                ),
            ),
            commands=commands,
            evidence=tuple(
                dict.fromkeys(
                    (
                        *_evidence(window, cases),
                        *(Evidence(window.sessions[session].name, seq) for session, seq in met),
                    )
                )
            ),
            topic=topic(case.failed),
            action=case.failed.subcommand or "",
            predicates=_predicates([it.case for it in fixes]),
            sessions=tasks,
            key=key_of(self.name, *case.group),
        )

    def _of_place(self, window: Window, cases: Sequence[_Case], place: tuple[str, str]) -> Offer:
        wrong, right = place
        name = name_of("error", "path", right)
        tasks = counted(window.tasks(it.session for it in cases), "session")
        return Offer(
            detector=self.name,
            name=name,
            description=described(
                f"Error recovery: there is no {code(wrong)} here, it is {code(right)}."
                f" Use it before opening anything there; {tasks} ran into it."
            ),
            body=body(
                name,
                f"{tasks.capitalize()} looked in the wrong place first.",
                (
                    ("When to use", [f"- Before opening a file in {code(right)}."]),
                    ("Error Fix", table([place])),
                ),
            ),
            commands=(),
            evidence=_evidence(window, cases),
            topic=right.rsplit("/", 1)[-1],
            predicates=Predicates(path=f"{wrong}/**", avoid=(wrong,), do=(right,)),
            sessions=window.tasks(it.session for it in cases),
            key=key_of(self.name, "place", wrong, right),
        )


def _cases(window: Window) -> Iterator[_Case]:
    """Episodes that another command ended, in the order of sessions."""
    rows = {(session, row.seq): row for session, row in window.failures}
    for session, episode in parted(window):
        if episode.ending is not Ending.RECOVERED:
            continue
        failed = about(window, session, episode.failures[-1])
        worked = None if failed is None else matching(window, session, episode.end, failed)
        way = next(iter(ways(window, session, episode, targets=True)), None)
        if failed is None or worked is None or way is None or way.how not in _TELLING:
            continue
        row = rows[session, episode.failures[-1]]
        yield _Case(session, episode, row, failed, worked, way, missing(row))


def _grouped(pairs: Iterable[tuple[K, _Case]]) -> dict[K, list[_Case]]:
    found: dict[K, list[_Case]] = defaultdict(list)
    for key, case in pairs:
        found[key].append(case)
    return found


def _predicates(cases: Sequence[_Case]) -> Predicates:
    """When the fixes apply, and what they ask for.

    What has to run first is asked for itself: the command that failed stays as it was.
    """
    case = cases[0]
    first = [it for it in cases if it.way.how is How.FIRST]
    other = [it for it in cases if it.way.how is not How.FIRST]
    do = [it.way.text for it in first]
    return Predicates(
        command=case.failed.shown,
        error=case.row.signature,
        do=tuple(dict.fromkeys([*do, *(_worded(it, it.worked) for it in other)])),
        avoid=tuple(dict.fromkeys(_worded(it, it.failed) for it in other)),
        check=spelled(case.worked),
    )


def _worded(case: _Case, ran: Ran) -> str:
    """A command, with its folder where that makes the difference."""
    if case.way.how is How.FOLDER and ran.directory:
        return f"cd {ran.directory} && {spelled(ran)}"
    return spelled(ran)


def _evidence(window: Window, cases: Iterable[_Case]) -> tuple[Evidence, ...]:
    return tuple(
        Evidence(window.sessions[it.session].name, seq)
        for it in cases
        for seq in (it.episode.failures[-1], it.episode.end)
    )


def _place(case: _Case) -> tuple[str, str] | None:
    """The folder that was not there and the one that was, where both hold a file of one name."""
    if case.lacking is None or case.lacking.what is not What.FILE:
        return None
    name = case.lacking.name.removeprefix("./")
    for target in case.worked.targets:
        ours, theirs = name.split("/"), target.removeprefix("./").split("/")
        while len(ours) > 1 and len(theirs) > 1 and ours[-1] == theirs[-1]:
            ours, theirs = ours[:-1], theirs[:-1]
        wrong, right = "/".join(ours), "/".join(theirs)
        inside = not is_of_one_machine(f"{wrong} {right}") and right[:1] not in ("", "/", "-")
        if len(ours) < name.count("/") + 1 and wrong != right and inside:
            return wrong, right
    return None


def _made(
    window: Window,
    texts: Texts,
    cases: Iterable[_Case],
    own: Mapping[int, Sequence[Step]],
) -> Iterator[_Fix]:
    """The commands of these cases as they were typed."""
    for case in cases:
        before = typed(window, texts, case.session, case.episode.failures[-1])
        after = typed(window, texts, case.session, case.episode.end)
        if before is not None and after is not None and before.whole != after.whole:
            again = _worked(window, texts, case, after, own.get(case.session, ()))
            yield _Fix(case, before.whole, again, after.whole)


def _apart(made: Iterable[_Fix]) -> list[_Fix]:
    """Each fix once, the shortest of them."""
    found: dict[tuple[str, ...], _Fix] = {}
    for fix in sorted(made, key=lambda it: (len(it.before) + len(it.after), it.before)):
        found.setdefault(fix.case.sameness, fix)
    return list(found.values())


def _met(window: Window, made: Sequence[_Fix]) -> list[tuple[int, int]]:
    """Where sessions ran into it, got past or not: what a program does not have stays wrong."""
    own = {(it.case.session, it.case.episode.failures[-1]) for it in made}
    wrong = {
        (it.case.row.signature, it.case.failed.shown)
        for it in made
        if it.case.lacking is not None and it.case.lacking.what in _GUESSED
    }
    signatures = {it for it, _ in wrong}
    for session, row in window.failures:
        if row.signature in signatures:
            ran = about(window, session, row.seq)
            if ran is not None and (row.signature, ran.shown) in wrong:
                own.add((session, row.seq))
    return sorted(own)


def _tells_itself(window: Window, texts: Texts, fix: _Fix) -> bool:
    """Whether the program lists what it takes, and no text here tells what it does not take."""
    case, seq = fix.case, fix.case.episode.failures[-1]
    guessed = case.lacking is not None and case.lacking.what in _GUESSED
    if not guessed or not prints_usage(_complaint(window, texts, case)):
        return False
    return not is_given(window, case.session, seq, fix.before)


def _complaint(window: Window, texts: Texts, case: _Case) -> str:
    place = window.result_of.get((case.session, case.episode.failures[-1]))
    event = None if place is None else texts(case.session, place)
    return event.text if isinstance(event, ToolResult) else ""


def _caveats(window: Window, texts: Texts, fix: _Fix) -> list[str]:
    """What texts say of a subcommand that stands in for another."""
    case = fix.case
    if case.lacking is None or case.lacking.what is not What.COMMAND:
        return []
    told = given(window, case.session, case.episode.failures[-1])
    failed, worked = (" ".join(before_options(it)) for it in (fix.before, fix.typed))
    return caveats(failed, worked, _complaint(window, texts, case), told)


def _worked(window: Window, texts: Texts, case: _Case, line: Line, own: Sequence[Step]) -> str:
    """What worked, with slots where other runs of the same session show what varies."""
    again = [it for it in own if it.status is Status.OK and alike(it.ran) == alike(case.worked)]
    if len(again) == 1 or "&&" in line.text or ";" in line.text:
        return line.whole
    made = written(window, texts, again).text
    kept = set(made.split())
    told = all(it in kept for it in case.episode.added if "=" not in it)
    return made if told else line.whole


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


def _asks_for(case: _Case) -> bool:
    """Whether the complaint is that something was not given, and it was given then."""
    return not case.episode.removed and _WANTS.search(case.row.line) is not None


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
    ours, theirs = fix.before.split(), fix.typed.split()
    removed = " ".join(it for it in ours if it not in theirs)
    added = " ".join(it for it in theirs if it not in ours)
    if removed and added:
        return [f"- {code(removed)} → {code(added)}"]
    if case.way.how is How.BEFORE and added:
        return [f"- Put {code(added)} before it."]
    return [f"- Leave out {code(removed)}."] if removed else [f"- Add {code(added)}."] * bool(added)
