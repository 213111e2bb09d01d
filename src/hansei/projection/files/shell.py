"""What shell commands show of files and do to them, and what else they may have changed."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import TYPE_CHECKING

from hansei.events.model import Status
from hansei.projection.commands.model import Class, How, Writing
from hansei.projection.commands.paths import spelled, tidy
from hansei.projection.commands.programs import FILLERS
from hansei.projection.files.fitting import Found, fitted, is_loud
from hansei.projection.files.memory import is_cut
from hansei.projection.files.model import LOOKS, Extent, Verb
from hansei.projection.files.seen import Places, Seen, as_folder, is_one_file
from hansei.projection.files.tools import EDGE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hansei.events.model import ToolResult
    from hansei.projection.calls import Call
    from hansei.projection.commands.model import Command, Read, Script

_VERBS = {
    Writing.REPLACE: Verb.WRITE,
    Writing.APPEND: Verb.EDIT,
    Writing.EDIT: Verb.EDIT,
    Writing.CREATE: Verb.CREATE,
    Writing.DELETE: Verb.DELETE,
    Writing.MOVE: Verb.RENAME,
    Writing.RESTORE: Verb.RESTORE,
    Writing.CLEAN: Verb.DELETE,
}
_RECURSIVE = ("-r", "-R", "-rf", "-fr", "-Rf", "--recursive", "-recurse")
_SEARCHERS = frozenset(("grep", "egrep", "fgrep", "rg", "ag", "ack", "zgrep", "findstr",
                        "Select-String"))  # fmt: skip

_COMPLAINTS = ("No such file", "cannot find", "Cannot find", "Is a directory", "Not a directory",
               "ermission denied", "is a directory", ": not found")  # fmt: skip
_NAMED = re.compile(
    r"(?:^|[\s'\"`‘])([^\s:'\"`‘’]+)['\"`’]?(?: for reading)?: "
    r"(?:IO error .{0,300}?: )?(?:No such file|Is a directory|is a directory|Not a directory"
    r"|[Pp]ermission denied|not found)"
    r"|annot find path ['\"]([^'\"]+)['\"]",
    re.MULTILINE,
)

_UNKNOWN = re.compile(
    r"^(?:.{0,80}: )?([\w.+-]+): (?:command )?not found$|command not found: ([\w.+-]+)$",
    re.MULTILINE,
)
_NAMELESS = frozenset(("-h", "--no-filename", "-I"))
_UP = re.compile(r"^(?:\.\./)+")
_INSTEAD = re.compile(r"\|\|\s*(?:echo|printf)\s+(?:'([^']*)'|\"([^\"]*)\"|([^'\"\n;|&)]+))")
_EMPTY = re.compile(r"\s*(?:\((?:Bash completed with )?no (?:output|content)\))?\s*")
_SHORT = 200
"""An output that says that it is empty is no longer than this."""


class Stir(IntEnum):
    """What a command may do to files that it does not name."""

    NOTHING = 0
    PERHAPS = 1
    """Nobody knows: only the same text shows that a file is unchanged."""
    REWRITES = 2


_GIT_LOOKS = frozenset(
    (
        "add", "blame", "branch", "cat-file", "check-ignore", "config", "describe", "diff",
        "fetch", "for-each-ref", "grep", "log", "ls-files", "ls-remote", "ls-tree", "merge-base",
        "push", "reflog", "remote", "rev-list", "rev-parse", "shortlog", "show", "show-ref",
        "status", "tag", "var", "version", "whatchanged", "worktree", "init", "notes",
    )
)  # fmt: skip
_GIT_REWRITES = frozenset(
    (
        "am", "apply", "bisect", "checkout", "checkout-index", "cherry-pick", "clean", "clone",
        "lfs", "merge", "mv", "pull", "read-tree", "rebase", "reset", "restore", "revert", "rm",
        "sparse-checkout", "stash", "submodule", "switch", "pr checkout", "repo sync",
    )
)  # fmt: skip
_ONLY_CHECKS = frozenset(
    ("--check", "--diff", "--list-different", "-l", "-d", "--dry-run", "--verify", "-c", "--lint")
)
_FIXES = frozenset(
    (
        "--fix", "--write", "-w", "--apply", "--unsafe-fixes", "--fix-dry-run", "-a", "-A",
        "--auto-correct", "--autocorrect", "--fix-errors", "-u", "--update", "--updateSnapshot",
        "--snapshot-update", "--update-snapshots", "--inplace", "-i", "--in-place",
    )
)  # fmt: skip


def of_shell(call: Call, places: Places, cwd: str | None) -> Iterator[Seen]:
    """The files that a call's commands show or change, in the order of the text."""
    script, result = call.script, call.result
    if script is None or not any(it.reads or it.writes for it in script.commands):
        return
    missing = _missing(result)
    unknown = _unknown_programs(result)
    alone = _only_reader(script)
    replaced = _replaced(call)
    found: list[Found] = []
    for number, command in enumerate(script.commands):
        if not (command.reads or command.writes) or not _took_place(command, result):
            continue
        if number in replaced or command.program in unknown:
            continue
        seen = [
            *(_shown(command, read, places, cwd, number == alone) for read in command.reads),
            *_changed(command, places, cwd),
        ]
        if missing:
            seen = [it for it in seen if not _is_missing(it, missing)]
        if result is not None and _names_what_it_finds(script, number):
            seen = [it if _is_named(it, result) else _shows_nothing(it) for it in seen]
        found += [Found(number, it) for it in dict.fromkeys(seen)]
    yield from _as_it_came(script, found, result)


