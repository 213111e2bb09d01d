"""OpenCode: `opencode run`, a provider of ours in opencode.json, plugins in the place of hooks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

from rig.script import SMALL, Call
from rig.wires import chat

if TYPE_CHECKING:
    from rig.agent import Launch
    from rig.place import Place
    from rig.wire import Wire

_CONTEXT = 200_000
_SMALL_CONTEXT = 10_000
"""Tokens: fewer than a request to the large model tells, more than one to the small model does."""


class OpenCode:
    name = "opencode"
    title = "OpenCode"
    package = "opencode-ai"
    program = "opencode"
    wire: Wire = chat.WIRE
    instructions = "AGENTS.md"
    skills = ".opencode/skills"
    hook_events: tuple[str, ...] = ()
    needs: ClassVar[tuple[str, ...]] = ()
    silent: ClassVar[frozenset[str]] = frozenset()
    lacks: ClassVar[dict[str, str]] = {
        "status_line": "no command for its status line is documented",
        "nudge": "its hooks deliver no text",
        "interruption": "on Ctrl-C `opencode run` ends at once and writes nothing more down",
        "instruction_file": "OpenCode does not write down which instructions it gave the model;"
        " hansei's own hooks tell",
        "session_start": "what a plug-in adds to a prompt leaves no trace to be read back",
        "randomised_exposure": "its plug-in hands on what happens and adds nothing to a prompt",
        "hook_crash": "OpenCode has plug-ins instead of hooks that call a command",
    }

    def settle(self, place: Place, url: str) -> None:
        _write(place, _settings(url))

    def variables(self, place: Place, url: str) -> dict[str, str]:
        return {
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            # It installs its plug-in types from npm at start; nothing here needs them.
            "npm_config_registry": url,
        }

    def command(self, launch: Launch) -> list[str]:
        model = SMALL if launch.compacting else "large"
        going_on = ["--session", launch.session] if launch.session else []
        fork = ["--fork"] if launch.fork else []
        return ["run", "--format=json", f"--model=rig/{model}", *going_on, *fork, launch.prompt]

    def session(self, out: str) -> str | None:
        for line in out.splitlines():
            if '"sessionID"' in line:
                return str(json.loads(line)["sessionID"])
        return None

    def hook(self, place: Place, commands: dict[str, str], timeout: int) -> None:
        raise NotImplementedError(self.lacks["hook_crash"])

    def shell(self, command: str) -> Call:
        return Call("bash", {"command": command, "description": "As scripted"})

    def server(self, tool: str, arguments: dict[str, Any]) -> Call:
        return Call(f"hansei_{tool}", arguments)

    def forbid(self, place: Place) -> Call:
        path = _path(place)
        settings = json.loads(path.read_text(encoding="utf-8"))
        _write(place, {**settings, "permission": {"bash": {"touch *": "deny"}}})
        return self.shell("touch forbidden")

    def spawn(self, prompt: str) -> Call:
        kind = {"description": "A part of the work", "subagent_type": "general"}
        return Call("task", {**kind, "prompt": prompt})

    def skill(self, name: str) -> Call | None:
        return Call("skill", {"name": name})

    def naming(self, skill: str) -> str:
        return ""


def _settings(url: str) -> dict[str, Any]:
    models = {
        name: {"name": name, "tool_call": True, "limit": {"context": context, "output": 1000}}
        for name, context in (("large", _CONTEXT), (SMALL, _SMALL_CONTEXT))
    }
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "rig",
        "options": {"baseURL": f"{url}/v1", "apiKey": "rig"},
        "models": models,
    }
    return {
        "autoupdate": False,
        "share": "disabled",
        "model": "rig/large",
        "small_model": "rig/large",
        "provider": {"rig": provider},
    }


def _path(place: Place) -> Any:
    return place.home / ".config/opencode/opencode.json"


def _write(place: Place, settings: dict[str, Any]) -> None:
    place.write(_path(place), json.dumps(settings))


AGENT = OpenCode()
