"""Skills and rules that were brought into the context, and the text that came with them.

A skill is loaded by the agent's tool for it, by a command of that name, by a text that the program
injects, or by reading its file with a tool or a shell command. Reading a part of it counts; looking
for it, or searching in it, does not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hansei.events.model import Basis, Status, Tool
from hansei.hook.places import RULE
from hansei.projection.commands.model import How
from hansei.projection.funnel.listing import last_name, skill_name
from hansei.projection.funnel.model import Load

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from hansei.projection.calls import Call
    from hansei.projection.funnel.record import Record

SKILL_FILE = "skill.md"
SKILL_TOOL = "skill"
_NAME_FIELDS = ("skill", "name", "command")
"""Where a call to load a skill names it."""
_INJECTED = re.compile(r"Base directory for this skill: (.+)")
_GIVEN = re.compile(r"<skill>\s*<name>([^<\n]+)</name>\s*(?:<path>([^<\n]+)</path>)?")


def loads(told: Record, calls: Iterable[Call], named: Collection[str]) -> list[Load]:
    """Every load in order; `named` are skills that a command may call by name."""
    found = [load for call in calls for load in _called(call)]
    found += _spoken(told, {name.lower() for name in named})
    found.sort(key=lambda load: load.seq)
    return _joined(found)


def file_loads(calls: Iterable[Call], paths: Collection[str]) -> Iterator[tuple[str, Load]]:
    """Reads of files that are listed by what they are for, with the path they are listed under."""
    names = {last_name(path).lower(): path for path in paths}
    for call in calls:
        for path in _read(call, tuple(names)):
            listed = names[last_name(path).lower()]
            yield listed, _load(call, RULE, path)


def _called(call: Call) -> Iterator[Load]:
    event = call.event
    if event.name.lower() == SKILL_TOOL:
        told = (event.arguments.get(field) for field in _NAME_FIELDS)
        name = next((it for it in told if isinstance(it, str) and it), event.text)
        if name:
            yield _load(call, name.lstrip("/"), None)
        return
    for path in _read(call, (SKILL_FILE,)):
        yield _load(call, skill_name(path), path)


def _read(call: Call, names: tuple[str, ...]) -> Iterator[str]:
    """Files of these names whose lines a call shows."""
    event = call.event
    if event.tool is Tool.READ:
        if event.text.lower().endswith(names) and last_name(event.text).lower() in names:
            yield event.text
    elif call.script is not None and any(name in event.text.lower() for name in names):
        seen = dict.fromkeys(
            read.path
            for command in call.script.commands
            for read in command.reads
            if read.how is How.LINES and last_name(read.path).lower() in names
        )
        yield from (path for path in seen if "*" not in path)


def _load(call: Call, name: str, path: str | None) -> Load:
    text = "" if call.result is None or _shows_more(call) else call.result.text
    # A single line only says that it is loaded.
    seq = call.result_seq if "\n" in text else None
    return Load(call.seq, name, path, worked(call), text, seq)


def _shows_more(call: Call) -> bool:
    """Whether the output is of several files: then nothing says which part is whose."""
    commands = call.script.commands if call.script is not None else ()
    return len({read.path for it in commands for read in it.reads if read.how is How.LINES}) > 1


def worked(call: Call) -> bool | None:
    """Whether a call did what it was made for, as far as its result says so."""
    if call.result is None or call.result.basis is Basis.INTERRUPTED:
        return None
    return call.result.status is not Status.FAILED


def _spoken(told: Record, named: Collection[str]) -> Iterator[Load]:
    for seq, command in told.commands:
        if command.name.lower() in named:
            yield Load(seq, command.name, None, True, "", None)
    for seq, prompt in told.injected:
        text = prompt.text
        if injected := _INJECTED.match(text):
            folder = injected[1].strip()
            yield Load(seq, last_name(folder), f"{folder}/SKILL.md", True, text, seq)
        elif given := _GIVEN.match(text):
            yield Load(seq, given[1].strip(), given[2], True, text, seq)


def _joined(found: list[Load]) -> list[Load]:
    """A call or command and the text that the program injects for it are one load."""
    joined: list[Load] = []
    for load in found:
        injected = load.text_seq == load.seq
        asked = next((n for n, it in enumerate(joined) if injected and _waits_for(it, load)), None)
        if asked is None:
            joined.append(load)
        else:
            joined[asked] = joined[asked]._replace(
                path=load.path, worked=True, text=load.text, text_seq=load.text_seq
            )
    return joined


def _waits_for(asked: Load, injected: Load) -> bool:
    """Whether a load has named a skill and not yet been given its text."""
    bare = asked.name.rpartition(":")[2].lower()
    return asked.path is None and bare == injected.name.rpartition(":")[2].lower()
