"""Whether one call is another try of what an earlier one failed at.

The same work on the same thing: the same file, page, script or choice of tests. Where that cannot
be told, it is not: saying that nothing is known is better than naming the wrong success.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hansei.events.model import Tool
from hansei.projection.commands import programs
from hansei.projection.commands.model import Class, How, Writing
from hansei.projection.failures import lookup, places
from hansei.projection.failures.subject import (
    PATCHING,
    deletes,
    put,
    put_words,
    shows,
    words,
)

if TYPE_CHECKING:
    from hansei.projection.commands.model import Command
    from hansei.projection.failures.subject import Subject

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
_ASKING = frozenset(
    ("--version", "-V", "--help", "--collect-only", "--co", "--listTests", "--list-tests",
     "--showConfig", "--dry-run", "--fixtures")
)  # fmt: skip
"""Options with which a program does not do its work, but tells something of itself."""
_SELECTING = frozenset(
    ("-k", "-m", "-t", "--testNamePattern", "-run", "--tests", "--filter", "-g", "--grep",
     "--testPathPattern", "--test", "--lf", "--last-failed", "--only", "--project")
)  # fmt: skip
"""Options that choose some of the tests."""
_LEAVING_OUT = frozenset(
    ("--ignore", "--deselect", "--exclude", "-skip", "--skip", "--ignore-glob")
)
_RUNS_FILES = frozenset(
    ("python", "node", "tsx", "ts-node", "deno", "bun", "ruby", "perl", "php", "bash", "sh", "zsh",
     "npx", "pwsh", "powershell")
)  # fmt: skip
_OF_FILES = frozenset(("add", "rm", "mv", "restore"))
"""Subcommands of git that are about the files they are given."""
_PATTERNED = frozenset(("grep", "rg", "ag", "ack", "find", "fd", "findstr", "Select-String", "awk"))
"""Programs that look for something, so that the same folder is not yet the same question."""
_KINDRED = {Tool.EDIT: "edit", Tool.WRITE: "edit", Tool.READ: "read", Tool.SEARCH: "read"}
"""Tools that do the work of each other."""
ALIKE = 0.5
"""The share of words two commands have in common that makes one another try of the other."""
_TELLING = 4
"""Letters of a word that a complaint does not hold by chance."""
_MANY_LETTERS = 12
"""Letters that two names do not have in common by chance."""
_NEAR = 24
"""Events, about six calls, within which another edit of a file is another try, where none follows
that brings the same."""
_FEW_LINES = 4
"""Lines of a new text below which its words are compared."""
_WANTED = 0.4
_WANTED_OF_ALL = 0.15
"""The share of a new text that another edit has: of the shorter one, and of the first."""


_LISTERS = frozenset(("ls", "dir", "find", "fd", "tree", "stat", "file"))
"""Programs that name files and do not show what is in them."""


def can_try_again(failed: Subject, tool: Tool) -> bool:
    """Whether a call of such a tool may be another try at all: what spares most comparisons."""
    if tool is failed.tool:
        return True
    if failed.command is None:
        return tool is Tool.SHELL or _KINDRED.get(failed.tool) is _KINDRED.get(tool, tool)
    if tool in (Tool.EDIT, Tool.WRITE):
        return failed.command.program == PATCHING
    return tool in (Tool.READ, Tool.SEARCH) and shows(failed.command)


def tries_again(failed: Subject, later: Subject) -> bool:
    """Whether a later call is another try of one that failed."""
    one, other = failed.command, later.command
    if one is None or other is None:
        if one is None and other is None and _is_same_call(failed, later):
            return True
        return _by_another_tool(failed, later)
    if _asks(one) != _asks(other):
        return False
    if failed.text and failed.text == later.text and failed.at == later.at:
        return True
    if PATCHING in (one.program, other.program):
        return one.program == other.program and _puts_the_same(failed, later)
    if _family(one) == _family(other):
        return _same_program(failed, later, one, other)
    return _other_program(failed, later, one, other)


def same_aim(failed: Subject, later: Subject) -> bool:
    """Whether two calls that failed, maybe for other reasons, are tries of exactly the same."""
    one, other = failed.command, later.command
    if one is None or other is None:
        return _is_same_call(failed, later)
    if failed.misused != later.misused:
        return False
    if one.kind in (Class.TEST, Class.BUILD, Class.LINT):
        both = tries_again(failed, later) and tries_again(later, failed)
        return both and _family(one) == _family(other)
    same = (one.program, one.subcommand) == (other.program, other.subcommand)
    return same and words(failed) == words(later)


def _is_same_call(failed: Subject, later: Subject) -> bool:
    one, other = failed.call.event, later.call.event
    return (one.name, one.text, one.arguments) == (other.name, other.text, other.arguments)


def _asks(command: Command) -> bool:
    """Whether a program was only asked about itself."""
    if command.subcommand in ("help", "version"):
        return True
    if "--check" in command.flags and command.kind is Class.RUN:
        return True
    if "-h" in command.flags and not shows(command) and len(command.flags) == 1:
        return True
    return any(flag in _ASKING for flag in command.flags)


# --- commands ---------------------------------------------------------------------------------


def _same_program(failed: Subject, later: Subject, one: Command, other: Command) -> bool:
    if one.program in ("cd", "pushd", "Set-Location"):
        return _same_letters(failed, later)
    if one.kind in _PURPOSES:
        same = one.subcommand == other.subcommand or _same_purpose(one, other)
        return same and _same_run(failed, later, one, other)
    if shows(one):
        return shows(other) and _same_showing(failed, later, one)
    if one.kind is Class.GIT:
        if one.subcommand != other.subcommand:
            return False
        if one.subcommand in _OF_FILES and failed.files and not later.files:
            return False
        return _same_place(failed, later) or _same_letters(failed, later)
    if one.kind is Class.RUN or _script(one):
        return _same_script(failed, later, one, other)
    return _same_work(failed, later, one, other)


def _other_program(failed: Subject, later: Subject, one: Command, other: Command) -> bool:
    if one.kind in _PURPOSES and _same_purpose(one, other) and _says_purpose(other):
        return _same_ecosystem(one, other) and _same_run(failed, later, one, other)
    if shows(one) and _displays(other):
        return not _only_lists(failed, later) and _same_files(failed, later)
    if one.kind is Class.RUN and other.kind is Class.RUN:
        return _same_script(failed, later, one, other)
    return False


def _same_run(failed: Subject, later: Subject, one: Command, other: Command) -> bool:
    """A run of the project's tests, build or checks, of at least what failed."""
    if _elsewhere(failed, later):
        return False
    if one.kind is Class.TEST:
        return _covers(one, other)
    if one.kind is Class.INSTALL:
        return _same_packages(failed, later, one, other)
    ours, theirs = (
        {it for it in about.files if "." in it.rsplit("/", 1)[-1]} for about in (failed, later)
    )
    return not (ours and theirs) or bool(ours & theirs) or failed.missing


