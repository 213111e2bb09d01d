"""Gemini CLI: hooks in `settings.json`, in groups, with times in milliseconds.

On by default since 0.26.0: that package has `hooksConfig.enabled` with the default true, 0.25.0
keeps its switches elsewhere. The events are those of the documentation inside 0.61.0. Seen to run
in 0.61.0, comments in the settings included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.installation.contract import Agent, HookEvent, Target
from hansei.installation.hook_lists import HookLists, grouped
from hansei.installation.settings import is_set

if TYPE_CHECKING:
    from pathlib import Path

    from hansei.config import Environment
    from hansei.installation.launcher import Launcher

MILLISECONDS = 5_000
_SHIPPED = "documentation inside the package; on by default since 0.26.0"

EVENTS = tuple(
    HookEvent(name, "0.26.0", _SHIPPED)
    for name in (
        "SessionStart",
        "BeforeAgent",
        "BeforeTool",
        "AfterTool",
        "AfterAgent",
        "PreCompress",
        "SessionEnd",
    )
)


def folder(environment: Environment) -> Path:
    return environment.folder("GEMINI_CLI_HOME") / ".gemini"


def targets(
    environment: Environment, events: tuple[str, ...], launcher: Launcher
) -> tuple[Target, ...]:
    entries = {event: grouped(launcher.command("gemini", event), MILLISECONDS) for event in events}
    return (Target(folder(environment) / "settings.json", HookLists(entries)),)


def switched_off(environment: Environment) -> str | None:
    path = folder(environment) / "settings.json"
    off = is_set(path, "hooksConfig", "enabled", to=False)
    return f'"hooksConfig.enabled" is false in {path}' if off else None


AGENT = Agent(
    name="gemini",
    title="Gemini CLI",
    programs=("gemini",),
    folder=folder,
    events=EVENTS,
    targets=targets,
    switched_off=switched_off,
)
