"""Calls of tools and what they answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from hansei.events.model import Basis, Status, Tool, ToolCall, ToolResult
from hansei.events.tools import mcp_server
from hansei.sources.agents.codex import changes, results, tools
from hansei.sources.agents.codex.thread import CALLS_KEPT, Call, Note, call_key
from hansei.sources.families.records import FAILURES
from hansei.sources.families.shell import hides_status
from hansei.sources.families.streams import byte_size, remember, short

if TYPE_CHECKING:
    from hansei.sources.agents.codex.records import Payload
    from hansei.sources.agents.codex.thread import Reader

_ENDS = frozenset(("completed", "failed", "declined"))


def tool_call(reader: Reader, payload: Payload) -> None:
    name, call = tools.name_of(payload), payload.call_id or payload.id
    if not name or not call:
        reader.unrecognised(f"{payload.type} without a name")
        return
    tool, arguments = tools.tool_of(name), tools.given(payload)
    text = tools.about(arguments)
    edits = changes.planned(reader, call, tool, arguments, text)
    masked = tool is Tool.SHELL and not edits and hides_status(text)
    if edits or masked:
        offset = reader.offset if edits else None
        remember(reader.state.calls, short(call), Call(masked, offset), CALLS_KEPT)
    event = ToolCall(
        key=call_key(reader, "call", call),
        call=call,
        tool=tool,
        name=name,
        arguments=arguments,
        text="\n".join(edit.path for edit in edits) if edits and tool is Tool.EDIT else text,
        server=mcp_server(name),
        model=reader.model,
        **reader.where,
    )
    reader.emit(event)
    if edits:
        reader.edits[call] = edits
        for edit in edits:
            reader.emit(edit)


def call_output(reader: Reader, payload: Payload) -> None:
    call = payload.call_id
    if not call:
        return  # context handed in as an output: no call was made
    told = results.answer(payload.output)
    state, name = reader.state, short(call)
    known, note = state.calls.get(name), state.notes.pop(name, None)
    verdict = results.verdict(told, note, masked=known is not None and known.masked)
    cut, size = results.is_cut(told.text), byte_size(told.text)
    event = ToolResult(
        key=call_key(reader, "result", call),
        call=call,
        text=told.text,
        status=verdict.status,
        basis=verdict.basis,
        exit_code=verdict.exit_code,
        size=None if cut else size,
        truncated=cut,
        shown=size + told.around if told.around else None,
        images=told.images,
        child=_child(told.text, note),
        **reader.where,
    )
    reader.emit(event)
    if known is not None and known.offset is not None:
        changes.settle(reader, call, _applied(verdict, told.text))


def tool_search_output(reader: Reader, payload: Payload) -> None:
    """Tools that were found; as long as they are many."""
    if payload.call_id:
        text = bytes(payload.tools).decode("utf-8", "replace")
        done = payload.status == "completed"
        event = ToolResult(
            key=call_key(reader, "result", payload.call_id),
            call=payload.call_id,
            text=text,
            status=Status.OK if done else Status.UNKNOWN,
            basis=Basis.FLAG if done else Basis.NONE,
            size=byte_size(text),
            **reader.where,
        )
        reader.emit(event)


def _applied(verdict: results.Verdict, text: str) -> bool | None:
    """Whether a patch was made, by the answer to it."""
    if verdict.status is Status.OK or "Success. Updated the following files" in text:
        return True
    refused = verdict.basis is Basis.DECLINED
    return False if verdict.status is Status.FAILED or refused else None


class _Spawned(msgspec.Struct):
    agent_id: str | None = None


_decode_spawned = msgspec.json.Decoder(_Spawned).decode


def _child(text: str, note: Note | None) -> str | None:
    """The thread a call started."""
    if note is not None and note.child:
        return note.child
    if text.startswith('{"agent_id"'):
        try:
            return _decode_spawned(text).agent_id
        except FAILURES:
            return None
    return None


def note_end(
    reader: Reader,
    call: str | None,
    *,
    exit_code: int | None = None,
    status: object = None,
    child: str | None = None,
) -> None:
    """Remember how a call ended until its answer comes."""
    if call:
        word = status if isinstance(status, str) and status in _ENDS else None
        note = Note(exit_code, word, short(child) if child else None)
        remember(reader.state.notes, short(call), note, CALLS_KEPT)
