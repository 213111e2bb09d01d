"""The texts of a session in their order, each with who wrote it.

A tool's result is told by the tool: a page of the web, an MCP server's answer, a subagent's report;
a file by where it lies; a shell's output by what was run. A file that was filled from the network,
or from anywhere in this session, is what it was filled with. Everything here is pure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from hansei.events.model import (
    Compaction,
    FileEdit,
    Interruption,
    Origin,
    Prompt,
    Reply,
    SlashCommand,
    Thought,
    Tool,
    ToolCall,
    ToolResult,
)
from hansei.hook import places as instruction_places
from hansei.learn import network
from hansei.learn.model import Label
from hansei.learn.pasting import blocks
from hansei.projection.calls import calls
from hansei.projection.commands.model import Class, How
from hansei.projection.commands.programs import FILLERS
from hansei.projection.files.seen import Places
from hansei.projection.places import ground

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hansei.projection.calls import Call
    from hansei.projection.commands.model import Script
    from hansei.store.reading import Numbered

DEPENDENCIES = (
    "node_modules", "site-packages", "dist-packages", "vendor", "third_party", "third-party",
    "bower_components", "jspm_packages", "Pods", "Carthage", ".venv", "venv", ".tox", ".nox",
    "__pypackages__", ".yarn", ".pnpm-store", ".terraform", ".bundle", "elm-stuff", ".cargo",
    "go/pkg/mod", ".gradle", ".m2", ".rustup", ".npm", ".gem", "_vendor", "vendored", "extern",
    "submodules",
)  # fmt: skip
"""Folders that hold what others wrote, wherever they lie."""

_DEPENDENCY = re.compile(rf"(?:^|/)({'|'.join(map(re.escape, DEPENDENCIES))})(?:/|$)")
_FROM_DEPENDENCY = re.compile(
    rf"^[^\s:]*?(?:^|/)(?:{'|'.join(map(re.escape, DEPENDENCIES))})/[^\s:]*[:-]", re.MULTILINE
)
"""A line of a search that names its file, where that is a dependency's."""
_ASKS = re.compile(r"ask_?user|user_?input|ask_?question|followup", re.IGNORECASE)
_OWN = re.compile(r"(?:todo|skill|request_permission|kill|sleep|think)", re.IGNORECASE)
"""Tools of the agent program itself."""
_REPORTS = re.compile(r"<task-notification>|<agent-notification>|<subagent", re.IGNORECASE)
_READING = (Class.READ, Class.SEARCH)
"""Commands that print nothing but files."""
_PATHS = (
    "file_path", "filePath", "notebook_path", "target_file", "targetFile", "path",
    "relativeWorkspacePath", "relative_workspace_path", "target_notebook", "target_directory",
    "targetDirectory", "directoryPath", "dir_path",
)  # fmt: skip
_AT_HOME = tuple(
    f"~/{pattern.partition('*')[0]}"
    for listed in instruction_places.AT_HOME.values()
    for kind, pattern in listed
    if kind != instruction_places.SERVER
)


class Span(NamedTuple):
    """A text and who wrote it."""

    event: int
    label: Label
    text: str
    why: str
    session: str = ""
    """The session it stands in, where that is not the one asked about but one before it."""


class _Origin(NamedTuple):
    label: Label
    why: str


_HERE = _Origin(Label.ASSISTANT, "a program here printed it")
"""Not the repository's: a dependency prints what it likes."""
_AGENT = _Origin(Label.ASSISTANT, "the agent wrote it")


def spans(events: Sequence[Numbered], roots: Iterable[str] = ()) -> list[Span]:
    """Every text of a session, in order; `roots` are the folders of its repository."""
    known = [root for root in roots if root]
    if not known:
        known = list(dict.fromkeys(event.cwd for _, event in events if event.cwd))[:1]
    reader = _Reader(known)
    answered = {it.result_seq: it for it in calls(events) if it.result_seq is not None}
    return [
        Span(seq, origin.label, text, origin.why)
        for seq, event in events
        for origin, text in reader.read(event, answered.get(seq))
        if text.strip()
    ]


