"""Gemini CLI: `gemini --prompt`, settings in the home, policies that refuse calls."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

from rig.script import Call
from rig.wires import gemini

if TYPE_CHECKING:
    from rig.agent import Launch
    from rig.place import Place
    from rig.wire import Wire

_MODEL = "gemini-2.5-pro"
_SMALL_MODEL = "gemma-4-31b-it"
"""One with a quarter of the other's context."""
_SETTINGS: dict[str, Any] = {
    "general": {
        "enableAutoUpdate": False,
        "enableAutoUpdateNotification": False,
        # Else it deletes at its next start what it takes for broken. A session that was given a
        # text by a hook and resumed in another minute was seen to be taken for that.
        "sessionRetention": {"enabled": False},
    },
    "privacy": {"usageStatisticsEnabled": False},
    # Of a request's 21,000 tokens, more than this share of the small context, less of the other.
    "model": {"compressionThreshold": 0.05},
    "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
}
_POLICY = """\
[[rule]]
toolName = "run_shell_command"
commandPrefix = "touch forbidden"
decision = "deny"
priority = 900
"""


class GeminiCli:
    name = "gemini_cli"
    title = "Gemini CLI"
    package = "@google/gemini-cli"
    program = "gemini"
    wire: Wire = gemini.WIRE
    instructions = "GEMINI.md"
    skills = ".gemini/skills"
    hook_events: tuple[str, ...] = (
        "SessionStart",
        "BeforeAgent",
        "BeforeTool",
        "AfterTool",
        "AfterAgent",
        "SessionEnd",
    )
    needs: ClassVar[tuple[str, ...]] = ()
    silent: ClassVar[frozenset[str]] = frozenset(("version", "driver", "call"))
    lacks: ClassVar[dict[str, str]] = {
        "asked_server": "`hansei init --plugin` has no package for it",
        "fork": "a session cannot be forked from the command line",
        "interruption": "on Ctrl-C it ends at once and writes nothing more down",
        "nudge": "it has no hook for failed calls",
        "status_line": "no command for its status line is documented",
    }

    def settle(self, place: Place, url: str) -> None:
        place.write(place.home / ".gemini/settings.json", json.dumps(_SETTINGS))

    def variables(self, place: Place, url: str) -> dict[str, str]:
        return {"GEMINI_API_KEY": "rig", "GOOGLE_GEMINI_BASE_URL": url}

    def command(self, launch: Launch) -> list[str]:
        model = _SMALL_MODEL if launch.compacting else _MODEL
        going_on = ["--resume", launch.session] if launch.session else []
        options = ["--yolo", "--output-format=stream-json", f"--model={model}"]
        return ["--prompt", launch.prompt, *options, *going_on]

    def session(self, out: str) -> str | None:
        for line in out.splitlines():
            if '"init"' in line and '"session_id"' in line:
                return str(json.loads(line)["session_id"])
        return None

    def hook(self, place: Place, commands: dict[str, str], timeout: int) -> None:
        hooks = {
            event: [{"hooks": [{"type": "command", "command": command, "timeout": timeout * 1000}]}]
            for event, command in commands.items()
        }
        settings = {**_SETTINGS, "hooks": hooks}
        place.write(place.home / ".gemini/settings.json", json.dumps(settings))

    def shell(self, command: str) -> Call:
        return Call("run_shell_command", {"command": command, "description": "As scripted"})

    def server(self, tool: str, arguments: dict[str, Any]) -> Call:
        return Call(f"mcp_hansei_{tool}", arguments)

    def forbid(self, place: Place) -> Call:
        place.write(place.home / ".gemini/policies/rig.toml", _POLICY)
        return self.shell("touch forbidden")

    def spawn(self, prompt: str) -> Call:
        return Call("invoke_agent", {"agent_name": "generalist", "prompt": prompt})

    def skill(self, name: str) -> Call | None:
        return Call("activate_skill", {"name": name})

    def naming(self, skill: str) -> str:
        return ""


AGENT = GeminiCli()
