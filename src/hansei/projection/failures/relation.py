"""Whether one call is another try of what an earlier one failed at.

The same program and subcommand, or the same purpose on the same thing. Programs that can do
anything (`python`, `git`, `cat`) must also be about the same thing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from hansei.events.model import Tool
from hansei.projection.commands import programs
from hansei.projection.commands.model import Class
from hansei.projection.failures import lookup, summary

if TYPE_CHECKING:
    from hansei.projection.calls import Call
    from hansei.projection.commands.model import Command

_PURPOSES = frozenset((Class.TEST, Class.BUILD, Class.LINT, Class.FORMAT, Class.INSTALL))
"""What a project has one thing for: a run of it is another try of the last one."""
_CHECKS = frozenset((Class.BUILD, Class.LINT))
"""Purposes that one tool serves under several names: `tsc` builds, `tsc --noEmit` checks."""
_ECOSYSTEMS = {
    program: name
    for name, listed in {
        "javascript": "npm npx pnpm yarn bun node jest vitest mocha hardhat tsc vue-tsc eslint next"
        " vite playwright prettier biome tsx ts-node turbo nx webpack cypress deno lerna ng",
        "python": "python pip uv poetry pytest unittest mypy pyright ruff flake8 pylint black isort"
        " tox nox py_compile compileall hatch pipenv pdm coverage",
        "rust": "cargo rustc rustup",
        "go": "go gofmt golangci-lint gotestsum staticcheck",
        "jvm": "gradle gradlew mvn mvnw javac java",
        "dotnet": "dotnet msbuild",
        "ruby": "rspec rake bundle gem rails rubocop",
        "php": "php phpunit composer pest phpstan",
    }.items()
    for program in listed.split()
}
_ANY = frozenset(("make", "gmake", "just", "task", "bash", "sh", "pre-commit", "docker"))
"""Programs that serve every language."""
_WORD = re.compile(r"[\w.@-]{2,}")
ALIKE = 0.5
"""The share of words two commands have in common that makes one another try of the other."""


class Subject(NamedTuple):
    """What a call is about, as far as other calls are compared with it."""

    tool: Tool
    name: str
    command: Command | None
    words: frozenset[str]
    places: frozenset[str]
    """The last parts of paths it names."""


def subject(call: Call, at: int | None) -> Subject:
    """What a call is about; `at` is the command of its script that counts."""
    command = None
    if call.script is not None and at is not None:
        command = call.script.commands[at]
    named = command.targets if command else _paths(call)
    return Subject(
        tool=call.event.tool,
        name=call.event.name,
        command=command,
        words=frozenset(_WORD.findall(call.event.text[:2000])),
        places=frozenset(_tail(path) for path in named if path),
    )


def subjects(call: Call) -> list[Subject]:
    """Everything a call that went well is about."""
    if call.script is None:
        return [subject(call, None)]
    return [
        subject(call, index)
        for index, command in enumerate(call.script.commands)
        if summary.tells(command) or command.program == "cd"
    ]


def tries_again(failed: Subject, later: Subject) -> bool:
    """Whether a later call is another try of one that failed."""
    if failed.command is None or later.command is None:
        return _same_file(failed, later)
    one, other = failed.command, later.command
    if _family(one) == _family(other) and one.subcommand == other.subcommand:
        if one.kind in _PURPOSES:
            return not _other_place(failed, later)
        if one.program == "git" and one.kind is Class.GIT:
            return True
        return bool(failed.places & later.places) or _alike(failed, later)
    if one.kind in _PURPOSES and _same_purpose(one, other):
        return _same_ecosystem(one, other) and not _other_place(failed, later)
    if one.kind in (Class.READ, Class.SEARCH) and other.kind in (Class.READ, Class.SEARCH):
        return bool(failed.places & later.places)
    return _same_helper(one, other) and _alike(failed, later)


def _same_purpose(one: Command, other: Command) -> bool:
    return one.kind is other.kind or (one.kind in _CHECKS and other.kind in _CHECKS)


def _same_ecosystem(one: Command, other: Command) -> bool:
    names = {_ECOSYSTEMS.get(_family(it)) for it in (one, other)}
    either = any(it.program in _ANY or lookup.is_launcher(it) for it in (one, other))
    return len(names) == 1 and None not in names if not either else len(names - {None}) <= 1


def _same_helper(one: Command, other: Command) -> bool:
    """Whether both run files of the project, maybe by another program."""
    return one.kind is Class.RUN and other.kind is Class.RUN


def _family(command: Command) -> str:
    program = programs.SAME.get(command.program, command.program)
    return "python" if program in ("python3", "py") else program


def _other_place(failed: Subject, later: Subject) -> bool:
    """Whether both name files and none of them is the same."""
    ours = {it for it in failed.places if "." in it}
    theirs = {it for it in later.places if "." in it}
    return bool(ours) and bool(theirs) and not ours & theirs


def _alike(failed: Subject, later: Subject) -> bool:
    union = failed.words | later.words
    return bool(union) and len(failed.words & later.words) >= ALIKE * len(union)


def _same_file(failed: Subject, later: Subject) -> bool:
    """Tools that are no shell: the same kind of tool on the same file, address or query."""
    if failed.tool in (Tool.EDIT, Tool.WRITE):
        return later.tool in (Tool.EDIT, Tool.WRITE) and bool(failed.places & later.places)
    if failed.tool is Tool.READ or failed.tool is Tool.SEARCH:
        shows = later.command is not None and later.command.kind in (Class.READ, Class.SEARCH)
        if later.tool is failed.tool or shows:
            return bool(failed.places & later.places)
        return False
    if later.tool is not failed.tool or later.name != failed.name:
        return False
    if failed.tool in (Tool.WEB, Tool.SHELL):
        return _alike(failed, later) or bool(failed.places & later.places)
    return True


def _paths(call: Call) -> tuple[str, ...]:
    if call.edits:
        return tuple(edit.event.path for edit in call.edits)
    return (call.event.text,) if "\n" not in call.event.text else ()


def _tail(path: str) -> str:
    """The name of a file with its folder, or its name alone where that is unlike others."""
    return path.replace("\\", "/").split("::", 1)[0].rstrip("/").rsplit("/", 1)[-1].lower()
