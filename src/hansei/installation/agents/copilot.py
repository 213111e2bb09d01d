"""Copilot CLI: a hooks file of our own in `~/.copilot/hooks`.

Personal hooks are read since 0.0.422; the rest of the versions are those of its changelog.
`preToolUse` is left out on purpose: since 1.0.57 a hook that fails there denies the call, and a
store deleted by hand would take the agent's tools away. What it would tell, `postToolUse` tells.
Seen to run in 1.0.102.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hansei.installation.contract import Agent, HookEvent, OwnFile, Target
from hansei.installation.settings import is_set

if TYPE_CHECKING:
    from pathlib import Path

    from hansei.config import Environment
    from hansei.installation.launcher import Launcher

SECONDS = 5
PERSONAL = "0.0.422"
_PERSONAL = "changelog: personal hooks since 0.0.422"

EVENTS = (
    HookEvent("sessionStart", PERSONAL, _PERSONAL),
    HookEvent("userPromptSubmitted", PERSONAL, _PERSONAL),
    HookEvent("postToolUse", PERSONAL, _PERSONAL),
    HookEvent("postToolUseFailure", "1.0.15", "changelog"),
    HookEvent("agentStop", PERSONAL, "changelog: 0.0.401; personal hooks since 0.0.422"),
    HookEvent("subagentStart", "1.0.7", "changelog"),
    HookEvent("subagentStop", PERSONAL, "changelog: 0.0.401; personal hooks since 0.0.422"),
    HookEvent("sessionEnd", PERSONAL, _PERSONAL),
    HookEvent("preCompact", "1.0.5", "changelog"),
)


def folder(environment: Environment) -> Path:
    return environment.folder("COPILOT_HOME", ".copilot")


def targets(
    environment: Environment, events: tuple[str, ...], launcher: Launcher
) -> tuple[Target, ...]:
    lines = ",\n".join(f'    "{event}": [{_entry(launcher, event)}]' for event in events)
    text = f'{{\n  "version": 1,\n  "hooks": {{\n{lines}\n  }}\n}}\n' if events else None
    return (Target(folder(environment) / "hooks" / "hansei.json", OwnFile(text, events)),)


def _entry(launcher: Launcher, event: str) -> str:
    command = launcher.command("copilot", event)
    return json.dumps({"type": "command", "bash": command, "timeoutSec": SECONDS})


def switched_off(environment: Environment) -> str | None:
    path = folder(environment) / "settings.json"
    return f'"disableAllHooks" is true in {path}' if is_set(path, "disableAllHooks") else None


AGENT = Agent(
    name="copilot",
    title="Copilot CLI",
    programs=("copilot",),
    folder=folder,
    events=EVENTS,
    targets=targets,
    switched_off=switched_off,
)
