"""The tool taxonomy: each agent's own tool names to one canonical kind."""

from __future__ import annotations

from hansei.events.model import Tool

_NAMES: dict[str, Tool] = {
    name: tool
    for tool, names in {
        Tool.SHELL: """bash shell powershell exec exec_command local_shell run_terminal_cmd
            run_shell_command run_command execute_command terminal bashoutput killshell killbash
            write_stdin shell_command""",
        Tool.READ: """read read_file readfile view view_file notebookread cat open_file
            read_many_files""",
        Tool.EDIT: """edit multiedit notebookedit replace apply_patch edit_file search_replace
            str_replace str_replace_editor str_replace_based_edit_tool text_editor replace_in_file
            insert_edit_into_file patch""",
        Tool.WRITE: "write write_file write_to_file create_file create",
        Tool.SEARCH: """grep glob ls search find list_dir list_directory list_files codebase_search
            file_search grep_search search_files search_file_content toolsearch rg""",
        Tool.WEB: """webfetch websearch web_fetch web_search fetch google_web_search
            browser browser_action web_search_call""",
        Tool.SUBAGENT: """task agent subagent spawn_agent delegate taskoutput agentoutputtool
            sendmessage wait_agent""",
        Tool.PLAN: """todowrite todoread todo_write update_plan exitplanmode enterplanmode
            taskcreate taskupdate tasklist taskget taskstop todo plan askuserquestion""",
    }.items()
    for name in names.split()
}


def canonical_tool(name: str) -> Tool:
    """The kind of a tool by its native name; unknown names are `other`, MCP tools `mcp`."""
    lowered = name.lower()
    known = _NAMES.get(lowered)
    if known is not None:
        return known
    return Tool.MCP if mcp_server(name) else Tool.OTHER


def mcp_server(name: str) -> str | None:
    """The server in an MCP tool's name (`mcp__server__tool`), None for other tools."""
    prefix, _, rest = name.partition("__")
    server, separator, _ = rest.partition("__")
    return server if prefix == "mcp" and separator else None
