"""Messages of a chat in the database, each turned into events."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hansei.events.model import (
    Basis,
    FileEdit,
    Origin,
    Prompt,
    Reply,
    Status,
    Thought,
    Tool,
    ToolCall,
    ToolResult,
)
from hansei.sources.agents.cursor import changes, prompts, results, tools
from hansei.sources.agents.cursor.reader import call_key, key_of
from hansei.sources.agents.cursor.records import object_of
from hansei.sources.families.addresses import folder_of
from hansei.sources.families.clock import instant
from hansei.sources.families.streams import byte_size

if TYPE_CHECKING:
    from collections.abc import Callable

    from hansei.sources.agents.cursor.reader import Reader, Where
    from hansei.sources.agents.cursor.records import Bubble, Thinking, ToolData

PERSON, MODEL = 1, 2
_TYPES = {"user": PERSON, "ai": MODEL}
"""How messages of tabs say who wrote them; later ones have numbers."""
_CHILD = ("subagentComposerId", "composerId", "agentId")
"""Where a call that started a subagent names the subagent's chat."""


def _nothing(identity: str) -> None:  # noqa: ARG001 - the shape of a lookup
    return None


@dataclass(frozen=True)
class Context:
    """What a message does not say itself."""

    chat: str
    cwd: str | None = None
    model: str | None = None
    origin: Origin = Origin.HUMAN
    """Who speaks in the user's place in this chat."""
    content: Callable[[str], str | None] = field(default=_nothing)
    """A kept state of a file, by its id."""


def bubble(reader: Reader, context: Context, told: Bubble, identity: str, record: bytes) -> None:
    """Turn one message into events."""
    cwd = _folder(told) or context.cwd
    where = {"session": context.chat, "at": _time(told), "cwd": cwd}
    if cwd:
        facts = reader.facts(context.chat)
        facts.cwd = facts.cwd or cwd
    kind = _TYPES.get(told.type, told.type) if isinstance(told.type, str) else told.type
    if kind == PERSON:
        _asked(reader, context, told, identity, where)
    elif kind == MODEL:
        _answered(reader, context, told, identity, where)
    else:
        native = "without a type" if kind is None else f"of type {kind}"
        reader.unrecognised(f"bubbleId {native}", record, where)


def _folder(told: Bubble) -> str | None:
    uris = told.workspace_uris
    return folder_of(told.workspace_project_dir) or folder_of(uris[0] if uris else None)


def _time(told: Bubble) -> int | None:
    at = instant(told.created_at)
    timing = told.timing_info
    if at is None and timing is not None:
        at = instant(timing.client_rpc_send_time) or instant(timing.client_start_time)
    return at


def _asked(reader: Reader, context: Context, told: Bubble, identity: str, where: Where) -> None:
    text = told.text or told.raw_text or prompts.typed_in(told.rich_text or "")
    images = max(len(told.images or ()), len(told.selected_images or ()))
    said = prompts.pieces(text)
    added = [part for part in said if part.origin is not None]
    for number, part in enumerate(added):
        key = key_of("injected", context.chat, identity, str(number))
        origin = prompts.ours(part.text, part.origin or context.origin)
        reader.emit(Prompt(key=key, text=part.text, origin=origin, **where))
    asked = "\n\n".join(part.text for part in said if part.origin is None)
    if asked or images:
        key = key_of("prompt", context.chat, identity)
        origin = prompts.ours(asked, context.origin)
        reader.emit(Prompt(key=key, text=asked, origin=origin, images=images, **where))


def _answered(reader: Reader, context: Context, told: Bubble, identity: str, where: Where) -> None:
    model = (told.model_info.model_name if told.model_info else None) or told.model_type
    model = model or context.model
    thought = _thought(told.thinking)
    if thought:
        key = key_of("thought", context.chat, identity)
        reader.emit(Thought(key=key, text=thought, model=model, **where))
    text = told.text or told.raw_text or ""
    if text.strip():
        key = key_of("reply", context.chat, identity)
        reader.emit(Reply(key=key, text=text, model=model, **where))
    data = told.tool_former_data
    name = tools.name_of(data) if data is not None else None
    if data is not None and name:
        _called(reader, context, data, name, identity, model, where)


def _thought(thinking: Thinking | str | None) -> str:
    return (thinking if isinstance(thinking, str) else thinking.text or "") if thinking else ""


# --- calls ----------------------------------------------------------------------------------------


def _called(
    reader: Reader,
    context: Context,
    data: ToolData,
    name: str,
    identity: str,
    model: str | None,
    where: Where,
) -> None:
    call, tool, arguments = data.tool_call_id or identity, tools.tool_of(name), tools.given(data)
    text = tools.about(arguments)
    found = changed_files(context, name, tool, arguments, object_of(data.result))
    reader.emit(
        ToolCall(
            key=call_key("call", call, context.chat),
            call=call,
            tool=tool,
            name=name,
            arguments=arguments,
            text="\n".join(edit.path for edit in found) or text,
            server=tools.server_of(name, arguments) if tool is Tool.MCP else None,
            model=model,
            **where,
        )
    )
    end = results.ending(data, tool, text)
    if end is not None:
        reader.emit(
            ToolResult(
                key=call_key("result", call, context.chat),
                call=call,
                text=end.text,
                status=end.status,
                basis=end.basis,
                exit_code=end.exit_code,
                size=byte_size(end.text),
                child=_child(data) if tool is Tool.SUBAGENT else None,
                **where,
            )
        )
    tell_edits(reader, context.chat, call, found, _applied(end), where)


def changed_files(
    context: Context, name: str, tool: Tool, arguments: dict[str, Any], result: dict[str, Any]
) -> list[changes.Edit]:
    """The files a call changes; none if it is not an editing tool."""
    if tool not in (Tool.EDIT, Tool.WRITE):
        return []
    return changes.edits_of(name, arguments, result, context.content)


def tell_edits(
    reader: Reader,
    chat: str,
    call: str,
    found: list[changes.Edit],
    applied: bool | None,
    where: Where,
) -> None:
    """Each file that a call changes as an event."""
    for number, edit in enumerate(found):
        values: dict[str, Any] = edit.change._asdict() if edit.change else {}
        if edit.whole:
            values["removed"] = None
        reader.emit(
            FileEdit(
                key=call_key(f"edit{number}", call, chat),
                call=call,
                path=edit.path,
                operation=edit.operation,
                moved_to=edit.moved_to,
                applied=applied,
                **values,
                **where,
            )
        )


def _applied(end: results.Ending | None) -> bool | None:
    if end is None:
        return None
    if end.status is Status.OK:
        return True
    refused = end.status is Status.FAILED or end.basis is Basis.DECLINED
    return False if refused else None


def _child(data: ToolData) -> str | None:
    """The chat of the subagent that a call started."""
    for told in (data.additional_data or {}, object_of(data.result)):
        for name in _CHILD:
            if isinstance(told.get(name), str) and told[name]:
                return str(told[name])
    return None
