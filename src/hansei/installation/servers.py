"""Our server among others in an agent's settings: an entry by its name, in JSON or in TOML.

An entry of that name that a person made is theirs: it stays, and none is added beside it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hansei.installation import jsonc, toml_lines
from hansei.installation.launcher import is_our_server
from hansei.installation.packages import SERVER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hansei.installation.jsonc import Node

TABLE = "mcp_servers"
_HEADER = re.compile(rf"\s*\[\s*{TABLE}\s*\.\s*[\"']?{SERVER}[\"']?\s*\]")


@dataclass(frozen=True)
class JsonServer:
    """An entry in an object of servers: `{"mcpServers": {"hansei": …}}`."""

    key: str
    entry: Mapping[str, Any] | None
    """None where nothing is to be added."""

    def install(self, text: str | None) -> str | None:
        if self.entry is None:
            return text
        before = text if text and text.strip() else "{}\n"
        servers = _servers(before, self.key)
        there = None if servers is None else servers.member(SERVER)
        if there is not None and (there.node.value == self.entry or not _is_ours(there.node.value)):
            return before
        after = before if there is None else self.uninstall(before)
        servers = _servers(after, self.key)
        if servers is None:
            after = jsonc.append(after, jsonc.parse(after), {SERVER: self.entry}, self.key)
        else:
            after = jsonc.append(after, servers, self.entry, SERVER)
        self._unharmed(before, after)
        return after

    def uninstall(self, text: str) -> str:
        servers = _servers(text, self.key) if text.strip() else None
        places = [] if servers is None else [it.key for it in servers.parts]
        if servers is None or SERVER not in places or not _is_ours(servers.value[SERVER]):
            return text
        root = jsonc.parse(text)
        if len(places) == 1 and "/" not in text[servers.start : servers.parts[0].start]:
            after = jsonc.remove(text, root, [it.key for it in root.parts].index(self.key))
        else:
            after = jsonc.remove(text, servers, places.index(SERVER))
        self._unharmed(text, after)
        return after

    def events(self, _: str) -> list[str]:
        return []

    def is_empty(self, text: str) -> bool:
        return not text.strip() or jsonc.parse(text).value == {}

    def _unharmed(self, before: str, after: str) -> None:
        if self._others(before) != self._others(after):
            raise jsonc.Malformed(before, 0, "it cannot be changed without changing more than ours")

    def _others(self, text: str) -> dict[str, Any]:
        settings = dict(jsonc.parse(text).value)
        servers = settings.pop(self.key, None) or {}
        others = {name: it for name, it in servers.items() if not _is_ours(it)}
        return {**settings, **({self.key: others} if others else {})}


def _servers(text: str, key: str) -> Node | None:
    root = jsonc.parse(text)
    if not isinstance(root.value, dict):
        raise jsonc.Malformed(text, root.start, "settings should be an object")
    found = root.member(key)
    if found is None:
        return None
    if not isinstance(found.node.value, dict):
        raise jsonc.Malformed(text, found.start, f'"{key}" should be an object')
    return found.node


def _is_ours(entry: Any) -> bool:
    command = entry.get("command") if isinstance(entry, dict) else None
    first = command[0] if isinstance(command, list) and command else command
    return isinstance(first, str) and is_our_server(first)


@dataclass(frozen=True)
class TomlServer:
    """A table `[mcp_servers.hansei]` behind everything else."""

    command: str | None
    """None where nothing is to be added."""

    def install(self, text: str | None) -> str | None:
        if self.command is None:
            return text
        before = text or ""
        there = _table(before).get(SERVER)
        if there is not None and (not _is_ours(there) or there.get("command") == self.command):
            return before
        after = self.uninstall(before)
        newline = "\r\n" if "\r\n" in before else "\n"
        if after and not after.endswith("\n"):
            after += newline
        gap = newline if after else ""
        lines = (f"[{TABLE}.{SERVER}]", f"command = {json.dumps(self.command)}")
        after += gap + "".join(line + newline for line in lines)
        _toml_unharmed(before, after)
        return after

    def uninstall(self, text: str) -> str:
        if not _is_ours(_table(text).get(SERVER)):
            return text
        lines = text.splitlines(keepends=True)
        start = next((n for n, line in enumerate(lines) if _HEADER.match(line)), None)
        if start is None:
            raise jsonc.Malformed(
                text, 0, "our server is written in a way that we do not recognise"
            )
        end = start + 1
        while end < len(lines) and not toml_lines.HEADER.match(lines[end]):
            end += 1
        while toml_lines.FILLER.match(lines[end - 1].rstrip("\r\n")):
            end -= 1
        start -= start > 0 and not lines[start - 1].strip()
        after = "".join(lines[:start] + lines[end:])
        _toml_unharmed(text, after)
        return after

    def events(self, _: str) -> list[str]:
        return []

    def is_empty(self, text: str) -> bool:
        return not text.strip()


def _table(text: str) -> dict[str, Any]:
    found = toml_lines.parse(text).get(TABLE)
    return found if isinstance(found, dict) else {}


def _toml_unharmed(before: str, after: str) -> None:
    if _toml_others(before) != _toml_others(after):
        raise jsonc.Malformed(before, 0, "it cannot be changed without changing more than ours")


def _toml_others(text: str) -> dict[str, Any]:
    settings = toml_lines.parse(text)
    servers = settings.pop(TABLE, None)
    others = {
        name: it
        for name, it in (servers if isinstance(servers, dict) else {}).items()
        if not _is_ours(it)
    }
    return {**settings, **({TABLE: others} if others else {})}