def _same_packages(failed: Subject, later: Subject, one: Command, other: Command) -> bool:
    ours, theirs = (
        {re.sub(r"(?<=.)[@=<>~!\[].*", "", it).lower() for it in command.targets}
        for command in (one, other)
    )
    if ours and theirs:
        return bool(ours & theirs) or (failed.missing and _alike(failed, later))
    return not ours and not theirs


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


def _family(command: Command) -> str:
    program = programs.SAME.get(command.program, command.program)
    return "python" if program in ("python3", "py") else program


def _covers(failed: Command, later: Command) -> bool:
    """Whether a run of tests has those that failed in it: a part says nothing of the whole."""
    if _selection(later) - _selection(failed):
        return False
    wanted, given = (
        [it.replace("\\", "/").rstrip("/") for it in command.targets if "/" in it or "." in it]
        for command in (failed, later)
    )
    left_out = [
        option.value.text.replace("\\", "/").rstrip("/")
        for option in later.arguments.options
        if option.name in _LEAVING_OUT and option.value is not None
    ]
    if any(_is_within(part, whole) for whole in left_out for part in wanted):
        return False
    if not given or all(it in ("", ".") for it in given):
        return True
    return bool(wanted) and all(
        any(_is_within(part, whole) or _last(part) == _last(whole) for whole in given)
        for part in wanted
    )


def _selection(command: Command) -> set[tuple[str, str]]:
    return {
        (option.name, option.value.text if option.value else "")
        for option in command.arguments.options
        if option.name in _SELECTING
    }


def _is_within(part: str, whole: str) -> bool:
    return part == whole or part.startswith((f"{whole}/", f"{whole}::"))


def _last(path: str) -> str:
    return path.lower().rsplit("/", 1)[-1]


def _elsewhere(failed: Subject, later: Subject) -> bool:
    """Whether it ran in another folder, where that cannot be what was wrong."""
    if failed.not_here or failed.folder is None or later.folder is None:
        return False
    return failed.folder != later.folder


def _same_place(failed: Subject, later: Subject) -> bool:
    if _elsewhere(failed, later):
        return False
    if failed.files and not later.files:
        return _alike(failed, later)
    return not failed.files or _same_files(failed, later)


