"""Commands that a text tells to run, and whether they were run.

Commands are those in its code blocks. They are compared by normal form; what stands for something
else there (`<file>`, `path/to/…`, `[name]`) may be anything.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hansei.events.model import Basis
from hansei.projection.commands import programs
from hansei.projection.commands.model import Class
from hansei.projection.commands.normal import normal
from hansei.projection.commands.parsing import parse

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from hansei.projection.calls import Call
    from hansei.projection.commands.model import Command, Script

Form = tuple[str, ...]
"""A normal form by its words."""

_BLOCK = re.compile(
    r"^[ \t]*(?:\d+[→|\t ]+)?```([\w-]*)[^\n]*\n(.*?)^[ \t]*(?:\d+[→|\t ]+)?```",
    re.MULTILINE | re.DOTALL,
)
_LANGUAGES = frozenset(("bash", "sh", "shell", "zsh", "console", "powershell", "shell-session"))
_NUMBER = re.compile(r"^[ \t]*\d+[→|\t]", re.MULTILINE)
"""Line numbers that some tools put before each line."""
_PROMPT = re.compile(r"^[ \t]*\$ ", re.MULTILINE)
_ANY = "ANYTHING"
_OPEN = re.compile(
    r"<[A-Za-z][\w .:-]*>|\[[A-Za-z][\w .:-]*\]|\{\{?[A-Za-z][\w .:-]*\}?\}|\.\.\.|…"
    r"|(?:\S*/)?path/to/\S*|\bYOUR_\w+|\$ARGUMENTS\b"
)
_EVERYDAY = frozenset((Class.READ, Class.SEARCH))
"""What every session runs, whatever it was told."""
SHORTEST = 2
"""Words of a command that still say something when what it leaves open is left out."""
_BLOCKS = 40
"""Code blocks of a text that are looked at."""


def told(text: str) -> frozenset[Form]:
    """The commands in the code blocks of a text."""
    found: set[Form] = set()
    if "```" not in text:
        return frozenset()
    for number, (language, body) in enumerate(_BLOCK.findall(text)):
        if number == _BLOCKS:
            break
        if language.lower() in _LANGUAGES:
            code = _OPEN.sub(_ANY, _PROMPT.sub("", _NUMBER.sub("", body)))
            found |= {_form(command, ()) for command in _telling(parse(code))}
    found |= {bare for form in found if len(bare := _without_open(form)) >= SHORTEST}
    return frozenset(form for form in found if form[0] != _ANY)


def _without_open(form: Form) -> Form:
    """A command without what it leaves open: `npm test <file>` is followed by `npm test` too."""
    return tuple(word for word in form if word != _ANY)


def first_run(
    calls: Iterable[Call], forms: Collection[Form], after: int, roots: Sequence[str]
) -> int | None:
    """The first call after an event that runs one of these commands."""
    if not forms:
        return None
    heads = {form[0] for form in forms}
    for call in calls:
        if call.seq <= after or call.script is None or _never_ran(call):
            continue
        for command in _telling(call.script):
            if command.program in heads and _among(_form(command, roots), forms):
                return call.seq
    return None


def _never_ran(call: Call) -> bool:
    return call.result is not None and call.result.basis is Basis.DECLINED


def _telling(script: Script) -> Iterator[Command]:
    if script.parsed:
        for command in script.commands:
            everyday = command.kind in _EVERYDAY or command.program in programs.FILLERS
            if not everyday and not command.inside and not command.stage:
                yield command


def _form(command: Command, roots: Sequence[str]) -> Form:
    return tuple(normal(command, roots).split(" "))


def _among(form: Form, forms: Collection[Form]) -> bool:
    if form in forms:
        return True
    return any(
        len(other) == len(form)
        and any(_ANY in word for word in other)
        and all(_ANY in told or told == ran for told, ran in zip(other, form, strict=True))
        for other in forms
    )
