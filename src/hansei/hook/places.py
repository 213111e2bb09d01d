"""Which files each agent reads as instructions, in a repository and in the home folder.

Patterns are relative to a folder: `*` is one name, `**` any folders. An agent reads those of the
folders from the top of the repository down to where it stands when a session begins, and those
below once it works there. docs/concepts/hooks.md names the evidence for each agent.
"""

from __future__ import annotations

import re
from functools import cache

INSTRUCTIONS, RULE, SKILL, SERVER = "instructions", "rule", "skill", "mcp"

Pattern = tuple[str, str]
"""A kind and where it is found."""

_AGENTS_FILE: Pattern = (INSTRUCTIONS, "AGENTS.md")
_SHARED_SKILLS: Pattern = (SKILL, ".agents/skills/*/SKILL.md")
_CLAUDE_SKILLS: Pattern = (SKILL, ".claude/skills/*/SKILL.md")

IN_REPOSITORY: dict[str, tuple[Pattern, ...]] = {
    "claude_code": (
        (INSTRUCTIONS, "CLAUDE.md"),
        (INSTRUCTIONS, "CLAUDE.local.md"),
        (INSTRUCTIONS, ".claude/CLAUDE.md"),
        (RULE, ".claude/rules/**/*.md"),
        _CLAUDE_SKILLS,
        (SERVER, ".mcp.json"),
    ),
    "codex": (
        (INSTRUCTIONS, "AGENTS.override.md"),
        _AGENTS_FILE,
        _SHARED_SKILLS,
        (SERVER, ".codex/config.toml"),
    ),
    "cursor": (
        _AGENTS_FILE,
        (RULE, ".cursorrules"),
        (RULE, ".cursor/rules/**/*.mdc"),
        (SKILL, ".cursor/skills/*/SKILL.md"),
        _SHARED_SKILLS,
        (SERVER, ".cursor/mcp.json"),
    ),
    "copilot": (
        (INSTRUCTIONS, ".github/copilot-instructions.md"),
        (RULE, ".github/instructions/**/*.instructions.md"),
        _AGENTS_FILE,
    ),
    "gemini": (
        (INSTRUCTIONS, "GEMINI.md"),
        (SKILL, ".gemini/skills/*/SKILL.md"),
        _SHARED_SKILLS,
        (SERVER, ".gemini/settings.json"),
    ),
    "opencode": (
        _AGENTS_FILE,
        (SKILL, ".opencode/skills/*/SKILL.md"),
        _CLAUDE_SKILLS,
        _SHARED_SKILLS,
        (SERVER, "opencode.json"),
    ),
    "goose": ((INSTRUCTIONS, ".goosehints"), _AGENTS_FILE),
    "openclaw": (
        _AGENTS_FILE,
        (INSTRUCTIONS, "SOUL.md"),
        (INSTRUCTIONS, "TOOLS.md"),
        (SKILL, "skills/*/SKILL.md"),
    ),
}

AT_TOP = frozenset(("openclaw",))
"""Agents that read the top of their workspace, and no file of that name in folders below."""

AT_HOME: dict[str, tuple[Pattern, ...]] = {
    "claude_code": (
        (INSTRUCTIONS, ".claude/CLAUDE.md"),
        (RULE, ".claude/rules/**/*.md"),
        _CLAUDE_SKILLS,
        (SERVER, ".claude.json"),
    ),
    "codex": (
        (INSTRUCTIONS, ".codex/AGENTS.override.md"),
        (INSTRUCTIONS, ".codex/AGENTS.md"),
        (SKILL, ".codex/skills/*/SKILL.md"),
        _SHARED_SKILLS,
        (SERVER, ".codex/config.toml"),
    ),
    "cursor": ((SKILL, ".cursor/skills/*/SKILL.md"), (SERVER, ".cursor/mcp.json")),
    "copilot": ((SERVER, ".copilot/mcp-config.json"),),
    "gemini": (
        (INSTRUCTIONS, ".gemini/GEMINI.md"),
        (SKILL, ".gemini/skills/*/SKILL.md"),
        (SERVER, ".gemini/settings.json"),
    ),
    "opencode": (
        (INSTRUCTIONS, ".config/opencode/AGENTS.md"),
        (SKILL, ".config/opencode/skills/*/SKILL.md"),
        (SERVER, ".config/opencode/opencode.json"),
    ),
    "goose": ((INSTRUCTIONS, ".config/goose/.goosehints"),),
}

