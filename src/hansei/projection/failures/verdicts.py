"""How every call of a session ended, and what that means.

The recorded status is where it starts; what the shell hides, the program's own words decide. What
an agent program, a person or a question answered with no has to do with is told apart.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from hansei.events.model import Basis, Status
from hansei.projection.calls import Shell
from hansei.projection.commands import programs
from hansei.projection.commands.model import Class
from hansei.projection.failures import harness, lookup, negatives, sandbox, summary
from hansei.projection.failures.model import Kind, Verdict
from hansei.projection.failures.outputs import looked_at
from hansei.projection.failures.polls import followed
from hansei.projection.failures.subject import PATCHING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hansei.events.model import ToolResult
    from hansei.projection.calls import Call
    from hansei.projection.commands.model import Command, Script

_STOPPED_CODES: Final = frozenset((130, -2))
"""What a shell ends with after Ctrl-C."""
_UNKNOWN_COMMAND = re.compile(
    r"^(?:[^\n:]+: )*?(?:line \d+: )?(?:command not found: (\S+)|(\S+): command not found) *$"
    r"|^'?([\w.-]+)'? is not recognized as an internal|^([\w./-]+) not found$",
    re.MULTILINE,
)
_NO_FOLDER = re.compile(r"^(?:[^\n]*: ?)?cd:(?:\d+:)? ", re.MULTILINE)
_SAYS_WRONG = re.compile(
    r"^(?:fatal|error|Error|ERROR|ssh|npm ERR!|npm error)\b.{0,40}?[: ]"
    r"|^(?:zsh|bash|\(eval\)|/\S+sh)(?::\d+)?: |^[A-Z][a-z]+[A-Z]\w+: ?$",
    re.MULTILINE,
)
_OF_ADDING = re.compile(r"pathspec '|paths are ignored by one of|outside repository")
_TELLING: Final = 3
"""Letters of a word that says which command is spoken of."""
_COMPLAINS = re.compile(r"(?:error|fatal|failed)\b|\S+: error")
_SILENCED = re.compile(r"(?:> ?/dev/null 2>&1|&> ?/dev/null)\s*(?:;?\s*done\s*)?&&")
_GIT_SAYS = re.compile(r"^(?:fatal|error): ", re.MULTILINE)


def verdicts(calls: Sequence[Call]) -> list[Verdict]:
    """The verdict of every call, in the order of the calls."""
    told = followed(calls)
    return sandbox.refused(told, [verdict(call) for call in told])


def verdict(call: Call) -> Verdict:
    """How one call ended."""
    result = call.result
    main = None if call.script is None else call.script.main
    if result is None:
        return Verdict(call.seq, Status.UNKNOWN, Basis.NONE, None, main)
    if result.basis is Basis.DECLINED:
        kind = Kind.HARNESS if harness.refuses_itself(result.text) else Kind.DECLINED
        return Verdict(call.seq, result.status, result.basis, kind, main)
    if result.basis is Basis.INTERRUPTED:
        return Verdict(call.seq, result.status, result.basis, Kind.INTERRUPTED, main)
    if result.status is Status.FAILED:
        return _failed(call, result, main)
    if call.script is None:
        return Verdict(call.seq, result.status, result.basis, None, None)
    if call.reports is not None:
        # What it rests on is a command of another call.
        return _not_failed(call.seq, call.reports, result)._replace(command=None)
    return _not_failed(call.seq, Shell(call.event.text, call.script), result)


def _not_failed(seq: int, shell: Shell, result: ToolResult) -> Verdict:
    """A shell call without a mark of failure: fine only where that says something."""
    script = shell.script
    if result.status is Status.OK or result.basis is Basis.MASKED:
        if not script.masked:
            basis = Basis.FLAG if result.exit_code is None else Basis.EXIT_CODE
            return Verdict(seq, Status.OK, basis, None, script.main)
    elif not script.commands:
        return Verdict(seq, result.status, result.basis, None, None)
    finished = result.status is Status.OK or result.basis is Basis.MASKED
    told = summary.told(script, shell.text, looked_at(result.text), finished=finished)
    basis = (
        result.basis if told.status is Status.UNKNOWN and result.basis is Basis.NONE else told.basis
    )
    kind = Kind.FAILURE if told.status is Status.FAILED else None
    command = None if told.command is None else script.commands[told.command]
    says_no = basis is Basis.EXIT_CODE and command is not None and negatives.answers_no(command, 1)
    if told.no or (kind and says_no):
        return Verdict(seq, Status.OK, basis, Kind.NEGATIVE, told.command)
    return Verdict(seq, told.status, basis, kind, told.command)


def _failed(call: Call, result: ToolResult, main: int | None) -> Verdict:
    output = looked_at(result.text)
    kind = harness.said(output)
    if kind is None and call.script is not None:
        if result.exit_code in _STOPPED_CODES or output.endswith("^C"):
            kind = Kind.INTERRUPTED
        elif _is_patch(call.script):
            kind = Kind.HARNESS
    if kind is Kind.HARNESS and call.script is not None and _had_failed(call.script, output):
        kind = None
    if kind in (Kind.DECLINED, Kind.INTERRUPTED):
        return Verdict(call.seq, Status.UNKNOWN, Basis(kind.value), kind, main)
    if kind is not None or call.script is None or not call.script.commands:
        return Verdict(call.seq, Status.FAILED, result.basis, kind or Kind.FAILURE, main)
    at, says_no = blame(call.script, call.event.text, output, result.exit_code)
    status, kind = (Status.OK, Kind.NEGATIVE) if says_no else (Status.FAILED, Kind.FAILURE)
    return Verdict(call.seq, status, result.basis, kind, at)


def _had_failed(script: Script, output: str) -> bool:
    """Whether a command that was cut off by a time limit had already said that it failed."""
    rest = harness.after_time_limit(output)
    if not rest or script.main is None:
        return False
    known = lookup.runners(script.commands[script.main])
    return any(it.failed and it.failed.search(rest) for it in known)


def _is_patch(script: Script) -> bool:
    return script.main is not None and script.commands[script.main].program == PATCHING


def blame(script: Script, text: str, output: str, code: int | None) -> tuple[int | None, bool]:
    """Which command made a call fail, and whether it only said no."""
    commands = script.commands
    answering = [
        index for index, command in enumerate(commands) if not command.masked and not command.inside
    ]
    unknown = _unknown_command(commands, output)
    if unknown is not None:
        probe = commands[unknown].program in ("which", "where", "type", "command", "hash")
        return unknown, probe
    hidden = [
        it for it in range(len(commands)) if it not in answering and summary.tells(commands[it])
    ]
    speaking = next(_speaking(commands, [*hidden, *answering], output), None)
    deciding = script.decides if script.decides is not None else script.main
    asked = answering if answering or output.strip() else range(len(commands))
    for index in [it for it in (deciding, *asked) if it is not None]:
        command = commands[index]
        if not negatives.answers_no(command, code):
            continue
        if not output.strip() or (speaking is None and not _says_wrong(script, index, output)):
            return index, True
    if speaking is not None:
        speaking = _of_several(commands, answering, speaking, output)
        return speaking, negatives.nothing_to_do(commands[speaking], output)
    filtering = deciding is not None and commands[deciding].program in programs.FILTERS
    main = script.main if script.main in answering or filtering or not answering else deciding
    if main is None:
        return None, False
    if not output.strip():
        if negatives.only_asks(commands[main], text):
            return main, True
        if main and not commands[main - 1].inside and _SILENCED.search(text):
            return main - 1, False
    main = _of_several(commands, answering, main, output)
    return main, negatives.nothing_to_do(commands[main], output)


def _of_several(
    commands: tuple[Command, ...], answering: list[int], chosen: int, output: str
) -> int:
    """Which of several runs of one program failed: the one that its complaint speaks of.

    Where none is spoken of and nothing was printed before, it is the first.
    """
    program = commands[chosen].program
    runs = [it for it in answering if commands[it].program == program and not commands[it].stage]
    if runs == [chosen] or commands[chosen].kind is not Class.OTHER or chosen not in runs:
        return chosen
    lines = [line.lower() for line in output.strip().splitlines()]
    wrong = next((it for it, line in enumerate(lines) if _COMPLAINS.match(line)), None)
    if wrong is None:
        return chosen
    spoken = {
        it: sum(word.lower() in lines[wrong] for word in _said_to(commands[it])) for it in runs
    }
    best = max(spoken.values())
    if best:
        return next(it for it in runs if spoken[it] == best)
    return runs[0] if wrong == 0 else chosen


def _said_to(command: Command) -> list[str]:
    words = (*(command.subcommand or "").split(), *command.targets)
    return [word for word in words if len(word) >= _TELLING]


def _says_wrong(script: Script, asking: int, output: str) -> bool:
    """Whether something beside the command that asks complains.

    What programs show of files is no complaint, whatever it says.
    """
    others = (it for index, it in enumerate(script.commands) if index != asking and not it.stage)
    shown = any(it.kind in (Class.READ, Class.SEARCH) for it in others)
    return not shown and _SAYS_WRONG.search(output) is not None


def _unknown_command(commands: tuple[Command, ...], output: str) -> int | None:
    """The command that the shell did not know, or could not go to the folder of."""
    found = _UNKNOWN_COMMAND.search(output) if "not " in output else None
    if found is not None:
        name = next(group for group in found.groups() if group)
        for index, command in enumerate(commands):
            spelled = command.arguments.words[0].text if command.arguments.words else ""
            if name in (command.program, spelled):
                return index
            if command.program in ("which", "where", "type") and name in command.targets:
                return index
    if _NO_FOLDER.search(output[:500]):
        for index, command in enumerate(commands):
            if command.program in ("cd", "pushd"):
                return index
    return None


def _speaking(commands: tuple[Command, ...], answering: list[int], output: str) -> Iterator[int]:
    """Commands whose own words of failure stand in the output, the last one first."""
    if _OF_ADDING.search(output):
        for index in answering:
            if (commands[index].program, commands[index].subcommand) == ("git", "add"):
                yield index
    for index in reversed(answering):
        command = commands[index]
        if command.program not in programs.FILLERS and _speaks(command, output):
            yield index


def _speaks(command: Command, output: str) -> bool:
    """Whether an output holds a command's own words of failure."""
    if command.program == "git" and _GIT_SAYS.search(output):
        return True
    known = lookup.runners(command)
    return any(it.failed and it.failed.search(output) for it in known) or bool(
        summary.complaint(command.program).search(output)
    )
