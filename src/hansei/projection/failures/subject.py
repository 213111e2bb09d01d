"""What a call is about, as far as other calls are compared with it: its files, words and folder."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.events.model import Basis, Status, Tool
from hansei.projection.commands.model import Class
from hansei.projection.failures import patches, places, summary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hansei.projection.calls import Call
    from hansei.projection.commands.model import Command
    from hansei.projection.failures.model import Failure, Verdict

PATCHING: Final = "apply_patch"
_PATHS: Final = ("file_path", "path", "filePath", "absolute_path", "notebook_path", "target_file")
"""Arguments by which tools name a file."""
_TEXTS: Final = ("new_string", "newString", "new_str", "content", "contents", "new_source")
"""Arguments that hold what is to stand in a file."""
_WORD = re.compile(r"[A-Za-z0-9]{2,}|[^\W\d_]{2,}")
_WORDS_LOOKED_AT: Final = 20_000
"""Characters of a text that are compared."""
_LINE: Final = 4
"""Characters of a line that says something."""
_SWITCH = re.compile(r"/[A-Za-z]{1,2}")
_GLOB = re.compile(r"[\\/]?[^\\/]*\*[^\\/]*$")
_LISTERS: Final = frozenset(("ls", "dir", "tree", "Get-ChildItem", "exa", "eza"))
_MISUSED = re.compile(
    r"unknown (?:command|flag|option|subcommand|argument|shorthand)|unrecogni[sz]ed|invalid option"
    r"|usage|no such (?:option|command)|unexpected argument|accepts \d+ arg|invalid choice"
    r"|missing required|required flag|illegal option|requires? an? argument",
    re.IGNORECASE,
)
_MISSING = re.compile(
    r"no such file|not found|cannot (?:find|access|open)|can't (?:find|open|read)|does not exist"
    r"|doesn't exist|enoent|\b404\b|no module named|no matching|did not match|not a directory",
    re.IGNORECASE,
)
_NOT_HERE = re.compile(
    r"missing script|package\.json|not a git repository|no such file|could not (?:find|locate)"
    r"|enoent|no rule to make|cannot find|not found|no module named|does not exist|no tests|file or"
    r" directory|no configuration|unable to find|command not found|no inputs were found",
    re.IGNORECASE,
)

_SERVES = re.compile(
    r"\b(?:listening|running|ready|started|serving|available)\b[^\n]{0,60}"
    r"(?:https?://|localhost|\bport\b|:\d{4})",
    re.IGNORECASE,
)
"""What a server says that has begun its work and does not end."""


class Subject(NamedTuple):
    """What one command of a call, or a call of another tool, is about."""

    call: Call
    at: int | None
    """Which command of the call's script; None for other tools."""
    command: Command | None
    files: frozenset[str]
    folder: str | None
    """Where it ran; None is unknown."""
    line: str = ""
    """What it said that went wrong."""
    misused: bool = False
    """Whether the program did not understand what it was told."""
    missing: bool = False
    """Whether what it was to work with was not there."""
    not_here: bool = False
    """Whether it may only have been the wrong folder."""

    @property
    def tool(self) -> Tool:
        return self.call.event.tool

    @property
    def text(self) -> str:
        return self.call.event.text


def of_failure(call: Call, verdict: Verdict, row: Failure) -> Subject:
    """What a call that failed is about: of several files those that it complains of."""
    about = _subject(call, verdict.command)
    if len(about.files) > 1 and call.result is not None:
        said = call.result.text[:4000].lower()
        named = frozenset(it for it in about.files if it.rsplit("/", 1)[-1] in said)
        complained = frozenset(it for it in named if _complains(it.rsplit("/", 1)[-1], said))
        about = about._replace(files=complained or about.files)
    return about._replace(
        line=row.line,
        misused=_MISUSED.search(row.line) is not None,
        missing=_MISSING.search(row.line) is not None,
        not_here=_NOT_HERE.search(row.line) is not None,
    )


def of_success(call: Call, verdict: Verdict) -> Iterator[Subject]:
    """Everything that is known to have gone well in a call."""
    if call.script is None:
        if verdict.status is Status.OK:
            yield _subject(call, None)
        return
    if verdict.status is Status.FAILED:
        # What had to go well before the command that failed could run.
        for index, command in enumerate(call.script.commands[: verdict.command or 0]):
            if not command.inside and not command.masked and not command.stage:
                yield _subject(call, index)
        return
    # A status that is hidden still says that what does not hide went well.
    result = call.result
    hidden = result is not None and result.status is not Status.FAILED
    if verdict.status is not Status.OK and not (verdict.basis is Basis.MASKED and hidden):
        if (
            result is not None
            and verdict.basis is Basis.NONE
            and _SERVES.search(result.text[:4000])
        ):
            yield _subject(call, call.script.main)
        return
    judged = verdict.status is Status.OK and verdict.basis is Basis.RUNNER_SUMMARY
    for index, command in enumerate(call.script.commands):
        if command.inside or (command.masked and not (judged and summary.tells(command))):
            continue
        yield _subject(call, index)


