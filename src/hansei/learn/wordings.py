"""Whether a command that was run is one that a skill words: the one comparison of both.

Both are taken in normal form. What counts as the same depends on the question, so there are three
measures. Whether a skill was followed is asked by its words, which may be among others: who is told
`pytest -x` and runs `pytest -q -x tests` did it. Whether it held later asks for more: the command
must be equal, but what it works on and the values of its options differ from session to session,
so they are left out, unless they are all that the skill changes: `pip install request` and
`requests`.

A skill says `cd FOLDER && COMMAND` where the folder matters, and may say `FIRST && COMMAND`.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.config import CommandClass
from hansei.events.model import Status
from hansei.learn.steps import called, form
from hansei.projection.commands.parsing import parse
from hansei.projection.facts.ran import programs
from hansei.projection.wording import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hansei.projection.facts.ran import Ran

CHECKS: Final = frozenset((CommandClass.TEST, CommandClass.BUILD, CommandClass.LINT))
"""Commands whose failing says something of the code, not of how they were called."""
_THEN: Final = " && "
_INTO: Final = "cd "
_PLACED: Final = re.compile(r"\((cd [^()]+)\)")
"""A command that leaves the shell where it was, as `projection.ways` tells it."""


class Measure(StrEnum):
    """What makes a run the one that a skill words."""

    EXACT = "exact"  # equal
    LOOSE = "loose"  # equal but for what it works on and the values of its options
    WORDS = "words"  # all words of the skill are there, in their order, from the program on


class Wording(NamedTuple):
    """A command as a skill says it."""

    text: str
    first: str = ""
    directory: str = ""
    before: tuple[str, ...] = ()
    exact: frozenset[str] = frozenset()
    loose: frozenset[str] = frozenset()
    """Without what it works on and the values of its options."""
    words: tuple[str, ...] = ()
    shows: bool = False
    """Whether it changes nothing: it reads, searches, lists or helps."""

    @property
    def exactness(self) -> int:
        """How much it says: of two that a run is, the one that says more is meant."""
        return len(self.before) + len(self.words) + bool(self.directory)


class Run(NamedTuple):
    """A command as it was run, and how that ended."""

    before: tuple[str, ...]
    directory: str
    exact: str
    loose: frozenset[str]
    names: frozenset[str] = frozenset()
    """What it may be called by in a word or two."""
    words: tuple[str, ...] = ()
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
    alone = _PLACED.fullmatch(text)
    lead, _, command = (alone[1] if alone else text).rpartition(_THEN)
    directory = lead.removeprefix(_INTO).rstrip("/") if lead.startswith(_INTO) else ""
    first = "" if directory else lead
    script = parse(command)
    if not script.parsed or script.main is None:
        whole = frozenset((command,))
        return Wording(text, first, directory, (), whole, whole, tuple(words(command)))
    found = [*programs(0, script)][script.main]
    plain = command.removeprefix(" ".join(found.before)).strip()
    return Wording(
        text,
        first,
        directory,
        found.before,
        frozenset((found.form, plain)),
        frozenset((plain, *_loosely(found))),
        tuple(it for it in words(found.form) if it != "*"),
        found.shows,
    )


def _loosely(ran: Ran) -> tuple[str, str]:
    """A command whatever it works on, and by its name and options whatever their values are.

    A script that an interpreter runs is what is done, not what it is done to.
    """
    return form(ran), " ".join((called(ran), *sorted(set(ran.flags))))


@lru_cache(maxsize=8192)
def run_of(ran: Ran, status: Status = Status.UNKNOWN, firsts: frozenset[str] = frozenset()) -> Run:
    """A command of a session, ready to be compared."""
    return Run(
        before=ran.before,
        directory=(ran.directory or "").rstrip("/"),
        exact=ran.form,
        loose=frozenset(_loosely(ran)),
        names=frozenset((ran.shown, called(ran), ran.program)),
        words=tuple(words(ran.form)),
        targets=ran.targets,
        status=status,
        is_check=ran.kind in CHECKS,
        firsts=firsts,
    )


def is_run_of(
    told: Wording, run: Run, measure: Measure = Measure.LOOSE, *, strict: bool = False
) -> bool:
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
    if measure is Measure.WORDS:
        return told.text in run.names or _are_among(told.words, run.words)
    if told.first and told.first not in run.firsts:
        return False
    return run.exact in told.exact or (measure is Measure.LOOSE and bool(told.loose & run.loose))


def _are_among(told: Sequence[str], run: Sequence[str]) -> bool:
    """Whether words are there in their order, from the first on; a script may lack its folder."""
    rest = iter(run)
    return (
        bool(told)
        and next(rest, None) == told[0]
        and all(any(it == word or it.endswith(f"/{word}") for it in rest) for word in told[1:])
    )


def is_same_run(one: Run, other: Run) -> bool:
    """Whether one command was run twice in one place."""
    return (one.before, one.directory, one.exact) == (other.before, other.directory, other.exact)


def is_alike(one: Run, other: Run) -> bool:
    """Whether two runs are the same but for what they work on, or the same had to run first."""
    return bool(one.firsts & other.firsts) or (
        one.before == other.before and bool(one.loose & other.loose)
    )


def measured_by(do: Sequence[Wording], avoid: Sequence[Wording]) -> Measure:
    """How closely to look: exactly where what to do differs from what to avoid only in targets."""
    in_targets = any(
        one.before == other.before
        and bool(one.loose & other.loose)
        and not (one.first or one.directory)
        for one in do
        for other in avoid
    )
    return Measure.EXACT if in_targets else Measure.LOOSE