def _as_it_came(script: Script, found: list[Found], result: ToolResult | None) -> list[Seen]:
    """What was asked for, as far as the output shows it."""
    if result is None or is_cut(result):
        return [it.seen for it in found]
    if _EMPTY.fullmatch(result.text, 0, _SHORT):
        return [_shows_nothing(it.seen) for it in found]
    return fitted(script, found, result.text)


def stir(commands: Iterable[Command]) -> Stir:
    """What a call's commands may do to files that they do not name."""
    return max(map(_stir, commands), default=Stir.NOTHING)


def _took_place(command: Command, result: ToolResult | None) -> bool:
    """A failed call did nothing, except by commands whose failure is not the call's."""
    return result is None or result.status is not Status.FAILED or command.masked


# --- what is shown ---


def _only_reader(script: Script) -> int | None:
    """The command whose output is all there is, if it shows one file."""
    loud = [number for number, command in enumerate(script.commands) if is_loud(command)]
    if len(loud) != 1:
        return None
    shown = {read for read in script.commands[loud[0]].reads if read.how is not How.HIDDEN}
    return loud[0] if len({read.path for read in shown}) == 1 else None


def _shown(command: Command, read: Read, places: Places, cwd: str | None, alone: bool) -> Seen:
    found = places.of(read.path, cwd)
    verb = Verb.READ
    if command.program in _SEARCHERS or command.subcommand == "grep":
        verb = Verb.READ if read.how is How.LINES else Verb.SEARCH
        found = found if verb is Verb.READ else as_folder(found)
    if read.revision is not None:
        # Another version of the file: it is never the same text as the one on disk.
        found = found._replace(key=f"{read.revision}:{found.key}")
    if read.how is How.HIDDEN:
        return Seen(found, verb, Extent.NOTHING)
    if read.how is How.PART:
        return Seen(found, verb, Extent.PART, alone=alone)
    if read.first is None and read.last is None:
        return Seen(found, verb, Extent.WHOLE, alone=alone)
    return Seen(found, verb, Extent.LINES, read.first, read.last, alone)


def _shows_nothing(seen: Seen) -> Seen:
    return seen._replace(extent=Extent.NOTHING) if seen.verb in LOOKS else seen


