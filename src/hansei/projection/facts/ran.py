"""The programs that a session's shell calls ran, one row each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hansei.config import CommandClass
from hansei.projection.commands.normal import normal, shown
from hansei.projection.commands.paths import seen_from
from hansei.projection.commands.showing import only_shows
from hansei.projection.wording import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hansei.projection.calls import Call
    from hansei.projection.commands.model import Script


class Ran(NamedTuple):
    """One program in a shell call."""

    seq: int
    program: str
    subcommand: str | None
    kind: CommandClass
    shown: str
    """What a person would call it."""
    form: str
    """What makes one run like another: equal across sessions and folders."""
    flags: tuple[str, ...]
    targets: tuple[str, ...]
    directory: str | None
    """From the folder the call began in, whole where it lies elsewhere; None is unknown."""
    about: bool
    """Whether the call is about this one; the others prepare, filter or fill in a word."""
    masked: bool
    """Whether the call may end well although this failed."""
    inside: bool
    parsed: bool
    """False where the text follows no grammar: then only its first words are told."""
    before: tuple[str, ...] = ()
    """What stood before it: `sudo`, `uv run`; variables set for it as `NAME=`."""
    shows: bool = False
    """Whether it changes nothing: it reads, searches, lists or helps."""


def ran(calls: Sequence[Call], roots: Sequence[str] = ()) -> list[Ran]:
    """Every program of every shell call, in the order of the text."""
    return [
        row
        for call in calls
        if call.script is not None
        for row in programs(call.seq, call.script, call.event.cwd, roots)
    ]


def programs(
    seq: int, script: Script, cwd: str | None = None, roots: Sequence[str] = ()
) -> Iterator[Ran]:
    """The programs of one shell call, made or about to be made."""
    for place, command in enumerate(script.commands):
        yield Ran(
            seq=seq,
            program=command.program,
            subcommand=command.subcommand,
            kind=command.kind,
            shown=shown(command),
            form=normal(command, roots),
            flags=command.flags,
            targets=command.targets,
            directory=seen_from(command.directory, cwd),
            about=place == script.main,
            masked=command.masked,
            inside=command.inside,
            parsed=script.parsed,
            before=(*(f"{name}=" for name in command.variables), *command.wrappers),
            shows=only_shows(command),
        )


def bare(ran: Ran, *, targets: bool = False) -> str:
    """A command without what it was told to work on, which differs from session to session."""
    if targets:
        return ran.form
    told = words(ran.form)
    return " ".join(told[: max(len(told) - len(ran.targets), 1)])
