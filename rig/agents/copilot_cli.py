"""Copilot CLI: `copilot --prompt` with a provider of one's own, which needs no account."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

from rig.script import Call
from rig.wires import anthropic

if TYPE_CHECKING:
    from rig.agent import Launch
    from rig.place import Place
    from rig.wire import Wire


class CopilotCli:
    name = "copilot_cli"
    title = "Copilot CLI"
    package = "@github/copilot"
    program = "copilot"
    wire: Wire = anthropic.WIRE
    instructions = "AGENTS.md"
    skills = ".github/skills"
    hook_events: tuple[str, ...] = (
        "sessionStart",
        "userPromptSubmitted",
        "postToolUse",
        "agentStop",
        "sessionEnd",
    )
    needs: ClassVar[tuple[str, ...]] = ()
    silent: ClassVar[frozenset[str]] = frozenset(("driver", "call"))
    lacks: ClassVar[dict[str, str]] = {
        "asked_server": "`hansei init --plugin` has no package for it",
        "fork": "a session cannot be forked from the command line",
        "nudge": "hansei delivers no text to it",
        "randomised_exposure": "hansei delivers no text to it",
        "session_start": "hansei delivers no text to it",
        "status_line": "no command for its status line is documented",
    }

    def settle(self, place: Place, url: str) -> None:
        """Nothing to write: the environment says it all."""

    def variables(self, place: Place, url: str) -> dict[str, str]:
        return {
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_PROVIDER_TYPE": "anthropic",
            "COPILOT_PROVIDER_BASE_URL": url,
            "COPILOT_PROVIDER_API_KEY": "rig",
            "COPILOT_MODEL": "claude-sonnet-4.5",
        }

    def command(self, launch: Launch) -> list[str]:
        prompt = "/compact" if launch.compacting else launch.prompt
        options = ["--allow-all-tools", "--deny-tool=write", "--output-format=json"]
        going_on = [f"--resume={launch.session}"] if launch.session else []
        return ["--prompt", prompt, *options, *going_on]

    def session(self, out: str) -> str | None:
        for line in out.splitlines():
            if '"sessionId"' in line:
                told = json.loads(line)
                return str(told.get("sessionId") or told["data"]["sessionId"])
        return None

    def hook(self, place: Place, commands: dict[str, str], timeout: int) -> None:
        hooks = {
            event: [{"type": "command", "bash": command, "timeoutSec": timeout}]
            for event, command in commands.items()
        }
        text = json.dumps({"version": 1, "hooks": hooks})
        place.write(place.home / ".copilot/hooks/rig.json", text)

    def shell(self, command: str) -> Call:
        return Call("bash", {"command": command, "description": "As scripted", "mode": "sync"})

    def server(self, tool: str, arguments: dict[str, Any]) -> Call:
        return Call(f"hansei-{tool}", arguments)

    def forbid(self, place: Place) -> Call:
        """What is denied on the command line is refused."""
        return Call("create", {"path": str(place.project / "forbidden"), "file_text": "no"})

    def spawn(self, prompt: str) -> Call:
        kind = {"name": "part", "description": "A part", "agent_type": "general-purpose"}
        return Call("task", {**kind, "prompt": prompt})

    def skill(self, name: str) -> Call | None:
        return Call("skill", {"skill": name})

    def naming(self, skill: str) -> str:
        return ""


AGENT = CopilotCli()
