"""What a call says: which tool it is, what it is given, and what it is about."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from hansei.events.model import Tool
from hansei.events.tools import canonical_tool
from hansei.sources.families.records import FAILURES, rescue, value_of

if TYPE_CHECKING:
    from hansei.sources.agents.codex.records import Payload

_TOOLS = {
    "container.exec": Tool.SHELL,
    "local_shell_call": Tool.SHELL,
    "view_image": Tool.READ,
    "tool_search": Tool.SEARCH,
    "request_user_input": Tool.PLAN,
    "get_goal": Tool.PLAN,
    "create_goal": Tool.PLAN,
    "update_goal": Tool.PLAN,
    "wait": Tool.SUBAGENT,
    "send_input": Tool.SUBAGENT,
    "send_message": Tool.SUBAGENT,
    "followup_task": Tool.SUBAGENT,
    "resume_agent": Tool.SUBAGENT,
    "close_agent": Tool.SUBAGENT,
    "interrupt_agent": Tool.SUBAGENT,
    "list_agents": Tool.SUBAGENT,
    "list_mcp_resources": Tool.MCP,
    "list_mcp_resource_templates": Tool.MCP,
    "read_mcp_resource": Tool.MCP,
}
"""Tools that only this agent has."""
_ABOUT = ("cmd", "command", "path", "query", "message", "chars", "uri", "prompt", "input")
"""Arguments that say what a call is about, the telling ones first."""
_SHELLS = re.compile(r"(?:.*[/\\])?(?:(?:ba|z|da|k)?sh(?:\.exe)?$|pwsh|powershell)")
_UNNAMED = {"local_shell_call": "local_shell_call", "tool_search_call": "tool_search"}
"""Calls that are a kind of their own, with the names we give them."""


def name_of(payload: Payload) -> str | None:
    """The tool's name; that of an MCP tool with its server in it, wherever that was written."""
    name, namespace = payload.name or _UNNAMED.get(payload.type or ""), payload.namespace
    if name and namespace and namespace.startswith("mcp__") and not name.startswith("mcp__"):
        return f"{namespace.rstrip('_')}__{name}"
    return name


def tool_of(name: str) -> Tool:
    return _TOOLS.get(name) or canonical_tool(name)


def given(payload: Payload) -> dict[str, Any]:
    """The arguments of a call; as they are if they make no sense."""
    if payload.input is not None:
        return {"input": payload.input}
    told = payload.arguments
    if told is None:
        action = value_of(payload.action)
        return action if isinstance(action, dict) else {}
    if isinstance(told, dict):
        return told
    try:
        value = msgspec.json.decode(told)
    except FAILURES:
        value = rescue(told.encode("utf-8", "surrogatepass")).value
    return value if isinstance(value, dict) else {"arguments": told} if told else {}


def about(arguments: dict[str, Any]) -> str:
    """What a call is about, on its own: a command as it would be typed."""
    for name in _ABOUT:
        value = arguments.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value:
            words = [word for word in value if isinstance(word, str)]
            script = len(words) > 2 and _SHELLS.match(words[0]) and words[1].startswith(("-", "/"))
            return words[-1] if script else " ".join(words)
    return ""
