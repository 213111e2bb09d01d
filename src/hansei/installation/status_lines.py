"""Our words beside a person's own status line, by wrapping the command that prints it.

The command that stood there becomes the last argument of ours. So the settings alone say what to
put back, whatever happened to the journal.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hansei.hook.record import STATUS_LINE
from hansei.installation import jsonc
from hansei.installation.launcher import is_ours

if TYPE_CHECKING:
    from hansei.installation.jsonc import Node

KEY = "statusLine"


@dataclass(frozen=True)
class StatusLine:
    """`{"statusLine": {"type": "command", "command": …}}`."""

    command: str
    """Ours, before what it wraps."""
    wanted: bool = False

    def install(self, text: str | None) -> str | None:
        if not self.wanted and (text is None or not _is_there(text)):
            return text
        before = text if text and text.strip() else "{}\n"
        there = _member(before)
        if there is None:
            entry = {"type": "command", "command": self.command}
            return jsonc.append(before, jsonc.parse(before), entry, KEY)
        command = _command(there)
        own = wrapped(command.value) if is_ours(command.value) else command.value
        wanted = self.command if own is None else f"{self.command} {shlex.quote(own)}"
        return before if command.value == wanted else jsonc.replace(before, command, wanted)

    def uninstall(self, text: str) -> str:
        if not text.strip() or not _is_there(text):
            return text
        there = _member(text)
        assert there is not None
        command = _command(there)
        own = wrapped(command.value)
        if own is not None:
            return jsonc.replace(text, command, own)
        root = jsonc.parse(text)
        return jsonc.remove(text, root, [it.key for it in root.parts].index(KEY))

    def events(self, _: str) -> list[str]:
        return []

    def is_empty(self, text: str) -> bool:
        return not text.strip() or jsonc.parse(text).value.keys() <= {"hooks"}


def wrapped(command: str) -> str | None:
    """The command that ours puts its words beside; None where it stands alone."""
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    behind = words[words.index(STATUS_LINE) + 1 :] if STATUS_LINE in words else []
    return behind[0] if behind else None


def _member(text: str) -> Node | None:
    root = jsonc.parse(text)
    if not isinstance(root.value, dict):
        raise jsonc.Malformed(text, root.start, "settings should be an object")
    found = root.member(KEY)
    return None if found is None else found.node


def _command(there: Node) -> Node:
    found = there.member("command")
    if found is None or not isinstance(found.node.value, str):
        raise jsonc.Malformed("", 0, f'"{KEY}" runs no command')
    return found.node


def _is_there(text: str) -> bool:
    there = _member(text) if text.strip() else None
    value: Any = None if there is None else there.value
    command = value.get("command") if isinstance(value, dict) else None
    return isinstance(command, str) and is_ours(command)
