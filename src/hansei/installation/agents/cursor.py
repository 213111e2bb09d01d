"""Cursor: hooks in `~/.cursor/hooks.json`, shared by the editor and its command line agent.

Hooks came with 1.7, six of them (release notes; GitButler's account of the beta). Those of
sessions, tools and subagents followed. The earliest version reported to run `sessionStart` is a
preview of 2.5.0, and a thread in its forum (149566) tells of one that refused the name, so the
later ones are written from 2.5 on. A file without `version` is refused as a whole (reports of
several projects). Cursor is not on npm and was not run here.

Our package is an entry in `~/.cursor/mcp.json` (documentation: cursor.com/docs/mcp) and skills in
`~/.cursor/skills`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.installation.contract import Agent, HookEvent, Target
from hansei.installation.hook_lists import HookLists, flat
from hansei.installation.packages import SKILLS, is_ours, skill_files
from hansei.installation.servers import JsonServer

if TYPE_CHECKING:
    from pathlib import Path

    from hansei.config import Environment
    from hansei.installation.launcher import Launcher

SECONDS = 5
_LATER = "documentation (cursor.com/docs/hooks); sessionStart reported from 2.5.0-pre.31"

EVENTS = (
    HookEvent("sessionStart", "2.5", _LATER),
    HookEvent("beforeSubmitPrompt", "1.7", "release notes of 1.7"),
    HookEvent("preToolUse", "2.5", _LATER),
    HookEvent("postToolUse", "2.5", _LATER),
    HookEvent("postToolUseFailure", "2.5", _LATER),
    HookEvent("stop", "1.7", "release notes of 1.7; the only place that tells tokens"),
    HookEvent("subagentStart", "2.5", _LATER),
    HookEvent("subagentStop", "2.5", _LATER),
    HookEvent("sessionEnd", "2.5", _LATER),
    HookEvent("preCompact", "2.5", _LATER),
)


def folder(environment: Environment) -> Path:
    return environment.home / ".cursor"


def targets(
    environment: Environment, events: tuple[str, ...], launcher: Launcher
) -> tuple[Target, ...]:
    entries = {event: flat(launcher.command("cursor", event), SECONDS) for event in events}
    home = folder(environment)
    there = is_ours(home / "skills" / SKILLS[0].name / "SKILL.md")
    wanted = bool(events) and (launcher.package or there)
    entry = {"command": str(launcher.server)} if wanted else None
    return (
        Target(home / "hooks.json", HookLists(entries, {"version": 1})),
        Target(home / "mcp.json", JsonServer("mcpServers", entry)),
        *skill_files(home / "skills", wanted=wanted),
    )


AGENT = Agent(
    name="cursor",
    title="Cursor",
    programs=("cursor", "cursor-agent"),
    folder=folder,
    events=EVENTS,
    targets=targets,
    package_since="2.5",
    manifests=(
        "/Applications/Cursor.app/Contents/Resources/app/package.json",
        "~/Applications/Cursor.app/Contents/Resources/app/package.json",
        "/usr/share/cursor/resources/app/package.json",
        "/opt/Cursor/resources/app/package.json",
        "~/AppData/Local/Programs/cursor/resources/app/package.json",
    ),
)
