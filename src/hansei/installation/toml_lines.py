"""Hooks in a TOML file, added as lines at its end and taken out as lines.

Arrays of tables may stand anywhere in a TOML file, so ours go behind everything else, and nothing
above them is touched. tomllib reads the file before and after each edit: one that would change
anything but our own entries is refused.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from hansei.installation.hook_lists import command_of, foreign, handlers
from hansei.installation.jsonc import Malformed
from hansei.installation.launcher import is_ours

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HEADER = re.compile(r"\s*\[")
HOOKS = re.compile(r"\s*\[\[\s*hooks\s*\.\s*(?P<event>\w+)\s*(?P<inner>\.\s*hooks\s*)?\]\]")
FILLER = re.compile(r"\s*(#.*)?$")


@dataclass(frozen=True)
class TomlHooks:
    """What a TOML settings file should say: one group of ours per event."""

    entries: Mapping[str, Mapping[str, Any]]

    def install(self, text: str | None) -> str | None:
        """The settings with our hooks at the end, unchanged where they are there already."""
        if text is None and not self.entries:
            return None
        before = text or ""
        wanted = {event: [command_of(entry)] for event, entry in self.entries.items()}
        if _ours(parse(before)) == wanted:
            return before
        newline = "\r\n" if "\r\n" in before else "\n"
        after = _without(before)
        if after and not after.endswith("\n"):
            after += newline
        for event, entry in self.entries.items():
            after += "".join(line + newline for line in _lines(event, entry, first=not after))
        _unharmed(before, after)
        if _ours(parse(after)) != wanted:
            raise Malformed(before, 0, "hooks cannot be added to it")
        return after

    def uninstall(self, text: str) -> str:
        """The settings without our hooks."""
        after = _without(text)
        _unharmed(text, after)
        if _ours(parse(after)):
            raise Malformed(text, 0, "our hooks are written in a way that we do not recognise")
        return after

    def events(self, text: str) -> list[str]:
        """The events for which a hook of ours stands in the settings."""
        return sorted(_ours(parse(text)))

    def is_empty(self, text: str) -> bool:
        """Whether nothing is left but what we put there ourselves."""
        return not text.strip()


def parse(text: str) -> dict[str, Any]:
    """The settings; raises Malformed with the line where they stop being TOML."""
    import tomllib  # 10 ms, and few people's settings are TOML

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        place = re.search(r"\(at line (\d+), column (\d+)\)", str(problem))
        line = int(place[1]) if place else text.count("\n") + 1
        at = sum(len(part) for part in text.splitlines(keepends=True)[: line - 1])
        raise Malformed(text, at, str(problem).partition(" (at ")[0]) from None


def _ours(settings: Mapping[str, Any]) -> dict[str, list[str]]:
    hooks = settings.get("hooks")
    found: dict[str, list[str]] = {}
    for event, handler in handlers(hooks if isinstance(hooks, dict) else {}):
        if is_ours(command_of(handler)):
            found.setdefault(event, []).append(command_of(handler))
    return found


def _lines(event: str, entry: Mapping[str, Any], *, first: bool) -> Iterator[str]:
    if not first:
        yield ""
    yield f"[[hooks.{event}]]"
    for handler in entry["hooks"]:
        yield f"[[hooks.{event}.hooks]]"
        for key, value in handler.items():
            yield f"{key} = {json.dumps(value)}"


class _Table(NamedTuple):
    """A table of hooks: its lines, and whether it is a group or a handler in one."""

    start: int
    end: int
    is_group: bool
    ours: bool


def _without(text: str) -> str:
    """The lines without those of our handlers and of groups that hold no others."""
    lines = text.splitlines(keepends=True)
    doomed: set[int] = set()
    tables = list(_tables(lines))
    for index, table in enumerate(tables):
        inner = _inner(tables, index) if table.is_group else []
        if table.ours or (inner and all(handler.ours for handler in inner)):
            doomed.update(range(table.start, table.end))
            doomed.update({table.start - 1} if _blank(lines, table.start - 1) else ())
    return "".join(line for index, line in enumerate(lines) if index not in doomed)


def _inner(tables: list[_Table], group: int) -> list[_Table]:
    found = []
    for table in tables[group + 1 :]:
        if table.is_group:
            break
        found.append(table)
    return found


def _blank(lines: list[str], index: int) -> bool:
    return index >= 0 and not lines[index].strip()


def _tables(lines: list[str]) -> Iterator[_Table]:
    headers = [index for index, line in enumerate(lines) if HEADER.match(line)]
    for start, following in pairwise([*headers, len(lines)]):
        header = HOOKS.match(lines[start])
        if header is None:
            continue
        end = following
        while FILLER.match(lines[end - 1].rstrip("\r\n")):
            end -= 1
        ours = header["inner"] is not None and any(map(_names_us, lines[start + 1 : end]))
        yield _Table(start, end, header["inner"] is None, ours)


def _names_us(line: str) -> bool:
    key, _, value = line.partition("=")
    return key.strip() == "command" and is_ours(value.strip().strip("\"'"))


def _unharmed(before: str, after: str) -> None:
    if foreign(parse(before)) != foreign(parse(after)):
        raise Malformed(before, 0, "it cannot be changed without changing more than our part")
