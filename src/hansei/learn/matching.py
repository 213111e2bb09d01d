"""Whether what a skill says of itself holds of what sessions did: `when`, `do`, `avoid`, `check`.

Everything is asked of facts, call by call, and answered with the calls. Commands are compared by
`wordings`. Where a call is both what a skill asks for and what it warns of, the more exact of the
two wordings is meant.
"""

from __future__ import annotations

from bisect import bisect_left
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.events.model import Status
from hansei.learn.patterns import PLAIN, below, expression, is_path
from hansei.learn.wordings import CHECKS, Measure, is_run_of, run_of, wording
from hansei.projection.failures import Kind
from hansei.projection.failures.missing import What, missing
from hansei.projection.wording import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hansei.learn.model import Predicates, Skill
    from hansei.projection.facts.ran import Ran
    from hansei.projection.window import Window

_USAGE: Final = frozenset((What.PROGRAM, What.SCRIPT, What.COMMAND, What.OPTION))


class Call(NamedTuple):
    """A call by its session and its number, as `hansei show` opens it."""

    session: int
    seq: int


class Done(NamedTuple):
    """A call that did what a skill asks for, and how that ended."""

    session: int
    seq: int
    status: Status
    is_check: bool
    """Whether failing would say something of the code, not of the command."""

    @property
    def call(self) -> Call:
        return Call(self.session, self.seq)


# --- what skills ask of sessions ------------------------------------------------------------------


def triggers(window: Window, skill: Skill) -> list[Call]:
    """The calls on which a skill applies."""
    return met(window, skill.predicates)


def met(window: Window, told: Predicates) -> list[Call]:
    """The calls of which everything holds that a `when` names; none where it names nothing."""
    found: list[set[Call]] = []
    if told.error:
        found.append(failed_with(window, told.error))
    if told.command:
        found.append({Call(it.session, it.seq) for it in _running(window, told.command)})
    if told.path:
        found.append(_touching(window, told.path))
    if told.tool:
        found.append(_using(window, told.tool))
    return sorted(set.intersection(*found)) if found else []


def follows(window: Window, skill: Skill) -> list[Done]:
    """The calls that did what a skill asks for.

    Where it also says what to avoid, or which failure it is about, each `do` stands for itself;
    else they are steps, followed where all were taken in their order, and told by the last.
    """
    told = skill.predicates
    steps = [_doing(window, it) for it in told.do]
    if not (told.avoid or told.error) and len(steps) > 1:
        return list(_in_order(steps))
    warned = _exactness(window, told.avoid)
    meant = _exactness(window, told.do)
    every = {it.call: it for step in steps for it in step}
    return [every[call] for call in sorted(every) if meant.get(call, 0) >= warned.get(call, 0)]


def avoided(window: Window, skill: Skill) -> list[Call]:
    """The calls that did what a skill warns of, and not what it asks for."""
    told = skill.predicates
    warned, meant = _exactness(window, told.avoid), _exactness(window, told.do)
    return sorted(call for call, size in warned.items() if size > meant.get(call, 0))


def checks(window: Window, skill: Skill) -> list[Done]:
    """The calls that ran what tells whether a skill worked, and how they ended."""
    check = skill.predicates.check
    return sorted(_doing(window, check)) if check else []


def recurrences(window: Window, skill: Skill) -> list[Call]:
    """The calls that failed with what a skill is about."""
    error = skill.predicates.error
    return sorted(failed_with(window, error)) if error else []


def is_checkable(told: Predicates) -> bool:
    """Whether a machine can tell when a skill applies."""
    return bool(told.tool or told.command or told.path or told.error)


def problems(told: Predicates) -> Iterator[str]:
    """What a person wrote that can never match, field by field."""
    for name in ("command", "check", "do", "avoid"):
        value = getattr(told, name)
        for text in (value,) if isinstance(value, str) else value:
            if text != " ".join(text.split()) or (text and not wording(text).words):
                yield f"predicates, {name}: {text[:60]!r} is no command on one line"
    for text in sorted({*told.do} & {*told.avoid}):
        yield f"predicates: {text[:60]!r} is both asked for and warned of"
    if told.path and not PLAIN.fullmatch(told.path):
        yield f"predicates, path: {told.path[:60]!r} is no pattern such as `api/**/*.py`"
    for name in ("tool", "error"):
        text = getattr(told, name)
        if text != " ".join(text.split()):
            yield f"predicates, {name}: it must stand on one line"


