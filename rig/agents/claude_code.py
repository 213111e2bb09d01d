"""Claude Code: print mode, settings in the home, hooks of its own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

from rig.script import Call
from rig.wires import anthropic

if TYPE_CHECKING:
    from rig.agent import Launch
    from rig.place import Place
    from rig.wire import Wire


class ClaudeCode:
    name = "claude_code"
    title = "Claude Code"
    package = "@anthropic-ai/claude-code"
    program = "claude"
    wire: Wire = anthropic.WIRE
    instructions = "CLAUDE.md"
    skills = ".claude/skills"
    hook_events: tuple[str, ...] = (
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "Stop",
        "SubagentStart",
        "SubagentStop",
        "SessionEnd",
        "PreCompact",
    )
    needs: ClassVar[tuple[str, ...]] = ()
    silent: ClassVar[frozenset[str]] = frozenset()
    lacks: ClassVar[dict[str, str]] = {}

    def settle(self, place: Place, url: str) -> None:
        """Nothing to write: the environment says it all."""

    def variables(self, place: Place, url: str) -> dict[str, str]:
        return {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "rig",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }

    def command(self, launch: Launch) -> list[str]:
        prompt = "/compact" if launch.compacting else launch.prompt
        going_on = ["--resume", launch.session] if launch.session else []
        fork = ["--fork-session"] if launch.fork else []
        return [
            "--print",
            prompt,
            "--output-format=json",
            "--allowedTools=Bash,Skill,Agent,mcp__plugin_hansei_hansei",
            *going_on,
            *fork,
        ]

    def session(self, out: str) -> str | None:
        try:
            told = json.loads(out)
        except ValueError:
            return None
        return str(told["session_id"]) if "session_id" in told else None

    def hook(self, place: Place, commands: dict[str, str], timeout: int) -> None:
        hooks = {
            event: [{"hooks": [{"type": "command", "command": command, "timeout": timeout}]}]
            for event, command in commands.items()
        }
        place.write(place.home / ".claude/settings.json", json.dumps({"hooks": hooks}))

    def shell(self, command: str) -> Call:
        return Call("Bash", {"command": command, "description": "As scripted"})

    def server(self, tool: str, arguments: dict[str, Any]) -> Call:
        return Call(f"mcp__plugin_hansei_hansei__{tool}", arguments)

    def forbid(self, place: Place) -> Call:
        """What is not allowed is refused: there is nobody to ask."""
        return Call("Write", {"file_path": str(place.project / "forbidden"), "content": "no"})

    def spawn(self, prompt: str) -> Call:
        kind = {"description": "A part of the work", "subagent_type": "general-purpose"}
        return Call("Agent", {**kind, "prompt": prompt})

    def skill(self, name: str) -> Call | None:
        return Call("Skill", {"skill": name})

    def naming(self, skill: str) -> str:
        return ""


AGENT = ClaudeCode()
