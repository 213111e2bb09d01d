"""Whether one call is another try of what an earlier one failed at.

The same program and subcommand, or the same purpose on the same thing. Programs that can do
anything (`python`, `git`, `cat`) must also be about the same thing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from hansei.events.model import Tool
from hansei.projection.commands import programs
from hansei.projection.commands.model import Class, How
from hansei.projection.failures import lookup, summary

if TYPE_CHECKING:
    from collections.abc import Iterable

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
_BUILDS = re.compile(r"build|compile|dist|bundle|all")
_WORD = re.compile(r"[\w.@-]{2,}")
PATCHING = "apply_patch"
_PATCHED = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", re.MULTILINE)
_SHOWING = frozenset((Class.READ, Class.SEARCH))
_PATCH_LOOKED_AT = 20_000
"""Characters of a patch in which files are looked for."""
_COMPARED = 2000
"""Characters of a command that are compared."""
_EVERYWHERE = re.compile(
    r"(?:index|page|route|layout|main|__init__|mod|lib|readme|skill|package|settings|config|state|types"
    r"|utils|claude|agents|changelog|license|makefile|dockerfile)(?:\.\w+)*"
)
"""Names that many folders have a file of."""
ALIKE = 0.5
"""The share of words two commands have in common that makes one another try of the other."""


class Subject(NamedTuple):
    """What a call is about, as far as other calls are compared with it."""

    tool: Tool
    name: str
    command: Command | None
    text: str
    places: frozenset[str]
    """The last parts of paths it names."""
    misused: bool = False
    """Whether the program did not understand what it was told."""


def subject(call: Call, at: int | None) -> Subject:
    """What a call is about; `at` is the command of its script that counts."""
    command = None
    if call.script is not None and at is not None:
        command = call.script.commands[at]
    named: Iterable[str] = _paths(call)
    if command is not None and command.program != PATCHING:
        named = [read.path for read in command.reads] or command.targets
    return Subject(
        tool=call.event.tool,
        name=call.event.name,
        command=command,
        text=call.event.text[:_COMPARED],
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
    if failed.text and (failed.name, failed.text) == (later.name, later.text):
        return True
    if failed.command is None or later.command is None:
        return _same_file(failed, later)
    one, other = failed.command, later.command
    if _family(one) == _family(other) and one.subcommand == other.subcommand:
        if one.kind is Class.TEST:
            return _covers(one, other)
        if one.kind in _PURPOSES:
            return not _other_place(failed, later)
        if failed.places & later.places:
            return True
        if one.kind is Class.GIT and not (failed.places and later.places):
            return True
        if one.kind in _SHOWING or one.program == PATCHING:
            return False
        return _same_work(failed, later) and _alike(failed, later)
    if one.kind in _PURPOSES and _same_purpose(one, other) and _says_purpose(other):
        return _same_ecosystem(one, other) and not _other_place(failed, later)
    if one.kind in _SHOWING and other.kind in _SHOWING:
        return bool(failed.places & later.places)
    return _same_helper(one, other) and _alike(failed, later)


def _same_purpose(one: Command, other: Command) -> bool:
    return one.kind is other.kind or (one.kind in _CHECKS and other.kind in _CHECKS)


def _says_purpose(command: Command) -> bool:
    """Whether what a launcher was told says what for; every unknown target of make is a build."""
    if command.program not in _ANY or command.kind is not Class.BUILD:
        return True
    return command.subcommand is None or _BUILDS.search(command.subcommand) is not None


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


def _covers(failed: Command, later: Command) -> bool:
    """Whether a run of tests has those that failed in it: a part says nothing of the whole."""
    wanted, given = (
        [it.replace("\\", "/").rstrip("/") for it in command.targets if "/" in it or "." in it]
        for command in (failed, later)
    )
    if not given or all(it in ("", ".") for it in given):
        return True
    return bool(wanted) and all(
        any(part == whole or part.startswith((f"{whole}/", f"{whole}::")) for whole in given)
        or any(_tail(part) == _tail(whole) for whole in given)
        for part in wanted
    )


def _other_place(failed: Subject, later: Subject) -> bool:
    """Whether both name files and none of them is the same."""
    ours = {it for it in failed.places if "." in it}
    theirs = {it for it in later.places if "." in it}
    return bool(ours) and bool(theirs) and not ours & theirs


def _same_work(failed: Subject, later: Subject) -> bool:
    """Whether a program we know nothing about was told to do the same, as far as words tell.

    Where it did not understand what it was told, another word for it is the remedy.
    """
    assert failed.command is not None
    assert later.command is not None
    if failed.misused or failed.command.kind is not Class.OTHER:
        return True
    ours, theirs = failed.command.targets[:1], later.command.targets[:1]
    return ours == theirs or not (ours and theirs)


def _alike(failed: Subject, later: Subject) -> bool:
    ours, theirs = _words(failed.text), _words(later.text)
    union = ours | theirs
    return bool(union) and len(ours & theirs) >= ALIKE * len(union)


@lru_cache(maxsize=256)
def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text))


def _same_file(failed: Subject, later: Subject) -> bool:
    """Tools that are no shell: the same kind of tool on the same file, address or query."""
    if failed.tool in (Tool.EDIT, Tool.WRITE):
        return later.tool in (Tool.EDIT, Tool.WRITE) and bool(failed.places & later.places)
    if failed.tool is Tool.READ or failed.tool is Tool.SEARCH:
        if later.tool is failed.tool or _shows(later.command):
            return bool(failed.places & later.places)
        return False
    if later.tool is not failed.tool or later.name != failed.name:
        return False
    if failed.tool is Tool.WEB:
        return _same_page(failed.text, later.text)
    if failed.tool is Tool.SHELL:
        return _alike(failed, later)
    return True


def _shows(command: Command | None) -> bool:
    """Whether a command shows what is in files or folders, and does not only count it."""
    if command is None or command.kind not in _SHOWING:
        return False
    return not command.reads or any(read.how is not How.HIDDEN for read in command.reads)


def _same_page(failed: str, later: str) -> bool:
    """Whether two addresses lead to one page, or one of them to what lies above the other."""
    one, other = (text.split("?")[0].rstrip("/").lower() for text in (failed, later))
    if one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/"):
        return True
    same_host = one.split("/")[:3] == other.split("/")[:3]
    names = [set(re.findall(r"[a-z0-9]+", it.rsplit("/", 1)[-1])) for it in (one, other)]
    return same_host and len(names[0] & names[1]) > ALIKE * len(names[0] | names[1])


def _paths(call: Call) -> tuple[str, ...]:
    if call.edits:
        return tuple(edit.event.path for edit in call.edits)
    if "*** Begin Patch" in call.event.text:
        return tuple(_PATCHED.findall(call.event.text[:_PATCH_LOOKED_AT]))
    return (call.event.text,) if "\n" not in call.event.text else ()


def _tail(path: str) -> str:
    """The name of a file; with its folder where many have one of that name."""
    parts = path.replace("\\", "/").split("::", 1)[0].rstrip("/").lower().rsplit("/", 2)
    return "/".join(parts[-2:]) if _EVERYWHERE.fullmatch(parts[-1]) else parts[-1]
