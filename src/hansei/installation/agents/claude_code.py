"""Claude Code: hooks in `settings.json` of its configuration folder.

Until 2.1.100 an event name that the program does not know made it ignore the whole file (its
changelog, 2.1.101), so only events that the version at hand accepts are written. "package" below
means that the published npm package of that version was looked into and holds the name.
Seen to run in 2.1.325, which ignores a file with comments or trailing commas and says so.

Our package is a plug-in in `skills/hansei` of the same folder: a folder of skills that holds
`.claude-plugin/plugin.json` is loaded as one, without a marketplace. So it was seen in 2.1.325
(`claude plugin init` makes one there, `claude plugin list` names it); since when is not known.
Where the plug-in is, it holds the hooks, and the settings hold none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.hook.record import STATUS_LINE
from hansei.installation.contract import Agent, Both, HookEvent, OwnFile, Target
from hansei.installation.hook_lists import HookLists, grouped
from hansei.installation.packages import SERVER, WRITTEN, is_ours, own_json, skill_files
from hansei.installation.settings import is_set, not_plain
from hansei.installation.status_lines import StatusLine

if TYPE_CHECKING:
    from pathlib import Path

    from hansei.config import Environment
    from hansei.installation.launcher import Launcher

MANIFEST = ".claude-plugin/plugin.json"
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
    """The settings, and the plug-in where it is wanted or there already."""
    entries = {event: grouped(launcher.command("claude_code", event), SECONDS) for event in events}
    plug_in = folder(environment) / "skills" / "hansei"
    wanted = bool(events) and (launcher.package or is_ours(plug_in / MANIFEST))
    status = StatusLine(launcher.command("claude_code", STATUS_LINE), launcher.status_line)
    settings = Both(HookLists({} if wanted else entries), status)
    hooks = own_json({"hooks": {it: [entry] for it, entry in entries.items()}}, wanted=wanted)
    server = {"mcpServers": {SERVER: {"command": str(launcher.server)}}}
    return (
        Target(plug_in / MANIFEST, own_json(_manifest(), wanted=wanted)),
        Target(plug_in / "hooks" / "hooks.json", OwnFile(hooks.text, events if wanted else ())),
        Target(plug_in / ".mcp.json", own_json(server, wanted=wanted)),
        *skill_files(plug_in / "skills", wanted=wanted),
        Target(folder(environment) / "settings.json", settings),
    )


def _manifest() -> dict[str, object]:
    from hansei import __version__

    return {
        "name": "hansei",
        "version": __version__,
        "description": f"What went wrong here before, and what helped. {WRITTEN}",
        "author": {"name": "hansei"},
    }


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
    package_since="2.1.325",
    switched_off=switched_off,
)