def _same_files(failed: Subject, later: Subject) -> bool:
    if failed.files & later.files:
        return True
    return failed.missing and any(
        places.found_elsewhere(one, other, failed.call.event.cwd)
        for one in failed.files
        for other in later.files
    )


def _same_showing(failed: Subject, later: Subject, one: Command) -> bool:
    """Readers and searches: the same file; for a search also about the same question."""
    if one.stage and not failed.files:
        return _alike(failed, later) or _same_source(failed, later)
    if _family(one) in _PATTERNED and not failed.missing:
        near = _same_files(failed, later) or (not failed.files and not later.files)
        return near and _alike(failed, later)
    if _family(one) in _PATTERNED and _alike(failed, later):
        return True
    return _same_files(failed, later)


def _only_lists(failed: Subject, later: Subject) -> bool:
    """Whether a file that could not be read was merely named by what followed."""
    if later.command is None or later.command.program not in _LISTERS:
        return False
    return failed.command is None or failed.command.program not in _LISTERS


def _same_source(failed: Subject, later: Subject) -> bool:
    """Whether two filters were given the output of the same command."""
    return _source(failed) is not None and _source(failed) == _source(later)


def _source(about: Subject) -> tuple[str, ...] | None:
    assert about.at is not None
    assert about.call.script is not None
    for command in reversed(about.call.script.commands[: about.at]):
        if not command.inside and not command.stage:
            return tuple(word.text for word in command.arguments.words)
    return None


def _displays(command: Command) -> bool:
    """Whether a command shows what is in files or folders, and does not only count it."""
    if not shows(command):
        return False
    return not command.reads or any(read.how is not How.HIDDEN for read in command.reads)


def _script(command: Command) -> str:
    """The file that a program runs; empty where there is none."""
    if "." in command.program and command.program.rsplit(".", 1)[-1].isalpha():
        return command.program.lower()
    if command.program in _RUNS_FILES and command.targets:
        name = _last(command.targets[0].replace("\\", "/"))
        return name if "." in name and " " not in name and "\n" not in name else ""
    return ""


def _same_script(failed: Subject, later: Subject, one: Command, other: Command) -> bool:
    ours, theirs = _script(one), _script(other)
    if ours != theirs or _drops(failed, one, other):
        return False
    if not ours:
        named = places.named_in(failed.text, None)
        again = bool(named) and named <= places.named_in(later.text, None)
        return again or _alike(failed, later)
    rest = [command.targets[1:2] if _last(command.targets[0] if command.targets else "") == ours
            else command.targets[:1] for command in (one, other)]  # fmt: skip
    return rest[0] == rest[1] or failed.misused or _alike(failed, later)


def _drops(failed: Subject, one: Command, other: Command) -> bool:
    """Whether what was not there is simply no longer asked for."""
    if not failed.missing or len(other.targets) >= len(one.targets):
        return False
    left = [it for it in one.targets if it not in other.targets]
    return any(len(it) >= _TELLING and it in failed.line for it in left)


def _same_work(failed: Subject, later: Subject, one: Command, other: Command) -> bool:
    """Whether a program we know nothing about was told to do the same, as far as words tell.

    Where it did not understand what it was told, another word for it is the remedy; options of the
    program itself may come before what it is to do.
    """
    if one.stage and not _same_source(failed, later):
        return False
    if failed.misused:
        other_word = "command" in failed.line or one.subcommand == other.subcommand
        return other_word and _alike(failed, later)
    if _drops(failed, one, other):
        return False
    plain = {part for part in (*(one.subcommand or "").split(), *one.targets) if part}
    if plain and plain <= {word.text for word in other.arguments.words}:
        return True
    if one.subcommand != other.subcommand or not _alike(failed, later):
        return False
    ours, theirs = ({it for it in command.targets if " " not in it} for command in (one, other))
    if ours <= theirs or theirs <= ours:
        return bool(ours & theirs) or not (ours and theirs)
    if any("://" in it for it in ours):
        return any(_same_page(it, page) for it in ours if "://" in it for page in theirs)
    if failed.missing and all(it in failed.line and it.isalpha() for it in ours - theirs):
        return True  # another name, where there is nothing of the one that was given
    return failed.missing and _same_files(failed, later)


def _alike(failed: Subject, later: Subject) -> bool:
    ours, theirs = words(failed), words(later)
    union = ours | theirs
    return bool(union) and len(ours & theirs) >= ALIKE * len(union)


