"""OpenClaw: an internal hook of our own in `~/.openclaw/hooks`, which the person enables.

Learnt from the documentation inside the npm package 2026.9.6, not tried in a running gateway. Only
events whose documented context names the session are listened to. We do not enable the hook in
OpenClaw's configuration: named entries there are an allow-list, so adding ours could switch off
others that ran without being named.
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

_SHIPPED = "documentation inside 2026.9.6; not tried"

EVENTS = tuple(
    HookEvent(name, "2026.9.6", _SHIPPED)
    for name in ("agent:bootstrap", "session:compact:before", "session:compact:after")
)

MANUAL = """\
---
name: hansei
description: "Note when sessions begin and are compacted, for hansei"
metadata: { "openclaw": { "events": __EVENTS__ } }
---

# hansei

Written by `hansei init`, removed by `hansei init --uninstall`. It tells `hansei-hook` which session
began or was compacted, in which folder. It passes on no text and changes nothing.
"""

HANDLER = """\
// Written by `hansei init`, removed by `hansei init --uninstall`.
import { spawn } from "node:child_process";

const LAUNCHER = __LAUNCHER__;

export default function handler(event) {
  try {
    const { sessionId, workspaceDir } = event.context ?? {};
    const said = JSON.stringify({ sessionId, workspaceDir });
    const stdio = ["pipe", "ignore", "ignore"];
    const child = spawn(LAUNCHER, ["openclaw", `${event.type}:${event.action}`], { stdio });
    child.on("error", () => {});
    child.stdin.on("error", () => {});
    child.stdin.end(said);
    child.unref();
  } catch {}
}
"""


def folder(environment: Environment) -> Path:
    return environment.folder("OPENCLAW_STATE_DIR", ".openclaw")


def targets(
    environment: Environment, events: tuple[str, ...], launcher: Launcher
) -> tuple[Target, ...]:
    place = folder(environment) / "hooks" / "hansei"
    manual = MANUAL.replace("__EVENTS__", json.dumps(list(events))) if events else None
    handler = HANDLER.replace("__LAUNCHER__", json.dumps(str(launcher.path))) if events else None
    return (
        Target(place / "HOOK.md", OwnFile(manual, events)),
        Target(place / "handler.js", OwnFile(handler, events)),
    )


def to_do(environment: Environment) -> str | None:
    path = folder(environment) / "openclaw.json"
    if is_set(path, "hooks", "internal", "entries", "hansei", "enabled"):
        return None
    return "run `openclaw hooks enable hansei`; it does not run the hook before"


def switched_off(environment: Environment) -> str | None:
    path = folder(environment) / "openclaw.json"
    off = is_set(path, "hooks", "internal", "enabled", to=False)
    return f'"hooks.internal.enabled" is false in {path}' if off else None


AGENT = Agent(
    name="openclaw",
    title="OpenClaw",
    programs=("openclaw",),
    folder=folder,
    events=EVENTS,
    targets=targets,
    to_do=to_do,
    switched_off=switched_off,
)
