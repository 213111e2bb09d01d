"""What a call with a hidden status says itself: its programs' own closing words decide.

Nothing is decided by the word "error". A program's words count only in what that program printed,
and that all is well only where the end of its output was shown.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from hansei.events.model import Basis, Status
from hansei.projection.commands import programs
from hansei.projection.commands.model import Class
from hansei.projection.commands.showing import only_shows
from hansei.projection.failures import lookup, negatives

if TYPE_CHECKING:
    from hansei.projection.commands.model import Command, Script

_LAYOUT = frozenset(
    ("cat", "tail", "tee", "nl", "less", "tr", "column", "fold", "fmt", "bat", "Out-String",
     "Out-Host", "Tee-Object")
)  # fmt: skip
"""Filters that keep the end of what they are given."""
_FIRST_LINES = 10
"""What `head` shows when it is not told how much."""
_ECHOES_STATUS = re.compile(r"\becho\b[^\n;|&]*\$(?:\?|\{\?\}|\{PIPESTATUS\[0\]\}|LASTEXITCODE)")
_LAST_NUMBER = re.compile(r"(?:^|[^\d.])(\d{1,3})\W*\Z")
_SILENT = frozenset(("cd", "pushd", "popd", "export", "set", "source", ".", "Set-Location"))
"""Programs that say nothing of their own."""
_SAYS = frozenset(("echo", "printf", "Write-Output", "Write-Host"))


_YES_OR_NO = re.compile(r"&&\s*echo\b[^|&;\n]*\|\|\s*echo\b[^|&;\n]*\Z")
_ENDS_STATEMENT = re.compile(r"[;\n]")
_NOTHING = frozenset((":", "echo", "exit", "printf", "true"))
"""What follows `||` where a failure is to be passed over."""
_WRONG = re.compile(
    r"\b(?:error|fatal|fail(?:ed|ure)?|traceback|panic|exception|unknown|unrecognized|invalid"
    r"|cannot|can't|could not|unable|no such|not found|denied|refused|not recognized|ERR!)",
    re.IGNORECASE,
)
"""Words in which programs of all kinds say that something is wrong."""


class Shown(Enum):
    """How much of a program's output reached the transcript."""

    END = auto()  # all of it, or at least its end
    START = auto()  # its first lines, as many as were asked for
    PART = auto()  # some of its lines, picked by a pattern


class Told(NamedTuple):
    """What the output says, and which command says it."""

    status: Status
    basis: Basis
    command: int | None
    no: bool = False
    """Whether the answer is only no."""


def told(script: Script, text: str, output: str, *, finished: bool = True) -> Told:
    """How a call whose status is hidden ended; `text` is the call's, `output` what it printed.

    A call that may still be running is decided only by what a runner sums up.
    """
    echoed = _echoed(script, text, output)
    if echoed is not None:
        return echoed
    telling = [
        index for index, command in enumerate(script.commands) if command.masked and tells(command)
    ]
    if len(telling) == 1 and (said := _answered(script, telling[0], text, output)):
        return said
    doing = [index for index in telling if not only_shows(script.commands[index])]
    if telling and not doing and finished:
        return _by_printing(script, telling, text, output)
    decided = {index: _decide(script, index, output) for index in doing}
    for index, status in decided.items():
        if status is Status.FAILED:
            return Told(Status.FAILED, Basis.RUNNER_SUMMARY, index)
    if decided and all(status is Status.OK for status in decided.values()):
        return Told(Status.OK, Basis.RUNNER_SUMMARY, script.main)
    return Told(Status.UNKNOWN, Basis.MASKED, script.main)


def tells(command: Command) -> bool:
    """Whether a command is one that a call may be about."""
    return (
        not command.inside
        and command.program not in programs.FILLERS
        and not (command.stage and command.program in programs.FILTERS)
    )


@lru_cache(maxsize=512)
def complaint(program: str) -> re.Pattern[str]:
    """Lines in which a program names itself before it says what is wrong."""
    name = re.escape(program)
    return re.compile(rf"^(?:\S*[/\\])?{name}(?:\.exe)? ?: (?!warning\b)(.+)$", re.MULTILINE)


@lru_cache(maxsize=512)
def _missing(program: str) -> re.Pattern[str]:
    """Lines in which a shell says that it does not know a program."""
    name = re.escape(program)
    return re.compile(
        rf"^[^\n]{{0,80}}: ({name}: (?:command )?not found|command not found: {name}) *$",
        re.MULTILINE,
    )


def _echoed(script: Script, text: str, output: str) -> Told | None:
    """The status that the call itself printed by `echo $?` as its last word."""
    if "$" not in text or not _ECHOES_STATUS.search(text) or len(script.commands) < 2:
        return None
    *_, before, last = (it for it in enumerate(script.commands) if not it[1].inside)
    if last[1].program not in _SAYS or (before[1].stage and "PIPESTATUS" not in text):
        return None
    number = _LAST_NUMBER.search(output.rstrip()[-60:])
    if number is None:
        return None
    status = Status.FAILED if int(number[1]) else Status.OK
    index = script.main if before[1].stage else before[0]
    return Told(status, Basis.EXIT_CODE, index)