def _same_letters(failed: Subject, later: Subject) -> bool:
    """Folders whose names are the same but for what a shell took away of them."""
    assert failed.command is not None
    assert later.command is not None
    ours, theirs = (
        re.sub(r"\W", "", "".join(command.targets)).lower()
        for command in (failed.command, later.command)
    )
    if len(theirs) >= _MANY_LETTERS and ours.endswith(theirs):
        return True
    return bool(ours) and ours == theirs


# --- tools that are no shell ------------------------------------------------------------------


def _by_another_tool(failed: Subject, later: Subject) -> bool:
    """At least one of the two is no command: the same kind of work on the same file or page."""
    if failed.tool in (Tool.EDIT, Tool.WRITE) or _patches(failed):
        return _puts_the_same(failed, later)
    if failed.text and failed.text == later.text and later.command is not None:
        return True
    if failed.command is not None and shows(failed.command) and later.tool is Tool.SEARCH:
        return _asked(later.call.event.arguments.get("pattern"), failed.text)
    if failed.tool is Tool.READ or (failed.command is not None and shows(failed.command)):
        return _reads(later) and not _only_lists(failed, later) and _same_files(failed, later)
    if failed.tool is Tool.SEARCH:
        return _same_search(failed, later)
    if failed.tool is Tool.WEB and "://" in failed.text:
        return _opens(failed.text, later)
    if later.tool is not failed.tool or later.call.event.name != failed.call.event.name:
        return False
    return failed.tool is Tool.PLAN or not failed.call.event.arguments or _alike(failed, later)


def _patches(about: Subject) -> bool:
    return about.command is not None and about.command.program == PATCHING


def _reads(later: Subject) -> bool:
    if later.command is not None:
        return _displays(later.command)
    return later.tool in (Tool.READ, Tool.SEARCH)


def may_try_again(failed: Subject, later: Subject) -> bool:
    """Whether a later edit of the same file may be another try, though it brings something else."""
    edits = failed.tool in (Tool.EDIT, Tool.WRITE) or _patches(failed)
    soon = later.call.seq - failed.call.seq <= _NEAR
    return edits and soon and _edits_the_same(failed, later)


def _edits_the_same(failed: Subject, later: Subject) -> bool:
    if later.command is not None and later.command.program != PATCHING:
        written = {it.path for it in later.command.writes if it.how is not Writing.DELETE}
        if not written:
            return False
    elif later.command is None and later.tool not in (Tool.EDIT, Tool.WRITE):
        return False
    return bool(failed.files & (later.files - deletes(later)))


def _puts_the_same(failed: Subject, later: Subject) -> bool:
    """Whether a later edit brings into the same file what an earlier one was to bring."""
    if not _edits_the_same(failed, later):
        return False
    ours, theirs = put(failed), put(later)
    if min(len(ours), len(theirs)) < _FEW_LINES:
        ours, theirs = put_words(failed), put_words(later)
    if not ours or not theirs:
        return True
    common = len(ours & theirs)
    return common >= _WANTED * min(len(ours), len(theirs)) and common >= _WANTED_OF_ALL * len(ours)


def _same_search(failed: Subject, later: Subject) -> bool:
    pattern = failed.call.event.arguments.get("pattern")
    if later.command is not None:
        return _asked(pattern, later.text) and _displays(later.command)
    if later.tool is not Tool.SEARCH:
        return False
    return later.call.event.arguments.get("pattern") == pattern or _alike(failed, later)


def _asked(pattern: object, text: str) -> bool:
    """Whether a command looks for what a tool was to look for."""
    part = pattern.rsplit("/", 1)[-1] if isinstance(pattern, str) else ""
    return bool(part.strip("*.")) and part in text


def _opens(page: str, later: Subject) -> bool:
    if later.command is not None:
        return any(_same_page(page, it) for it in later.command.targets if "://" in it)
    return later.tool is Tool.WEB and _same_page(page, later.text)


def _same_page(failed: str, later: str) -> bool:
    """Whether two addresses lead to one page, or to pages of one name on one host."""
    one, other = (_page(text) for text in (failed, later))
    if one == other:
        return True
    short, long = sorted((one[-1], other[-1]), key=len)
    if one[0] != other[0] or len(short) <= len("index") or places.is_everywhere(short):
        return False
    return long.startswith(short)


def _page(address: str) -> list[str]:
    plain = re.split(r"[?#]", address.lower().partition("://")[2])[0]
    parts = plain.removeprefix("www.").rstrip("/").removesuffix(".md").split("/")
    parts[0] = parts[0].replace("raw.githubusercontent.com", "github.com")
    return [it for it in parts if it not in ("blob", "raw", "tree")]
