"""How a program is run on every file that an agent writes, exactly, for each agent program."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


def after_writing(command: str, agents: Iterable[str]) -> str:
    """The settings in Markdown, for each agent that has such hooks; empty where none has."""
    return "\n".join(_SETTINGS[it](command) for it in sorted(set(agents)) if it in _SETTINGS)


def _claude(command: str) -> str:
    run = f"jq -r .tool_input.file_path | xargs {command}"
    hook = {"matcher": "Edit|Write", "hooks": [{"type": "command", "command": run}]}
    return (
        "Claude Code from 2.1.90 on, in `.claude/settings.json` of this repository (in earlier"
        " ones such a hook makes the next edit of the file fail: there take `Stop` in place of"
        f" `PostToolUse`, and all files that changed):{_json({'hooks': {'PostToolUse': [hook]}})}"
    )


def _cursor(command: str) -> str:
    run = f"jq -r .file_path | xargs {command}"
    told = {"version": 1, "hooks": {"afterFileEdit": [{"command": run}]}}
    return f"Cursor, in `.cursor/hooks.json` of this repository:{_json(told)}"


def _json(told: object) -> str:
    return f"\n\n```json\n{json.dumps(told, ensure_ascii=False, indent=2)}\n```\n"


_SETTINGS: Final[Mapping[str, Callable[[str], str]]] = {
    "claude_code": _claude,
    "cursor": _cursor,
}
