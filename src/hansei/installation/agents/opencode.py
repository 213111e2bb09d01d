"""OpenCode: a plug-in of our own, because its hooks are functions in its own process.

It loads every `.js` file in the folder `plugins` of its configuration (also `plugin`, the older
name; both stand in the program of 1.18.33). The plug-in hands what it is told to the launcher and
waits for nothing. It was seen to run in 1.18.33; earlier versions were not tried. `since` is 1.0.0
because the documentation of version 1 describes these plug-ins as they are today.

Our package is an entry under `mcp` in `opencode.json`, or `opencode.jsonc` where a person has that,
and skills in `skills`; both were seen to work in 1.18.33. It also reads skills below
`~/.claude/skills`, so ours have the same names there, and one of the two is taken.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hansei.installation.contract import Agent, HookEvent, OwnFile, Target
from hansei.installation.packages import SKILLS, is_ours, skill_files
from hansei.installation.servers import JsonServer

if TYPE_CHECKING:
    from pathlib import Path

    from hansei.config import Environment
    from hansei.installation.launcher import Launcher

_TYPES = "types of @opencode-ai/plugin 1.18.33"

EVENTS = (
    HookEvent("session.created", "1.0.0", "documentation of plug-ins; seen in 1.18.33"),
    HookEvent("chat.message", "1.0.0", f"{_TYPES}; seen in 1.18.33"),
    HookEvent("tool.execute.before", "1.0.0", f"{_TYPES}; seen in 1.18.33"),
    HookEvent("tool.execute.after", "1.0.0", f"{_TYPES}; seen in 1.18.33"),
    HookEvent("session.idle", "1.0.0", "documentation of plug-ins; seen in 1.18.33"),
    HookEvent("session.compacted", "1.0.0", "documentation of plug-ins"),
    HookEvent("session.deleted", "1.0.0", "documentation of plug-ins"),
)

PLUGIN = """\
// Written by `hansei init`, removed by `hansei init --uninstall`.
// It tells hansei-hook what happens, waits for nothing, and never fails.
import { spawn } from "node:child_process";

const LAUNCHER = __LAUNCHER__;
const EVENTS = ["session.created", "session.idle", "session.compacted", "session.deleted"];

function tell(event, said) {
  try {
    const child = spawn(LAUNCHER, ["opencode", event], { stdio: ["pipe", "ignore", "ignore"] });
    child.on("error", () => {});
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(said));
    child.unref();
  } catch {}
}

export const Hansei = async ({ directory }) => ({
  event: async ({ event }) => {
    if (!EVENTS.includes(event.type)) return;
    const info = event.properties?.info;
    const sessionID = event.properties?.sessionID ?? info?.id;
    tell(event.type, { sessionID, directory: info?.directory ?? directory });
  },
  "chat.message": async (input, output) => {
    const prompt = (output.parts ?? []).map((part) => part.text ?? "").join("\\n");
    tell("chat.message", { sessionID: input.sessionID, directory, prompt });
  },
  "tool.execute.before": async (input, output) => {
    const { sessionID, callID, tool } = input;
    tell("tool.execute.before", { sessionID, callID, tool, directory, args: output.args });
  },
  "tool.execute.after": async (input, output) => {
    const { sessionID, callID, tool } = input;
    tell("tool.execute.after", { sessionID, callID, tool, directory, output: output.output });
  },
});
"""


def folder(environment: Environment) -> Path:
    named = environment.variables.get("OPENCODE_CONFIG_DIR", "").strip()
    if named:
        return environment.folder("OPENCODE_CONFIG_DIR")
    return environment.folder("XDG_CONFIG_HOME", ".config") / "opencode"


def targets(
    environment: Environment, events: tuple[str, ...], launcher: Launcher
) -> tuple[Target, ...]:
    text = PLUGIN.replace("__LAUNCHER__", json.dumps(str(launcher.path))) if events else None
    home = folder(environment)
    there = is_ours(home / "skills" / SKILLS[0].name / "SKILL.md")
    wanted = bool(events) and (launcher.package or there)
    entry = {"type": "local", "command": [str(launcher.server)]} if wanted else None
    plain, commented = home / "opencode.json", home / "opencode.jsonc"
    in_plain = plain.exists() or not commented.exists()
    return (
        Target(home / "plugins" / "hansei.js", OwnFile(text, events)),
        Target(plain, JsonServer("mcp", entry if in_plain else None)),
        Target(commented, JsonServer("mcp", None if in_plain else entry)),
        *skill_files(home / "skills", wanted=wanted),
    )


AGENT = Agent(
    name="opencode",
    title="OpenCode",
    programs=("opencode",),
    folder=folder,
    events=EVENTS,
    targets=targets,
    package_since="1.0.0",
)