def words(about: Subject) -> frozenset[str]:
    """The words of the command itself, or of what another tool was given."""
    if about.command is None:
        return _words(" ".join(map(str, _plain(about.call.event.arguments.values()))) or about.text)
    return _words(" ".join(word.text for word in about.command.arguments.words))


def put(about: Subject) -> frozenset[str]:
    """The lines of the text that a call was to put into a file."""
    lines = (line.strip() for line in _put(about)[:_WORDS_LOOKED_AT].split("\n"))
    return frozenset(line for line in lines if len(line) >= _LINE)


def put_words(about: Subject) -> frozenset[str]:
    """The words of that text."""
    return _words(_put(about))


def _put(about: Subject) -> str:
    given = about.call.event.arguments
    if patches.is_patch(about.text):
        return patches.put(about.text)
    patch = given.get("input")
    if isinstance(patch, str) and patches.is_patch(patch):
        return patches.put(patch)
    if about.command is not None:
        return about.text
    edits = given.get("edits")
    if isinstance(edits, list):
        return "\n".join(str(it.get("new_string")) for it in edits if isinstance(it, dict))
    return "\n".join(it for name in _TEXTS if isinstance(it := given.get(name), str))


def _plain(values: Iterable[object]) -> Iterator[object]:
    return (it for it in values if isinstance(it, str | int | float | list | dict))


@lru_cache(maxsize=256)
def _words(text: str) -> frozenset[str]:
    return frozenset(it.lower() for it in _WORD.findall(text[:_WORDS_LOOKED_AT]))


def _complains(name: str, said: str) -> bool:
    """Whether a line names a file and says that something is wrong with it."""
    return any(
        name in line and (_MISSING.search(line) or "denied" in line or "directory" in line)
        for line in said.split("\n")
    )


def _subject(call: Call, at: int | None) -> Subject:
    cwd = call.event.cwd
    if call.script is None or at is None or at >= len(call.script.commands):
        return Subject(call, None, None, _files(call), cwd)
    command = call.script.commands[at]
    folder = None if command.directory is None else places.whole(command.directory, cwd)
    if not call.script.parsed:
        return Subject(call, at, command, places.named_in(call.event.text, cwd), folder)
    return Subject(call, at, command, _command_files(call, command, folder), folder)


def _command_files(call: Call, command: Command, folder: str | None) -> frozenset[str]:
    if command.program == PATCHING:
        return frozenset(_whole(patches.files(call.event.text), call.event.cwd))
    found = set(_whole((read.path for read in command.reads), call.event.cwd))
    found |= set(_whole((write.path for write in command.writes), call.event.cwd))
    if not found and not command.stage:
        targets = [it for it in command.targets if not _is_switch(command, it)]
        if command.program in _LISTERS:
            targets = [_GLOB.sub("", it) or "." for it in targets]
        found = set(_whole(targets, folder))
        if not targets and command.program in _LISTERS and folder is not None:
            found = {folder}
    return frozenset(found)


def _is_switch(command: Command, word: str) -> bool:
    return command.program == "dir" and _SWITCH.fullmatch(word) is not None


def _files(call: Call) -> frozenset[str]:
    """Files that a tool which is no shell was to work with."""
    event = call.event
    given = event.arguments
    patch = given.get("input")
    if isinstance(patch, str) and patches.is_patch(patch):
        return frozenset(_whole(patches.files(patch), event.cwd))
    named = [it for name in _PATHS if isinstance(it := given.get(name), str) and it]
    if not named and event.tool in (Tool.READ, Tool.EDIT, Tool.WRITE) and "\n" not in event.text:
        named = [edit.event.path for edit in call.edits] or [event.text]
    return frozenset(_whole(named, event.cwd))


def _whole(paths: Iterable[str], folder: str | None) -> Iterator[str]:
    return (places.whole(path, folder) for path in paths if path and "\n" not in path)


def deletes(about: Subject) -> frozenset[str]:
    """Files of a patch that it only deletes."""
    given = about.call.event.arguments.get("input")
    text = given if isinstance(given, str) else about.text
    if not patches.is_patch(text):
        return frozenset()
    cwd = about.call.event.cwd
    return frozenset(_whole(patches.files(text), cwd)) - frozenset(
        _whole(patches.files(text, deleted=False), cwd)
    )


def shows(command: Command) -> bool:
    return command.kind in (Class.READ, Class.SEARCH)
