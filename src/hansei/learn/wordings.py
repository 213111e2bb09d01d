"""Whether a command that was run is one that a skill words: equal, once both are in normal form.

What a command works on and the values of its options differ from session to session, so they are
left out, unless they are all that the skill changes: `pip install request` and `requests`.
A skill says `cd FOLDER && COMMAND` where the folder matters, and may say `FIRST && COMMAND`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.config import CommandClass
from hansei.events.model import Status
from hansei.learn.steps import called, form, named
from hansei.projection.commands.normal import normal, shown
from hansei.projection.commands.parsing import parse
from hansei.projection.ways import bare
from hansei.projection.wording import words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hansei.projection.facts.ran import Ran

CHECKS: Final = frozenset((CommandClass.TEST, CommandClass.BUILD, CommandClass.LINT))
"""Commands whose failing says something of the code, not of how they were called."""
_THEN: Final = " && "
_INTO: Final = "cd "


class Wording(NamedTuple):
    """A command as a skill says it."""

    text: str
    first: str = ""
    directory: str = ""
    before: tuple[str, ...] = ()
    exact: frozenset[str] = frozenset()
    loose: frozenset[str] = frozenset()
    """Without what it works on and the values of its options."""


class Run(NamedTuple):
    """A command as it was run, and how that ended."""

    before: tuple[str, ...]
    directory: str
    exact: str
    loose: frozenset[str]
    targets: tuple[str, ...] = ()
    status: Status = Status.UNKNOWN
    is_check: bool = False
    firsts: frozenset[str] = frozenset()
    """What was run before it and may have made it work."""

    @property
    def went_wrong(self) -> bool:
        """Whether it failed by the way it was called."""
        return self.status is Status.FAILED and not self.is_check


def placed(ran: Ran) -> str:
    """A command as a skill is to say it, whatever it works on: with its folder, if it has one."""
    command = " ".join((*ran.before, form(ran)))
    return f"{_INTO}{ran.directory}{_THEN}{command}" if ran.directory else command


@lru_cache(maxsize=8192)
def wording(text: str) -> Wording:
    """What a skill says, taken apart."""
    lead, _, command = text.rpartition(_THEN)
    directory = lead.removeprefix(_INTO).rstrip("/") if lead.startswith(_INTO) else ""
    first = "" if directory else lead
    script = parse(command)
    if not script.parsed or script.main is None:
        alone = frozenset((command,))
        return Wording(text, first, directory, (), alone, alone)
    found = script.commands[script.main]
    before = (*(f"{name}=" for name in found.variables), *found.wrappers)
    told = normal(found)
    rest = words(told)
    without = " ".join(rest[: max(len(rest) - len(found.targets), 1)])
    plain = command.removeprefix(" ".join(before)).strip()
    known_by = _known_by(named(found.program, shown(found)), found.flags)
    return Wording(
        text,
        first,
        directory,
        before,
        frozenset((told, plain)),
        frozenset((without, plain, known_by)),
    )


def _known_by(name: str, flags: Iterable[str]) -> str:
    """A command by its name and options, whatever their values are."""
    return " ".join((name, *sorted(set(flags))))


def run_of(ran: Ran, status: Status = Status.UNKNOWN, firsts: frozenset[str] = frozenset()) -> Run:
    """A command of a session, ready to be compared."""
    return Run(
        before=ran.before,
        directory=(ran.directory or "").rstrip("/"),
        exact=ran.form,
        loose=frozenset((bare(ran), form(ran), _known_by(called(ran), ran.flags))),
        targets=ran.targets,
        status=status,
        is_check=ran.kind in CHECKS,
        firsts=firsts,
    )


def is_run_of(told: Wording, run: Run, *, exact: bool = False, strict: bool = True) -> bool:
    """Whether a run is what a skill says; `strict` where nothing else may stand before it.

    What a skill says may also be what had to run first.
    """
    if told.text in run.firsts:
        return True
    missing = any(it not in run.before for it in told.before)
    if missing or (strict and set(run.before) - set(told.before)):
        return False
    if told.directory and told.directory != run.directory:
        return False
    if told.first and told.first not in run.firsts:
        return False
    return run.exact in told.exact or (not exact and bool(told.loose & run.loose))


def is_same_run(one: Run, other: Run) -> bool:
    """Whether one command was run twice in one place."""
    return (one.before, one.directory, one.exact) == (other.before, other.directory, other.exact)


def differ_in_targets(do: tuple[Wording, ...], avoid: tuple[Wording, ...]) -> bool:
    """Whether what commands work on is all that tells what to do from what to avoid."""
    return any(
        one.before == other.before
        and bool(one.loose & other.loose)
        and not (one.first or one.directory)
        for one in do
        for other in avoid
    )
