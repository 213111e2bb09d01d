"""The program that a hook runs where a rule may concern a call: the thorough comparison.

A call and a rule come as JSON on stdin; `stopped` on stdout is the only answer that stops anything.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from hansei.events.model import Tool
from hansei.hook.guard import STOPPED
from hansei.learn.guards import Attempt, stops, typed
from hansei.learn.model import Predicates

if TYPE_CHECKING:
    from collections.abc import Mapping

_TOOLS = {
    "Read": Tool.READ,
    "Edit": Tool.EDIT,
    "MultiEdit": Tool.EDIT,
    "NotebookEdit": Tool.EDIT,
    "Write": Tool.WRITE,
}
"""Claude Code's tools that name one file; a tool with a command is a shell."""


def main() -> None:
    """Answer for one call."""
    if is_stopped(msgspec.json.decode(sys.stdin.buffer.read())):
        sys.stdout.write(STOPPED)


def is_stopped(call: Mapping[str, Any]) -> bool:
    """Whether a rule stops a call."""
    told = msgspec.convert(call["predicates"], Predicates)
    root, name = call["root"], call["tool"]
    if call.get("text") is not None:
        attempt = typed(call["text"], call["cwd"], (root,))._replace(name=name)
    elif name in _TOOLS:
        path = Path(call["cwd"], call["path"]).resolve()
        seen = path.relative_to(root) if path.is_relative_to(root) else path
        attempt = Attempt(_TOOLS[name], name, paths=(seen.as_posix(),))
    else:
        return False
    return stops(told, attempt) is not None
