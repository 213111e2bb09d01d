"""Claude Code: hooks in `settings.json` of its configuration folder.

Until 2.1.100 an event name that the program does not know made it ignore the whole file (its
changelog, 2.1.101), so only events that the version at hand accepts are written. "package" below
means that the published npm package of that version was looked into and holds the name.
Seen to run in 2.1.325, which ignores a file with comments or trailing commas and says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.installation.contract import Agent, HookEvent, Target
from hansei.installation.hook_lists import HookLists, grouped
from hansei.installation.settings import is_set, not_plain

if TYPE_CHECKING:
    from pathlib import Path

    from hansei.config import Environment
    from hansei.installation.launcher import Launcher

SECONDS = 5
"""Far more than the hook takes, far less than the agent's own limit of a minute."""

EVENTS = (
    HookEvent("SessionStart", "1.0.62", "changelog; package; not in that of 1.0.54"),
    HookEvent("UserPromptSubmit", "1.0.54", "changelog; package; not in that of 1.0.48"),
    HookEvent("PreToolUse", "1.0.38", "changelog; package"),
    HookEvent("PostToolUse", "1.0.38", "changelog; package"),
    HookEvent(
        "PostToolUseFailure",
        "2.0.56",
        "package; not in that of 2.0.55; the changelog does not tell",
    ),
    HookEvent("Stop", "1.0.38", "changelog; package"),
    HookEvent(
        "SubagentStart", "2.0.43", "changelog; not in the package of 2.0.42, in that of 2.0.44"
    ),
    HookEvent("SubagentStop", "1.0.41", "changelog; package; not in that of 1.0.38"),
    HookEvent("SessionEnd", "1.0.85", "changelog; package; not in that of 1.0.84"),
    HookEvent("PreCompact", "1.0.48", "changelog; package; not in that of 1.0.41"),
)


def folder(environment: Environment) -> Path:
    return environment.folder("CLAUDE_CONFIG_DIR", ".claude")


def targets(
    environment: Environment, events: tuple[str, ...], launcher: Launcher
) -> tuple[Target, ...]:
    entries = {event: grouped(launcher.command("claude_code", event), SECONDS) for event in events}
    return (Target(folder(environment) / "settings.json", HookLists(entries)),)


def switched_off(environment: Environment) -> str | None:
    path = folder(environment) / "settings.json"
    off = f'"disableAllHooks" is true in {path}' if is_set(path, "disableAllHooks") else None
    return not_plain(path) or off


AGENT = Agent(
    name="claude_code",
    title="Claude Code",
    programs=("claude",),
    folder=folder,
    events=EVENTS,
    targets=targets,
    switched_off=switched_off,
)
