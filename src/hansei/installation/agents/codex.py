"""Codex: hooks in `hooks.json` of its home, or in `config.toml` where a person keeps them there.

The versions are those of the first release that contains the change in its public repository.
Hooks are on by default since 0.124.0, so nothing is installed before that. Since 0.129.0 a new or
changed hook runs only after the person has trusted it in `/hooks`. That is the person's decision:
we say so and never write the mark ourselves. Seen to run in 0.166.0.

Our package is a table `mcp_servers.hansei` in `config.toml`, as `codex mcp add` writes it, and
skills in `skills` of its home.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hansei.installation import settings
from hansei.installation.contract import Agent, Both, HookEvent, Target
from hansei.installation.hook_lists import HookLists, command_of, grouped
from hansei.installation.launcher import is_ours
from hansei.installation.packages import SKILLS, skill_files
from hansei.installation.packages import is_ours as is_own_file
from hansei.installation.servers import TomlServer
from hansei.installation.toml_lines import TomlHooks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hansei.config import Environment
    from hansei.installation.launcher import Launcher

SECONDS = 5
SECONDS_AT_THE_END = 3
"""Codex allows SessionEnd no more and warns of a larger number."""
STABLE = "0.124.0"

EVENTS = (
    HookEvent("SessionStart", STABLE, "244b2d53f4 in 0.114.0; on by default since 23afa173f4"),
    HookEvent("UserPromptSubmit", STABLE, "6fef421654 in 0.116.0; on by default since 0.124.0"),
    HookEvent("PreToolUse", STABLE, "73bbb07ba8 in 0.117.0; on by default since 0.124.0"),
    HookEvent("PostToolUse", STABLE, "c4d9887f9a in 0.117.0; on by default since 0.124.0"),
    HookEvent("Stop", STABLE, "244b2d53f4 in 0.114.0; on by default since 0.124.0"),
    HookEvent("PreCompact", "0.129.0", "527d52df03"),
    HookEvent("SubagentStart", "0.133.0", "d661ab70ed"),
    HookEvent("SubagentStop", "0.133.0", "eee3e60db3"),
    HookEvent("SessionEnd", "0.145.0", "7bd44085e1"),
)


def folder(environment: Environment) -> Path:
    return environment.folder("CODEX_HOME", ".codex")


def targets(
    environment: Environment, events: tuple[str, ...], launcher: Launcher
) -> tuple[Target, ...]:
    """Both files are looked at, and our hooks end up in one: Codex warns where both hold some."""
    json, toml = folder(environment) / "hooks.json", folder(environment) / "config.toml"
    entries = {
        event: grouped(
            launcher.command("codex", event),
            SECONDS_AT_THE_END if event == "SessionEnd" else SECONDS,
        )
        for event in events
    }
    in_toml = not json.exists() and _lists_hooks(toml)
    skills = folder(environment) / "skills"
    there = is_own_file(skills / SKILLS[0].name / "SKILL.md")
    wanted = bool(events) and (launcher.package or there)
    server = TomlServer(str(launcher.server) if wanted else None)
    return (
        Target(json, HookLists({} if in_toml else entries)),
        Target(toml, Both(TomlHooks(entries if in_toml else {}), server)),
        *skill_files(skills, wanted=wanted),
    )


def _lists_hooks(toml: Path) -> bool:
    hooks = settings.load(toml).get("hooks")
    return isinstance(hooks, dict) and any(isinstance(value, list) for value in hooks.values())


def to_do(environment: Environment) -> str | None:
    """Whether the person still has to trust our hooks."""
    home = folder(environment)
    hooks = settings.load(home / "config.toml").get("hooks")
    marks = hooks.get("state") if isinstance(hooks, dict) else None
    trusted = [
        key
        for key, mark in (marks.items() if isinstance(marks, dict) else ())
        if isinstance(mark, dict) and mark.get("trusted_hash")
    ]
    wanted = [*_keys(home / "hooks.json"), *_keys(home / "config.toml")]
    if wanted and all(any(key.endswith(end) for key in trusted) for end in wanted):
        return None
    return "start codex, type /hooks and trust those of hansei-hook; it does not run them before"


def _keys(path: Path) -> Iterator[str]:
    """How Codex names our hooks in its list of trusted ones, from the file's name on."""
    hooks: Any = settings.load(path).get("hooks")
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for place, group in enumerate(groups if isinstance(groups, list) else ()):
            inner = group.get("hooks") if isinstance(group, dict) else None
            for order, handler in enumerate(inner if isinstance(inner, list) else ()):
                if is_ours(command_of(handler)):
                    label = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", event).lower()
                    yield f"{path.name}:{label}:{place}:{order}"


def switched_off(environment: Environment) -> str | None:
    path = folder(environment) / "config.toml"
    off = settings.is_set(path, "features", "hooks", to=False)
    disabled = f"[features] hooks is false in {path}" if off else None
    return settings.not_plain(path.with_name("hooks.json")) or disabled


AGENT = Agent(
    name="codex",
    title="Codex",
    programs=("codex",),
    folder=folder,
    events=EVENTS,
    targets=targets,
    package_since=STABLE,
    to_do=to_do,
    switched_off=switched_off,
)
