"""The server: the protocol on one side, tools that answer on the other.

Questions are answered in threads, so that a slow one keeps nobody waiting. Whatever goes wrong is
an answer that says so. Nothing but the protocol is ever written to standard output: the library
puts everything else on standard error.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import mcp_types as types
import msgspec
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from hansei import __version__
from hansei.errors import HanseiError
from hansei.mcp import bounds, resources
from hansei.mcp.catalogue import BY_NAME, TOOLS
from hansei.mcp.prompts import PROMPTS
from hansei.mcp.quotes import inert
from hansei.mcp.refusals import Heard
from hansei.mcp.schemas import input_schema

if TYPE_CHECKING:
    from hansei.mcp.contract import Tool
    from hansei.mcp.desk import Desk

INSTRUCTIONS = (
    "What earlier agent sessions in this repository ran into and what helped. Call `brief` before"
    " you start and `recall` when something fails."
)


def server_for(desk: Desk) -> Server[Any]:
    """The server of one folder."""
    logging.getLogger("mcp").setLevel(logging.ERROR)

    async def tools(_: Any, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_declared(it) for it in TOOLS])

    async def call(_: Any, asked: types.CallToolRequestParams) -> types.CallToolResult:
        tool = BY_NAME.get(asked.name)
        if tool is None:
            raise _invalid(f"there is no tool {inert(asked.name, 64)!r}")
        return await anyio.to_thread.run_sync(
            _answered, desk, tool, asked.arguments or {}, abandon_on_cancel=True
        )

    async def documents(_: Any, __: Any) -> types.ListResourcesResult:
        found = await anyio.to_thread.run_sync(resources.documents, desk)
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=it.uri, name=it.name, description=it.about, mime_type=resources.MARKDOWN
                )
                for it in found
            ]
        )

    async def document(_: Any, asked: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(asked.uri)
        try:
            text = await anyio.to_thread.run_sync(resources.document, desk, uri)
        except HanseiError as problem:
            raise _invalid(_said(problem)) from None
        part = types.TextResourceContents(uri=uri, mime_type=resources.MARKDOWN, text=text)
        return types.ReadResourceResult(contents=[part])

    async def prompts(_: Any, __: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(
            prompts=[types.Prompt(name=it.name, description=it.about) for it in PROMPTS]
        )

    async def prompt(_: Any, asked: types.GetPromptRequestParams) -> types.GetPromptResult:
        found = [it for it in PROMPTS if it.name == asked.name]
        if not found:
            raise _invalid(f"there is no prompt {inert(asked.name, 64)!r}")
        text = types.TextContent(type="text", text=found[0].text)
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=text)])

    return Server(
        "hansei",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=tools,
        on_call_tool=call,
        on_list_resources=documents,
        on_read_resource=document,
        on_list_prompts=prompts,
        on_get_prompt=prompt,
    )


async def serve(desk: Desk) -> None:
    """Answer on standard input and output until the other side is gone."""
    server = server_for(desk)
    try:
        async with stdio_server() as (read, write):
            await server.run(Heard(read, write), write, server.create_initialization_options())
    except* BrokenPipeError:
        pass  # it died before it heard the answer


def _declared(tool: Tool[Any]) -> types.Tool:
    return types.Tool(
        name=tool.name,
        description=tool.about,
        input_schema=input_schema(tool.arguments),
        annotations=None
        if tool.writes
        else types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
    )


def _answered(desk: Desk, tool: Tool[Any], given: dict[str, Any]) -> types.CallToolResult:
    try:
        asked = tool.asked(given)
        whole = bounds.told(tool, tool.answer(desk, asked), getattr(asked, "budget", tool.budget))
    except msgspec.ValidationError as problem:
        return _refused(f"{tool.name} cannot be asked like this: {inert(str(problem))}")
    except HanseiError as problem:
        return _refused(_said(problem))
    except Exception as problem:  # noqa: BLE001 - an agent at work must get an answer
        # Its words may quote a transcript.
        return _refused(f"{tool.name} could not be answered: {type(problem).__name__}")
    text = types.TextContent(type="text", text=bounds.text_of(whole))
    return types.CallToolResult(content=[text], structured_content=whole)


def _refused(message: str) -> types.CallToolResult:
    text = types.TextContent(type="text", text=message)
    return types.CallToolResult(content=[text], is_error=True)


def _said(problem: HanseiError) -> str:
    hint = getattr(problem, "hint", None)
    return inert(f"{problem}. {hint}" if hint else str(problem), 600)


def _invalid(message: str) -> MCPError:
    return MCPError(code=types.INVALID_PARAMS, message=message)