class _Reader:
    """What files hold, as far as the session itself showed where it came from."""

    def __init__(self, roots: list[str]) -> None:
        self._places = Places(ground(roots))
        self._filled: dict[str, _Origin] = {}
        """Files and folders that were filled in this session, by what with."""

    def read(self, event: object, call: Call | None) -> Iterator[tuple[_Origin, str]]:
        """The texts of one event."""
        if isinstance(event, Prompt):
            yield from _prompt(event)
        elif isinstance(event, SlashCommand):
            yield _Origin(Label.TYPED, "typed to the agent program"), event.text
        elif isinstance(event, Interruption):
            # It stands in a tool's result, where a program can print the very same words.
            yield _Origin(Label.PASTED, "said when a call was refused"), event.text
        elif isinstance(event, Reply | Thought | Compaction):
            yield _AGENT, event.text
        elif isinstance(event, ToolCall):
            yield _AGENT, event.text
            yield _AGENT, "\n".join(_strings(event.arguments))
        elif isinstance(event, FileEdit):
            yield _AGENT, "\n".join(hunk.new for hunk in event.hunks)
            self._fill(event.path, event.cwd, _AGENT)
        elif isinstance(event, ToolResult):
            yield from self._result(event, call)

    def _result(self, event: ToolResult, call: Call | None) -> Iterator[tuple[_Origin, str]]:
        if call is None:
            yield _Origin(Label.FOREIGN, "nobody knows which tool brought it"), event.text
            return
        tool = call.event.tool
        script = call.reports.script if call.reports else call.script
        if script is not None:
            text = call.reports.text if call.reports else call.event.text
            origin = self._shell(script, text, call.event.cwd)
        elif tool in (Tool.READ, Tool.SEARCH, Tool.EDIT, Tool.WRITE):
            origin = self._file(call.event)
        else:
            origin = _by_tool(call.event)
        yield from _apart(origin, event.text)

    def _file(self, event: ToolCall) -> _Origin:
        told = [event.arguments.get(name) for name in _PATHS]
        named = [it for it in told if isinstance(it, str) and it]
        if event.tool is Tool.READ and event.text:
            named.append(event.text)
        return self._of(named[0] if named else ".", event.cwd)

    def _shell(self, script: Script, text: str, cwd: str | None) -> _Origin:
        found = network.fetched(script, text)
        if found is not None:
            origin = _Origin(Label.NETWORK, f"`{found.program}` brought it from the network")
            for file in found.files:
                self._fill(file, cwd, origin)
            return origin
        installer = next((it for it in script.commands if network.installs(it)), None)
        if installer is not None:
            why = f"`{installer.program}` printed it while it installed packages"
            return self._filling(script, cwd, _Origin(Label.FOREIGN, why))
        shown = [read for it in script.commands for read in it.reads if read.how is not How.HIDDEN]
        origins = [self._of(read.path, cwd) for read in shown if read.revision is None]
        if not all(it.program in FILLERS or it.kind in _READING for it in script.commands):
            origins.append(_HERE)
        origin = max(origins, key=lambda it: _rank(it.label), default=_HERE)
        return self._filling(script, cwd, origin)

    def _filling(self, script: Script, cwd: str | None, origin: _Origin) -> _Origin:
        """Note what a call wrote to files."""
        for command in script.commands:
            for write in command.writes:
                self._fill(write.path, cwd, origin)
        return origin

    def _fill(self, path: str, cwd: str | None, origin: _Origin) -> None:
        if path:
            key = self._places.of(path, cwd).key.rstrip("/")
            known = self._filled.get(key)
            # Adding a line of one's own to a foreign file does not make it one's own.
            if known is None or _rank(origin.label) > _rank(known.label):
                self._filled[key] = origin

    def _of(self, path: str, cwd: str | None) -> _Origin:
        """Who wrote what a file holds."""
        place = self._places.of(path, cwd)
        key = place.key.rstrip("/")
        above = [key[:n] for n, letter in enumerate(key) if letter == "/"]
        filled = next(
            (self._filled[it] for it in (key, *reversed(above)) if it in self._filled), None
        )
        printed = filled == _HERE
        others = filled is not None and (printed or _rank(filled.label) > _rank(_AGENT.label))
        if filled is not None and (others or not place.inside):
            return _Origin(filled.label, f"{place.path}: {filled.why}")
        dependency = _DEPENDENCY.search(place.path)
        if dependency is not None:
            return _Origin(Label.FOREIGN, f"{place.path}: {dependency[1]} holds what others wrote")
        if place.inside:
            return _Origin(Label.REPOSITORY, place.path)
        if place.path.startswith(_AT_HOME):
            return _Origin(Label.REPOSITORY, f"{place.path}: instructions of this person")
        return _Origin(Label.FOREIGN, f"{place.path} lies outside the workspace")


def _rank(label: Label) -> int:
    return list(Label).index(label)


def _prompt(event: Prompt) -> Iterator[tuple[_Origin, str]]:
    if event.origin in (Origin.HUMAN, Origin.QUEUED_HUMAN):
        for block in blocks(event.text):
            yield _Origin(Label.PASTED if block.pasted else Label.TYPED, block.why), block.text
    elif event.origin is Origin.HANSEI:
        yield _Origin(Label.PASTED, "hansei itself put it there"), event.text
    elif event.origin is Origin.HOOK:
        yield _Origin(Label.ASSISTANT, "a hook printed it"), event.text
    elif _REPORTS.search(event.text):
        yield _Origin(Label.SUBAGENT, "a subagent reported it"), event.text
    else:
        yield _Origin(Label.ASSISTANT, "the agent program put it there"), event.text


def _by_tool(event: ToolCall) -> _Origin:
    if event.tool is Tool.WEB:
        return _Origin(Label.WEB, f"`{event.name}` brought it from the web")
    if event.tool is Tool.MCP:
        server = f" of the server {event.server}" if event.server else ""
        return _Origin(Label.MCP, f"`{event.name}`{server} answered it")
    if event.tool is Tool.SUBAGENT:
        return _Origin(Label.SUBAGENT, "a subagent reported it")
    if _ASKS.search(event.name):
        return _Origin(Label.TYPED, "a person answered it")
    if event.tool is Tool.PLAN or _OWN.match(event.name):
        return _Origin(Label.ASSISTANT, f"`{event.name}` is part of the agent program")
    return _Origin(Label.FOREIGN, f"`{event.name}` is a tool that nobody here knows")


def _apart(origin: _Origin, text: str) -> Iterator[tuple[_Origin, str]]:
    """A result, with lines that a search took from dependencies told apart."""
    if _rank(origin.label) > _rank(Label.REPOSITORY) or not _FROM_DEPENDENCY.search(text):
        yield origin, text
        return
    lines = text.split("\n")
    foreign = [line for line in lines if _FROM_DEPENDENCY.match(line)]
    yield origin, "\n".join(line for line in lines if not _FROM_DEPENDENCY.match(line))
    yield _Origin(Label.FOREIGN, "lines of dependencies in a search"), "\n".join(foreign)


def _strings(value: object) -> Iterator[str]:
    """Every text in a call's arguments."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key in value:
            yield from _strings(value[key])
    elif isinstance(value, list | tuple):
        for it in value:
            yield from _strings(it)