# --- how ------------------------------------------------------------------------------------------


class _Run(NamedTuple):
    session: int
    seq: int
    ran: Ran


def _running(window: Window, text: str) -> Iterator[_Run]:
    """The programs that were run as a skill words it."""
    told = wording(text)
    heads = {*told.words[:1], *words(text)[:1]}
    for head in sorted(heads):
        for session, ran in window.commands_of(head):
            if is_run_of(told, run_of(ran), Measure.WORDS):
                yield _Run(session, ran.seq, ran)


def _doing(window: Window, text: str) -> list[Done]:
    """The calls that ran a command, or touched a path, and how they ended."""
    found = {Call(it.session, it.seq): it.ran for it in _running(window, text)}
    done = [
        Done(*call, ended(window, call, ran), ran.kind in CHECKS and not misused(window, call))
        for call, ran in found.items()
    ]
    if is_path(text):
        touching = _touching(window, below(text)) - found.keys()
        done += [Done(*call, ended(window, call, None), is_check=False) for call in touching]
    return sorted(done)


def ended(window: Window, call: Call, ran: Ran | None) -> Status:
    """How a program in a call ended; unknown where the call's own end is that of another one."""
    if (row := window.called.get(call)) is None:
        return Status.UNKNOWN
    if row.status is Status.FAILED:
        failure = window.failed.get(call)
        real = failure is not None and failure.kind is Kind.FAILURE
        return Status.FAILED if real and (ran is None or ran.about) else Status.UNKNOWN
    if ran is not None and not ran.about and ran.masked:
        return Status.UNKNOWN
    return row.status


def misused(window: Window, call: Call) -> bool:
    """Whether a call failed because there is no such program, script, subcommand or option."""
    row = window.failed.get(call)
    lacking = None if row is None else missing(row)
    return lacking is not None and lacking.what in _USAGE


def _exactness(window: Window, texts: Sequence[str]) -> dict[Call, int]:
    """How exactly the best of some wordings describes each call."""
    found: dict[Call, int] = {}
    for text in texts:
        size = wording(text).exactness or 1
        for it in _doing(window, text):
            found[it.call] = max(size, found.get(it.call, 0))
    return found


def _in_order(steps: Sequence[Sequence[Done]]) -> Iterator[Done]:
    """The last steps of every time that all were taken, one after the other."""
    for session in sorted({it.session for it in steps[0]}):
        rows = [[it for it in step if it.session == session] for step in steps]
        after = 0
        while (last := _through(rows, after)) is not None:
            yield last
            after = last.seq + 1


def _through(rows: Sequence[Sequence[Done]], after: int) -> Done | None:
    """The last step, where there is a way through all of them; two may be in one call."""
    last: Done | None = None
    for row in rows:
        place = bisect_left(row, after, key=lambda it: it.seq)
        if place == len(row):
            return None
        last = row[place]
        after = last.seq
    return last


def failed_with(window: Window, signature: str) -> set[Call]:
    """The calls that failed with a signature, or with one of a pattern."""
    return {
        Call(session, row.seq)
        for session, row in window.failures
        if row.kind is Kind.FAILURE and _is_signature(row.signature, signature)
    }


def _is_signature(found: str, told: str) -> bool:
    return found == told or ("*" in told and fnmatchcase(found, told.replace("[", "[[]")))


def _touching(window: Window, pattern: str) -> set[Call]:
    told = expression(pattern)
    return {call for call, path in reached(window) if told.fullmatch(path) is not None}


def reached(window: Window) -> Iterator[tuple[Call, str]]:
    """The files that calls touched or looked for in vain, from the top of the repository."""
    for session, row in window.touches:
        yield Call(session, row.seq), row.path.replace("\\", "/")
    for session, failure in window.failures:
        lacking = missing(failure) if failure.kind is Kind.FAILURE else None
        if lacking is not None and lacking.what is What.FILE:
            name = lacking.name.replace("\\", "/").removeprefix("./")
            roots = window.roots.get(session, ())
            found = (name[len(it) + 1 :] for it in roots if name.startswith(f"{it}/"))
            yield Call(session, failure.seq), next(found, name)


def _using(window: Window, tool: str) -> set[Call]:
    wanted = tool.casefold()
    return {
        Call(session, row.seq)
        for session, row in window.calls
        if wanted in (row.tool.casefold(), row.name.casefold())
    }
