"""Codex: `codex exec`, settings in config.toml, hooks that it must be told to trust."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

from rig.script import SMALL, Call
from rig.wires import responses

if TYPE_CHECKING:
    from rig.agent import Launch
    from rig.place import Place
    from rig.wire import Wire

_COLLABORATION = "multi_agent_v1"
_SMALL_CONTEXT = 10_000
"""Tokens: fewer than a request to the model `rig` tells, more than one to `small` does."""

_SETTINGS = """\
model = "rig"
model_provider = "rig"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[features]
multi_agent = true
daemon_auto_start = false

[analytics]
enabled = false

[model_providers.rig]
name = "rig"
base_url = "{url}/v1"
wire_api = "responses"
"""

_RULES = 'prefix_rule(pattern=["touch", "forbidden"], decision="forbidden")\n'


class Codex:
    name = "codex"
    title = "Codex"
    package = "@openai/codex"
    program = "codex"
    wire: Wire = responses.WIRE
    instructions = "AGENTS.md"
    skills = ".agents/skills"
    hook_events: tuple[str, ...] = (
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "Stop",
        "SubagentStart",
        "SubagentStop",
        "SessionEnd",
        "PreCompact",
    )
    needs: ClassVar[tuple[str, ...]] = ()
    silent: ClassVar[frozenset[str]] = frozenset()
    lacks: ClassVar[dict[str, str]] = {
        "status_line": "no command for its status line is documented",
        "nudge": "it has no hook for failed calls",
    }

    def settle(self, place: Place, url: str) -> None:
        place.write(place.home / ".codex/config.toml", _SETTINGS.format(url=url))

    def variables(self, place: Place, url: str) -> dict[str, str]:
        return {"CODEX_HOME": str(place.home / ".codex")}

    def command(self, launch: Launch) -> list[str]:
        trust = ["--dangerously-bypass-hook-trust"] if launch.hooked else []
        small = ["-m", SMALL, "-c", f"model_auto_compact_token_limit={_SMALL_CONTEXT}"]
        going_on = ["fork" if launch.fork else "resume", launch.session] if launch.session else []
        return [
            "exec",
            "--json",
            *trust,
            *(small if launch.compacting else []),
            *going_on,
            launch.prompt,
        ]

    def session(self, out: str) -> str | None:
        for line in out.splitlines():
            if '"thread.started"' in line:
                return str(json.loads(line)["thread_id"])
        return None

    def hook(self, place: Place, commands: dict[str, str], timeout: int) -> None:
        hooks = {
            event: [{"hooks": [{"type": "command", "command": command, "timeout": timeout}]}]
            for event, command in commands.items()
        }
        place.write(place.home / ".codex/hooks.json", json.dumps({"hooks": hooks}))

    def shell(self, command: str) -> Call:
        return Call("exec_command", {"cmd": command})

    def server(self, tool: str, arguments: dict[str, Any]) -> Call:
        return Call(tool, arguments, "mcp__hansei")

    def forbid(self, place: Place) -> Call:
        place.write(place.home / ".codex/rules/rig.rules", _RULES)
        return self.shell("touch forbidden")

    def spawn(self, prompt: str) -> Call:
        return Call("spawn_agent", {"message": prompt, "fork_context": False}, _COLLABORATION)

    def skill(self, name: str) -> Call | None:
        return None

    def naming(self, skill: str) -> str:
        return f" ${skill}"


AGENT = Codex()
