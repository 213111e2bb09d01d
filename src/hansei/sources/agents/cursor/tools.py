"""What a call says: which tool it is, what it is given, and what it is about.

The same tools have two sets of names: short ones that the model uses and transcripts show, and
longer ones, with a version at their end, in the database.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hansei.events.model import Tool
from hansei.events.tools import canonical_tool, mcp_server
from hansei.sources.agents.cursor.records import object_of

if TYPE_CHECKING:
    from hansei.sources.agents.cursor.records import ToolData

_VERSION = re.compile(r"_v\d+$")
_TOOLS = {
    name: tool
    for tool, names in {
        Tool.SHELL: "run_terminal_command await awaitshell write_shell_stdin",
        Tool.READ: "read_terminal",
        Tool.EDIT: """strreplace applypatch delete delete_file editnotebook edit_notebook reapply
            fix_lints""",
        Tool.SEARCH: """glob_file_search ripgrep_raw_search ripgrep_search semantic_search_full
            semanticsearch search_symbols read_semsearch_files deep_search go_to_definition""",
        Tool.WEB: "fetch_pull_request",
        Tool.SUBAGENT: "await_task",
        Tool.PLAN: """create_plan createplan ask_question askquestion switch_mode switchmode
            update_current_step""",
        Tool.MCP: """callmcptool call_mcp_tool list_mcp_resources listmcpresources
            read_mcp_resource fetchmcpresource""",
    }.items()
    for name in names.split()
}
"""Tools that only this agent has, or only this agent calls so."""
_NUMBERS = {
    1: "read_semsearch_files", 3: "ripgrep_search", 5: "read_file", 6: "list_dir", 7: "edit_file",
    8: "file_search", 9: "semantic_search_full", 11: "delete_file", 12: "reapply",
    15: "run_terminal_command_v2", 16: "fetch_rules", 18: "web_search", 19: "mcp",
    23: "search_symbols",
}  # fmt: skip
"""Tools as the database numbers them, where it does not name them."""
_ABOUT = (
    "command", "path", "target_file", "targetFile", "file_path", "relativeWorkspacePath",
    "relative_workspace_path", "target_notebook", "query", "search_term", "searchTerm", "pattern",
    "glob_pattern", "globPattern", "url", "target_directory", "targetDirectory", "directoryPath",
    "description", "prompt", "patch", "input",
)  # fmt: skip
"""Arguments that say what a call is about, the telling ones first."""


def name_of(data: ToolData) -> str | None:
    """The tool's own name; None where no tool was called."""
    if data.name:
        return data.name
    if isinstance(data.tool, str) and data.tool:
        return data.tool
    if data.tool is not None and data.tool_call_id:
        number = data.tool if isinstance(data.tool, int) else 0
        return _NUMBERS.get(number, f"tool {number}")
    return None


def tool_of(name: str) -> Tool:
    """The kind of a tool by either of its names."""
    plain = _VERSION.sub("", name.lower())
    known = _TOOLS.get(plain)
    if known is not None:
        return known
    if plain.startswith(("mcp_", "mcp-")) or plain == "mcp":
        return Tool.MCP
    return canonical_tool(plain)


def given(data: ToolData) -> dict[str, Any]:
    """The arguments of a call: what the model wrote, and what the program made of it."""
    written, made = object_of(data.raw_args), object_of(data.params)
    if written or made:
        return {**made, **written}
    told = data.raw_args or data.params
    return {"input": told} if isinstance(told, str) and told else {}


def server_of(name: str, arguments: dict[str, Any]) -> str | None:
    """The server of an MCP tool, where the call tells it."""
    calls = arguments.get("tools")
    first = calls[0] if isinstance(calls, list) and calls else None
    told = first.get("serverName") if isinstance(first, dict) else arguments.get("server")
    return told if isinstance(told, str) and told else mcp_server(name)


def about(arguments: dict[str, Any]) -> str:
    """What a call is about, on its own."""
    for name in _ABOUT:
        value = arguments.get(name)
        if isinstance(value, str) and value:
            return value
    return ""
