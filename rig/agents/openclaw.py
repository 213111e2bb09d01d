"""OpenClaw: `openclaw agent --local`, a provider of ours in openclaw.json, no gateway."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, ClassVar

from rig.script import SMALL, Call
from rig.wires import chat

if TYPE_CHECKING:
    from rig.agent import Launch
    from rig.place import Place
    from rig.wire import Wire

_CONTEXT = 200_000
_SMALL_CONTEXT = 24_000
_NO_HOOKS = "its hooks run in the gateway, and `openclaw agent --local` has none"


class OpenClaw:
    name = "openclaw"
    title = "OpenClaw"
    package = "openclaw"
    program = "openclaw"
    wire: Wire = chat.WIRE
    instructions = "AGENTS.md"
    skills = ".agents/skills"
    hook_events: tuple[str, ...] = ()
    needs: ClassVar[tuple[str, ...]] = ("node",)
    silent: ClassVar[frozenset[str]] = frozenset(("version", "driver"))
    lacks: ClassVar[dict[str, str]] = {
        "asked_server": "`hansei init --plugin` has no package for it",
        "declined_tool": "a denied tool is not offered to the model; of an answer that calls it all"
        " the same nothing is written down",
        "fork": "a session cannot be forked from the command line",
        "guarded_call": _NO_HOOKS,
        "hook_crash": _NO_HOOKS,
        "instruction_file": "it does not write down which instructions it gave the model",
        "interruption": "on Ctrl-C it ends at once and writes nothing more down",
        "nudge": _NO_HOOKS,
        "own_hook_broken": _NO_HOOKS,
        "own_hooks": _NO_HOOKS,
        "randomised_exposure": _NO_HOOKS,
        "session_start": _NO_HOOKS,
        "status_line": "no command for its status line is documented",
        "subagent": "without a gateway it starts none: `published reply runtime missing`",
    }

    def settle(self, place: Place, url: str) -> None:
        text = json.dumps(_settings(place, url))
        place.write(place.home / ".openclaw/openclaw.json", text)

    def variables(self, place: Place, url: str) -> dict[str, str]:
        return {}

    def command(self, launch: Launch) -> list[str]:
        model = SMALL if launch.compacting else "large"
        place = ["--session-id", launch.session] if launch.session else _new(launch)
        options = ["--local", "--json", f"--model=rig/{model}"]
        return ["agent", *options, *place, "--message", launch.prompt]

    def session(self, out: str) -> str | None:
        try:
            told = json.loads(out)
        except ValueError:
            return None
        return str(told["meta"]["agentMeta"]["sessionId"])

    def hook(self, place: Place, commands: dict[str, str], timeout: int) -> None:
        raise NotImplementedError(self.lacks["hook_crash"])

    def shell(self, command: str) -> Call:
        return Call("exec", {"command": command})

    def server(self, tool: str, arguments: dict[str, Any]) -> Call:
        return Call(f"hansei__{tool}", arguments)

    def forbid(self, place: Place) -> Call:
        raise NotImplementedError(self.lacks["declined_tool"])

    def spawn(self, prompt: str) -> Call:
        return Call("sessions_spawn", {"task": prompt})

    def skill(self, name: str) -> Call | None:
        return Call("read", {"path": f"{self.skills}/{name}/SKILL.md"})

    def naming(self, skill: str) -> str:
        return ""


def _new(launch: Launch) -> list[str]:
    """A session of its own: all that name none are one."""
    name = hashlib.blake2b(launch.prompt.encode(), digest_size=4).hexdigest()
    return ["--session-key", f"agent:main:rig-{name}"]


def _settings(place: Place, url: str) -> dict[str, Any]:
    models = [
        {
            "id": name,
            "name": name,
            "reasoning": False,
            "input": ["text"],
            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
            "contextWindow": context,
            "maxTokens": 1000,
        }
        for name, context in (("large", _CONTEXT), (SMALL, _SMALL_CONTEXT))
    ]
    provider = {
        "baseUrl": f"{url}/v1",
        "apiKey": "rig",
        "api": "openai-completions",
        "models": models,
    }
    defaults = {
        "workspace": str(place.project),
        "skipBootstrap": True,
        "model": {"primary": "rig/large"},
        # Else it first asks, in a turn that it does not write down, what is to be remembered.
        "compaction": {"memoryFlush": {"enabled": False}},
    }
    return {
        "gateway": {"mode": "local"},
        "agents": {"defaults": defaults},
        "tools": {
            "profile": "coding",
            "toolSearch": False,
            "exec": {"host": "gateway", "security": "full", "ask": "off"},
        },
        "models": {"mode": "merge", "providers": {"rig": provider}},
    }


AGENT = OpenClaw()
