"""How a skill, plug-in or MCP server is switched off, exactly, for each agent program.

For one project where the program can do that; where it cannot, that is said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from hansei.hook.places import SERVER

_CACHED: Final = re.compile(r"/plugins/cache/([^/]+)/([^/]+)/")
"""Where plug-ins lie: the name of their marketplace, then theirs."""


def switches(
    kind: str, names: Sequence[str], places: Mapping[str, str], agents: Sequence[str]
) -> str:
    """The steps in Markdown, for each agent that was told of them.

    `places` are the files of skills, by name. Skills whose names hold a colon are of a plug-in.
    """
    plug_ins = _plug_ins(names)
    if kind == SERVER:
        table, chosen = _SERVERS, list(names)
    elif plug_ins:
        table, chosen = _PLUG_INS, [_with_market(it, places.values()) for it in plug_ins]
    else:
        table, chosen = _SKILLS, list(names)
    steps = [table[it](chosen, places) for it in agents if it in table]
    listed = ", ".join(f"`{it}`" for it in names)
    return "\n".join([*steps, f"What goes: {listed}.\n"])


def for_all_projects(kind: str, names: Iterable[str], agents: Iterable[str]) -> list[str]:
    """The agents that have no setting of one project for it: these steps reach all projects."""
    if kind == SERVER:
        return []
    table = _PLUG_INS if _plug_ins(names) else _SKILLS
    return [it for it in agents if it in table and it in _WIDE]


def cache_for_an_hour(agent: str) -> str | None:
    """How an agent is told to keep its prompt cache for an hour; None where it cannot be told."""
    return _HOUR.get(agent)


def _plug_ins(names: Iterable[str]) -> list[str]:
    return sorted({it.rpartition(":")[0] for it in names if ":" in it})


def _with_market(plug_in: str, paths: Iterable[str]) -> str:
    for path in sorted(paths):
        found = _CACHED.search(path.replace("\\", "/"))
        if found and found[2] == plug_in:
            return f"{plug_in}@{found[1]}"
    return plug_in


def _block(language: str, text: str) -> str:
    return f"\n\n```{language}\n{text}\n```\n"


def _json(told: object) -> str:
    return _block("json", json.dumps(told, ensure_ascii=False, indent=2))


def _claude_skills(names: Sequence[str], _: Mapping[str, str]) -> str:
    told = {"skillOverrides": dict.fromkeys(names, "off")}
    return f"Claude Code, in `.claude/settings.json` of this repository:{_json(told)}"


def _claude_plug_ins(names: Sequence[str], _: Mapping[str, str]) -> str:
    lines = "\n".join(f"claude plugin disable {it} --scope project" for it in names)
    return f"Claude Code, here:{_block('sh', lines)}"


def _claude_servers(names: Sequence[str], _: Mapping[str, str]) -> str:
    told = {"disabledMcpjsonServers": list(names)}
    return (
        "Claude Code, in `.claude/settings.json` of this repository, if `.mcp.json` names it; else "
        f"`/mcp` switches it off for this project:{_json(told)}"
    )


def _codex_skills(names: Sequence[str], places: Mapping[str, str]) -> str:
    tables = "\n\n".join(
        f"[[skills.config]]\n{_where(it, places)}\nenabled = false" for it in names
    )
    first = json.dumps(names[0], ensure_ascii=False)
    return (
        "Codex, in `~/.codex/config.toml`, for all projects; for one project alone it takes them "
        f"only when it is started (`codex -c 'skills.config=[{{name={first}, enabled=false}}]'`):"
        f"{_block('toml', tables)}"
    )


def _where(name: str, places: Mapping[str, str]) -> str:
    if name in places:
        return f"path = {json.dumps(places[name], ensure_ascii=False)}"
    return f"name = {json.dumps(name, ensure_ascii=False)}"


def _codex_plug_ins(names: Sequence[str], _: Mapping[str, str]) -> str:
    tables = "\n\n".join(
        f"[plugins.{json.dumps(it, ensure_ascii=False)}]\nenabled = false" for it in names
    )
    return f"Codex, in `~/.codex/config.toml`, for all projects:{_block('toml', tables)}"


def _codex_servers(names: Sequence[str], _: Mapping[str, str]) -> str:
    tables = "\n\n".join(
        f"[mcp_servers.{json.dumps(it, ensure_ascii=False)}]\nenabled = false" for it in names
    )
    return (
        f"Codex, in `.codex/config.toml` of this repository, below its own entry:"
        f"{_block('toml', tables)}"
    )


def _opencode_skills(names: Sequence[str], _: Mapping[str, str]) -> str:
    told = {"permission": {"skill": dict.fromkeys(names, "deny")}}
    return f"OpenCode, in `opencode.json` of this repository:{_json(told)}"


def _opencode_servers(names: Sequence[str], _: Mapping[str, str]) -> str:
    told = {"mcp": {it: {"enabled": False} for it in names}}
    return f"OpenCode, in `opencode.json` of this repository:{_json(told)}"


def _cursor_servers(names: Sequence[str], _: Mapping[str, str]) -> str:
    told = ", ".join(f"`{it}`" for it in names)
    return f"Cursor: take {told} out of `.cursor/mcp.json`; Settings switch it off everywhere.\n"


_WIDE: Final = frozenset(("codex",))
"""Agents whose settings of skills and plug-ins are those of the person, not of a project."""

_Steps: TypeAlias = Callable[[Sequence[str], Mapping[str, str]], str]
_SKILLS: Final[dict[str, _Steps]] = {
    "claude_code": _claude_skills,
    "codex": _codex_skills,
    "opencode": _opencode_skills,
}
_PLUG_INS: Final[dict[str, _Steps]] = {
    "claude_code": _claude_plug_ins,
    "codex": _codex_plug_ins,
}
_SERVERS: Final[dict[str, _Steps]] = {
    "claude_code": _claude_servers,
    "codex": _codex_servers,
    "opencode": _opencode_servers,
    "cursor": _cursor_servers,
}
_HOUR: Final = {
    "claude_code": "In `.claude/settings.json`, from Claude Code 2.1.108 on:"
    + _block("json", json.dumps({"env": {"ENABLE_PROMPT_CACHING_1H": "1"}}))
    + "\nIt holds for API keys and cloud providers; a subscription decides by itself."
}
"""Settings that keep a prompt cache for an hour instead of five minutes."""
