"""Which lines can have come: a command that asks for 200 lines may have got 20.

What commands print stands in one output, one after the other. Lines that an `echo` between them
prints part it; no command has printed more lines than there are between two of those.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from hansei.projection.files.model import Extent, Verb
from hansei.projection.files.seen import Seen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hansei.projection.commands.model import Command, Script

_SILENT = frozenset(
    (
        "", ":", "[", "[[", "alias", "cd", "declare", "export", "false", "local", "popd", "pushd",
        "readonly", "set", "shopt", "sleep", "source", ".", "test", "trap", "true", "umask",
        "unset", "wait", "mkdir", "chmod", "touch", "Set-Location", "Push-Location",
        "Pop-Location", "Start-Sleep", "Set-Variable", "Out-Null",
    )
)  # fmt: skip
"""Programs that print nothing, so that what another one shows stands alone."""
_SAY = frozenset(("echo", "printf", "Write-Output", "Write-Host"))
_HOW = ("-e", "-n", "-ne", "-en")
_TRIMMED = 3
"""Empty lines at either end of an output may be missing, because agents trim it."""


class Found(NamedTuple):
    """A file in a command of a call."""

    command: int
    seen: Seen


class _Part(NamedTuple):
    """A run of lines of an output, and the commands that printed it."""

    lines: int
    commands: tuple[int, ...]
    slack: int
    """How many lines more there may have been."""


def fitted(script: Script, found: Sequence[Found], text: str) -> list[Seen]:
    """The same files, none of them with lines that are not in the output."""
    if not any(_asked(it.seen) for it in found):
        return [it.seen for it in found]
    fits: dict[int, Seen] = {}
    for part in _parts(script, text):
        inside = {at: it.seen for at, it in enumerate(found) if it.command in part.commands}
        fits |= _fit(inside, part, _is_one(script, part))
    return [fits.get(at, it.seen) for at, it in enumerate(found)]


def _is_one(script: Script, part: _Part) -> bool:
    """Whether one program printed all of a part."""
    return sum(is_loud(script.commands[number]) for number in part.commands) == 1


def _fit(inside: Mapping[int, Seen], part: _Part, one: bool) -> dict[int, Seen]:
    looks = {at: seen for at, seen in inside.items() if seen.verb is Verb.READ}
    asked = {at: size for at, seen in looks.items() if (size := _asked(seen))}
    if one and len(looks) == 1:
        return {at: _exactly(looks[at], part) for at, size in asked.items() if size > part.lines}
    room = part.lines + part.slack
    short = {at for at, size in asked.items() if size > room}
    ended = {looks[at].place.key for at in short}
    # Other lines of a file that ended early, or some of many: nothing says which came.
    unsure = {at for at in asked if looks[at].place.key in ended} - short
    if not short and sum(asked.values()) > room:
        unsure = set(asked)
    fits = {at: looks[at]._replace(extent=Extent.PART, first=None, last=None) for at in unsure}
    return fits | {at: _to_the_end(looks[at]) for at in short}


def _asked(seen: Seen) -> int | None:
    """How many lines a read is to bring, if that is told by numbers."""
    if seen.extent is not Extent.LINES:
        return None
    first, last = seen.first or 1, seen.last
    if first < 0:
        return -first if last is None else None
    return last - first + 1 if last is not None and last >= first else None


def _exactly(seen: Seen, part: _Part) -> Seen:
    """A read whose lines can be counted: it asked for more, so it has reached the end."""
    if part.lines == 0:
        return seen._replace(extent=Extent.NOTHING)
    first = seen.first or 1
    if (_asked(seen) or 0) <= part.lines + part.slack:
        return seen
    if first <= 1:
        return seen._replace(extent=Extent.WHOLE, first=1, last=part.lines)
    return seen._replace(last=first + part.lines - 1)


def _to_the_end(seen: Seen) -> Seen:
    if (seen.first or 1) <= 1:
        return seen._replace(extent=Extent.WHOLE, first=None, last=None)
    return seen._replace(last=None)


# --- the output in parts ---


def _parts(script: Script, text: str) -> list[_Part]:
    """The output between the lines that the call itself has printed."""
    lines = text.removesuffix("\n").split("\n") if text.strip() else []
    marks = _marks(script, lines)
    ends = [*marks, (len(script.commands), len(lines))]
    parts, command, line = [], 0, 0
    for number, end in ends:
        slack = _TRIMMED if line == 0 or end == len(lines) else 0
        parts.append(_Part(end - line, tuple(range(command, number)), slack))
        command, line = number + 1, end + 1
    return parts


def _marks(script: Script, lines: Sequence[str]) -> list[tuple[int, int]]:
    """Commands that print a line of their own, with its place; none where they are out of order."""
    says: dict[str, list[int]] = defaultdict(list)
    for number, command in enumerate(script.commands):
        if command.program in _SAY and is_loud(command) and (words := _said(command)):
            says[words].append(number)
    if not says:
        return []
    places: dict[str, list[int]] = defaultdict(list)
    for at, line in enumerate(lines):
        if (words := line.strip()) in says:
            places[words].append(at)
    marks = sorted(
        pair
        for words, numbers in says.items()
        if len(numbers) == len(places[words])
        for pair in zip(numbers, places[words], strict=True)
    )
    in_order = all(one[1] < other[1] for one, other in pairwise(marks))
    return marks if in_order else []


def _said(command: Command) -> str:
    """What an `echo` prints; `---` is no option of it."""
    words = (word.text for word in command.arguments.words[1:])
    return " ".join(it for it in words if it not in _HOW).replace("\\n", "").strip()


def is_loud(command: Command) -> bool:
    """Whether what a command prints is in the output of the call."""
    return command.stage == 0 and not command.inside and command.program not in _SILENT