def _answered(script: Script, index: int, text: str, output: str) -> Told | None:
    """What `asked && echo yes || echo no` says of what was asked."""
    later = script.commands[index + 1 :]
    if len(later) != 2 or not _YES_OR_NO.search(text):  # one word for yes and one for no
        return None
    yes, no = map(_says, later)
    last = output.rstrip().rpartition("\n")[2]
    if not yes or not no or yes == no or last not in (yes, no):
        return None
    command = script.commands[index]
    asks = only_shows(command) or negatives.answers_no(command, 1)
    status = Status.OK if last == yes or asks else Status.FAILED
    return Told(status, Basis.RUNNER_SUMMARY, index, no=last == no and asks)


def _decide(script: Script, index: int, output: str) -> Status:
    command = script.commands[index]
    known = lookup.runners(command)
    if any(runner.failed and runner.failed.search(output) for runner in known):
        return Status.FAILED
    shown = _shown(script, index, output)
    if shown is Shown.PART:
        known = (
            tuple(runner for runner in known if runner.whole) if not _asks(script, index) else known
        )
    for runner in known:
        if shown is not Shown.START and runner.passed and runner.passed.search(output):
            return Status.OK
        if runner.silent and shown is not Shown.PART and _said_nothing(script, output):
            return Status.OK
    return Status.UNKNOWN


def _shown(script: Script, index: int, output: str) -> Shown:
    for later in script.commands[index + 1 :]:
        if later.inside:
            continue
        if not later.stage:
            break
        if later.program == "head":
            if output.count("\n") + 1 >= _lines(later):
                return Shown.START
        elif later.program not in _LAYOUT:
            return Shown.PART
    return Shown.END


def _lines(head: Command) -> int:
    for option in head.arguments.options:
        number = option.value.text if option.value else option.name.lstrip("-")
        if number.isdigit():
            return int(number)
    return _FIRST_LINES


def _asks(script: Script, index: int) -> bool:
    """Whether the pattern that picks lines would also pick those that tell of failures."""
    rest = script.commands[index + 1 :]
    return any("fail" in word.text.lower() for it in rest for word in it.arguments.words)


def _said_nothing(script: Script, output: str) -> bool:
    """Whether there is no more output than the call's own remarks."""
    echoes = sum(command.program in _SAYS for command in script.commands)
    lines = len(output.strip().splitlines())
    alone = all(not tells(it) or it.masked is False for it in script.commands if it.stage)
    return alone and lines <= echoes and sum(map(tells, script.commands)) == 1


def _by_printing(script: Script, telling: list[int], text: str, output: str) -> Told:
    """Programs that only show something have done so when they printed that without complaint."""
    last, commands = telling[-1], [script.commands[index] for index in telling]
    unknown = Told(Status.UNKNOWN, Basis.MASKED, last)
    joined = len(telling) == 1 or not _ENDS_STATEMENT.search(text)
    instead = _instead(script) if "||" in text and joined else ""
    lines = output.strip().splitlines()
    wrong = {index: _complaints(script.commands[index], output) for index in telling}
    said = sum(map(len, wrong.values()))
    if instead and lines[-1:] == [instead]:
        no = len(telling) == 1 and said >= len(lines) - 1
        return Told(Status.OK, Basis.RUNNER_SUMMARY, last, no=True) if no else unknown
    if said:
        blamed = next(
            (it for it in reversed(telling) if _cannot(script.commands[it], wrong[it])), None
        )
        if blamed is None and said >= len(lines):
            blamed = next(it for it in reversed(telling) if wrong[it])
        if blamed is None or _rescued(script, blamed, text):
            return unknown
        return Told(Status.FAILED, Basis.RUNNER_SUMMARY, blamed)
    others = [it for at, it in enumerate(script.commands) if at not in telling and not it.inside]
    alone = len(telling) == 1 and all(it.stage or it.program in _SILENT for it in others)
    may_speak = not instead and not negatives.hides_complaints(text)
    heard = alone or bool(instead) or (may_speak and not _rescued(script, last, text))
    if not lines or not heard or any(_seems_wrong(command, lines) for command in commands):
        return unknown
    return Told(Status.OK, Basis.RUNNER_SUMMARY, last)


def _complaints(command: Command, output: str) -> list[str]:
    found = list(complaint(command.program).findall(output))
    found += _missing(command.program).findall(output)
    if command.program == "git" and output.lstrip().startswith("fatal: "):
        found.append(output.lstrip().partition("\n")[0])
    return found


def _cannot(command: Command, complaints: list[str]) -> bool:
    """Whether a program is not there, or says so of a file that it was told to show."""
    named = [target for target in command.targets if len(target) > 1]
    return any(
        target in said
        for said in complaints
        if "denied" not in said  # a folder inside the one that was asked for
        for target in (*named, "command not found")
    )


def _rescued(script: Script, index: int, text: str) -> bool:
    """Whether something else may have been run in a program's place."""
    later = script.commands[index + 1 :]
    return "||" in text and any(it.program not in _NOTHING and not it.stage for it in later)


def _seems_wrong(command: Command, lines: list[str]) -> bool:
    """Whether a program that nobody taught us may say that it could not show anything.

    Of those that read and search, the complaints are known.
    """
    if command.kind in (Class.READ, Class.SEARCH) or command.program == "git":
        return False
    return any(_WRONG.search(line) for line in (*lines[:3], *lines[-2:]))


def _instead(script: Script) -> str:
    """What a call says itself where the one thing it asks for is not there: `ls x || echo none`."""
    return _says(script.commands[-1])


def _says(command: Command) -> str:
    """What an `echo` prints, where that stands in the text."""
    words = command.arguments.words[1:]
    if command.program != "echo" or not all(word.literal for word in words):
        return ""
    return " ".join(word.text for word in words)