def _replaced(call: Call) -> frozenset[int]:
    """Commands in whose place the output has what `|| echo …` says; only its ends are looked at."""
    script, result = call.script, call.result
    if script is None or result is None or "||" not in call.event.text:
        return frozenset()
    said = {"".join(found).strip() for found in _INSTEAD.findall(call.event.text)}
    if not said:
        return frozenset()
    lines = {line.strip() for line in _ends(result.text).split("\n")}
    replaced: set[int] = set()
    for number, command in enumerate(script.commands):
        words = " ".join(command.targets).strip()
        if command.program in ("echo", "printf") and words in said and words in lines:
            before = number - 1
            while before > 0 and script.commands[before].stage > 0:
                before -= 1
            replaced.add(before)
    return frozenset(replaced)


def _ends(text: str) -> str:
    return text if len(text) <= 2 * EDGE else f"{text[:EDGE]}\n{text[-EDGE:]}"


def _missing(result: ToolResult | None) -> frozenset[str]:
    """Files that the output says are not there; only its ends are looked at."""
    if result is None:
        return frozenset()
    text = _ends(result.text)
    if not any(complaint in text for complaint in _COMPLAINTS):
        return frozenset()
    return frozenset(tidy(spelled(it[1] or it[2])).lower() for it in _NAMED.finditer(text))


def _unknown_programs(result: ToolResult | None) -> frozenset[str]:
    """Programs that the shell says it does not have; only the output's ends are looked at."""
    if result is None or "not found" not in (text := _ends(result.text)):
        return frozenset()
    return frozenset(it[1] or it[2] for it in _UNKNOWN.finditer(text))


def _names_what_it_finds(script: Script, number: int) -> bool:
    """Whether a search in several places says of every match where it is."""
    command, after = script.commands[number], script.commands[number + 1 : number + 2]
    searches = command.program in _SEARCHERS and len(command.reads) > 1
    piped = any(it.stage > command.stage for it in after)
    return searches and not piped and _NAMELESS.isdisjoint(command.flags)


def _is_named(seen: Seen, result: ToolResult) -> bool:
    """Whether the output may hold matches of it: patterns stand for names nobody told."""
    name = seen.place.path.rstrip("/").rpartition("/")[2]
    return name in result.text or is_cut(result) or not is_one_file(name)


def _is_missing(seen: Seen, missing: frozenset[str]) -> bool:
    name = f"/{seen.place.key.strip('/')}/".lower()
    return any(f"/{_UP.sub('', it).strip('/')}/" in name for it in missing)


# --- what is changed ---


def _changed(command: Command, places: Places, cwd: str | None) -> Iterator[Seen]:
    moves = any(write.how is Writing.MOVE for write in command.writes)
    for write in command.writes:
        found = places.of(write.path, cwd)
        verb = _VERBS[write.how]
        if verb is Verb.DELETE and moves:
            verb = Verb.RENAME
        if verb is Verb.RESTORE or any(flag in _RECURSIVE for flag in command.flags):
            found = as_folder(found)
        yield Seen(found, verb, Extent.UNKNOWN if verb is Verb.EDIT else Extent.WHOLE)


def _stir(command: Command) -> Stir:
    flags = command.flags
    if command.kind in (Class.READ, Class.SEARCH) or command.program in FILLERS:
        return Stir.NOTHING
    if command.kind is Class.GIT:
        return _stir_of_git(command)
    if command.kind is Class.INSTALL:
        return Stir.REWRITES
    if command.kind is Class.FORMAT:
        return Stir.NOTHING if not _ONLY_CHECKS.isdisjoint(flags) else Stir.REWRITES
    if command.kind is Class.LINT:
        return Stir.NOTHING if _FIXES.isdisjoint(flags) else Stir.REWRITES
    if command.kind is Class.TEST and not _FIXES.isdisjoint(flags):
        return Stir.REWRITES
    # What it changes it names: `rm a`, `sed -i … a`.
    return Stir.NOTHING if command.writes and command.kind is Class.OTHER else Stir.PERHAPS


def _stir_of_git(command: Command) -> Stir:
    subcommand = command.subcommand or ""
    if subcommand in _GIT_REWRITES:
        return Stir.NOTHING if command.writes else Stir.REWRITES
    return Stir.NOTHING if subcommand in _GIT_LOOKS else Stir.PERHAPS
