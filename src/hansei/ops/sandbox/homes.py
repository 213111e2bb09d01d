"""Where each agent keeps its state, and by which programs it is known."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hansei.config import Environment


@dataclass(frozen=True)
class Place:
    """A folder or file an agent writes to."""

    default: str
    """Below the home folder."""
    variable: str = ""
    """A variable of the environment that names another place."""
    below: str = ""
    """The part below what the variable names."""
    content: str | None = None
    """What a file holds that is not there yet; None for folders."""
    unless: str = ""
    """A variable that, where it is set, says that this place is not used."""

    def path(self, environment: Environment) -> Path | None:
        """Where it is; None where it is not used."""
        if self.unless and environment.variables.get(self.unless, "").strip():
            return None
        named = environment.variables.get(self.variable, "").strip() if self.variable else ""
        if not named:
            return environment.home / self.default
        return Path(named).expanduser() / self.below


@dataclass(frozen=True)
class Home:
    """One agent."""

    programs: tuple[str, ...]
    """What it is called on the PATH, and as a package."""
    places: tuple[Place, ...]


def _xdg(name: str, *kinds: str) -> tuple[Place, ...]:
    return tuple(Place(f"{_XDG[kind]}/{name}", kind, name) for kind in kinds)


_XDG = {
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
    "XDG_CACHE_HOME": ".cache",
}

HOMES = {
    "claude_code": Home(
        ("claude", "@anthropic-ai/claude-code"),
        (
            Place(".claude", "CLAUDE_CONFIG_DIR"),
            Place(".claude.json", content="{}\n", unless="CLAUDE_CONFIG_DIR"),
            *_xdg("claude-cli-nodejs", "XDG_CACHE_HOME"),
        ),
    ),
    "codex": Home(("codex", "@openai/codex"), (Place(".codex", "CODEX_HOME"),)),
    "copilot": Home(
        ("copilot", "@github/copilot"),
        # It unpacks itself into the cache.
        (Place(".copilot", "COPILOT_HOME"), *_xdg("copilot", "XDG_CACHE_HOME")),
    ),
    "cursor": Home(
        ("cursor-agent", "cursor"),
        (Place(".cursor", "CURSOR_CONFIG_DIR"), *_xdg("cursor", "XDG_CONFIG_HOME")),
    ),
    "gemini": Home(("gemini", "@google/gemini-cli"), (Place(".gemini"),)),
    "goose": Home(("goose",), _xdg("goose", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")),
    "openclaw": Home(("openclaw",), (Place(".openclaw", "OPENCLAW_STATE_DIR"),)),
    "opencode": Home(("opencode", "opencode-ai"), _xdg("opencode", *_XDG)),
}
"""The agents, by the names hansei gives them."""

RUNNERS = frozenset(
    ("npx", "bunx", "pnpx", "bun", "pnpm", "yarn", "npm", "node", "env", "nice", "nohup", "timeout")
)
"""Programs that run the one they are told to."""


def agent_of(command: Sequence[str]) -> str | None:
    """Which agent a command starts; None where hansei does not know it."""
    words = [word for word in command if not word.startswith("-")]
    if not words:
        return None
    considered = words if PurePath(words[0]).name in RUNNERS else words[:1]
    for word in considered:
        version = word.find("@", 1)
        plain = word[:version] if version > 0 else word
        for agent, home in HOMES.items():
            if plain in home.programs or PurePath(plain).name in home.programs:
                return agent
    return None


def places_of(agent: str, environment: Environment) -> list[tuple[Place, Path]]:
    """Where an agent keeps its state on this machine."""
    found = [(place, place.path(environment)) for place in HOMES[agent].places]
    return [(place, path) for place, path in found if path is not None]