IMPORTING = frozenset(("claude_code", "gemini"))
"""Agents that put a file in the place of `@its/path` in an instruction file."""
OVERRIDES = {"AGENTS.md": "AGENTS.override.md"}
"""A file that is not read where another one lies beside it, by agents that read the other one."""

SERVERS = ("mcpServers", "mcp_servers", "mcp")
"""Where a settings file lists its MCP servers."""


@cache
def _expression(agent: str) -> re.Pattern[str]:
    patterns = [_as_expression(pattern) for _, pattern in IN_REPOSITORY.get(agent, ())]
    folder = "" if agent in AT_TOP else "(?:.*?/)??"
    return re.compile(f"(?P<folder>{folder})(?:{'|'.join(patterns) or '(?!)'})")


def _as_expression(pattern: str) -> str:
    escaped = re.escape(pattern).replace(r"\*\*/", "(?:.*/)?").replace(r"\*", "[^/]*")
    return f"({escaped})"


def matched(agent: str, path: str) -> tuple[str, str] | None:
    """What a file of a repository is to an agent, and the folder it speaks for; None if nothing."""
    found = _expression(agent).fullmatch(path)
    if found is None:
        return None
    number = next(n for n, text in enumerate(found.groups()[1:]) if text is not None)
    return IN_REPOSITORY[agent][number][0], found["folder"].rstrip("/")


AGENT_FOLDERS = frozenset((".claude", ".agents", ".codex", ".cursor", ".gemini", ".opencode"))
"""Folders of agents, where a person's own settings come and go."""
_SPECIAL = AGENT_FOLDERS | {".github", "skills"}
"""Folders that patterns go into: what lies in one is judged by its path from there on."""


def tail(folder: str) -> str:
    """The part of a folder's path that decides what a file in it is; mostly none."""
    parts = folder.split("/")
    start = next((n for n, part in enumerate(parts) if part in _SPECIAL), len(parts))
    return "/".join(parts[start:])


@cache
def _home_expression() -> re.Pattern[str]:
    listed = {pattern for told in AT_HOME.values() for kind, pattern in told if kind != SERVER}
    folders = {it.rpartition("/")[0] for it in listed if "*" not in it}
    within = "|".join(map(re.escape, sorted(folders - {""})))
    return re.compile(
        rf"(?:/home/[^/]+|/Users/[^/]+|/root|[A-Za-z]:/Users/[^/]+)(?:/(?:{within}))?/?"
    )


def is_user_wide(folder: str) -> bool:
    """Whether what agents read in a folder they read in all projects of a person.

    That is the home folder, above all of them, and where an agent program keeps its own files.
    """
    return _home_expression().fullmatch(folder.replace("\\", "/")) is not None


@cache
def _any_expression() -> re.Pattern[str]:
    patterns = {pattern for listed in IN_REPOSITORY.values() for _, pattern in listed}
    return re.compile(f"(?:.*/)?(?:{'|'.join(map(_as_expression, sorted(patterns)))})")


def read_by_any(path: str) -> bool:
    """Whether a file of a repository is instructions to any agent."""
    return _any_expression().fullmatch(path) is not None


def governs(folder: str, place: str) -> bool:
    """Whether what lies in a folder of a tree is in force from the start in a place of it."""
    return not folder or place == folder or place.startswith(f"{folder}/")
