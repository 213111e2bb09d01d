"""What the model said: replies, thoughts, calls, and what each request took."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hansei.events.model import Reply, RequestUsage, Thought, Tool, ToolCall
from hansei.events.tools import canonical_tool, mcp_server
from hansei.sources.agents.claude_code.program import compaction_summary, notice
from hansei.sources.agents.claude_code.reader import (
    CALLS_KEPT,
    answer_id,
    call_id,
    key_of,
    learn_subagent,
)
from hansei.sources.agents.claude_code.records import IGNORED, Progress
from hansei.sources.agents.claude_code.results import NO_NOTES
from hansei.sources.agents.claude_code.turns import SILENT_BLOCKS, result
from hansei.sources.families import anthropic
from hansei.sources.families.clock import instant
from hansei.sources.families.records import plain
from hansei.sources.families.shell import hides_status
from hansei.sources.families.streams import remember, short, text_digest

if TYPE_CHECKING:
    from hansei.sources.agents.claude_code.reader import Reader, Where
    from hansei.sources.agents.claude_code.records import Answer, Record
    from hansei.sources.families.anthropic import Message
    from hansei.sources.families.streams import Tally

SYNTHETIC = "<synthetic>"
"""The model named on lines the program wrote in the model's place."""
_ABOUT = (
    "command", "file_path", "notebook_path", "pattern", "url", "query", "description", "skill",
    "path", "prompt",
)  # fmt: skip
"""Arguments that say what a call is about, the telling ones first."""


def assistant(reader: Reader, record: Record, where: Where) -> None:
    message = record.message
    if message is None:
        reader.unrecognised("assistant without a message", where)
        return
    if message.model == SYNTHETIC or record.is_compact_summary:
        _synthetic(reader, record, message, where)
        return
    identity = answer_id(where["session"], message.id, record.request_id, record.uuid, reader.line)
    tally = reader.tally(identity)
    if message.usage is not None:
        request(reader, identity, tally, message, record.request_id, where)
    by = {"model": message.model, "message": message.id, **where}
    for block in message.blocks():
        if block.type == "text":
            text = block.text or ""
            known = tally.known_as("reply", text) if text else None
            if known is not None:
                reader.emit(Reply(key=key_of("reply", identity, known), text=text, **by))
        elif block.type in ("thinking", "redacted_thinking"):
            text = block.thinking or ""
            known = tally.known_as("thought", text)
            if known is not None:
                reader.emit(Thought(key=key_of("thought", identity, known), text=text, **by))
        elif block.id and block.name:
            _call(reader, block.id, block.name, block.input or {}, by)
        elif block.tool_use_id:
            result(reader, record, block, NO_NOTES, where)
        elif block.type not in SILENT_BLOCKS:
            reader.unrecognised(f"assistant block {block.type}", where)


def request(
    reader: Reader,
    identity: str,
    tally: Tally,
    message: Message | Answer,
    request_id: str | None,
    where: Where,
) -> None:
    """Count one more line of a request."""
    usage = message.usage
    assert usage is not None
    guessed = anthropic.is_announcement(usage) or anthropic.is_emptied(usage)
    tally.add(anthropic.counts(usage), guessed=guessed)
    if reader.counts_later(identity, tally):
        return
    event = RequestUsage(
        key=key_of("request", identity),
        model=message.model,
        message=message.id,
        request=request_id,
        tier=anthropic.tier(usage),
        **tally.totals(),
        **where,
    )
    reader.emit(event)
    reader.requests.setdefault(identity, (event.key, tally))


def _call(reader: Reader, call: str, name: str, arguments: dict[str, Any], by: Where) -> None:
    tool = canonical_tool(name)
    if tool is Tool.SHELL:
        alone = arguments.get("run_in_background") is True
        if alone or hides_status(_first_text(arguments, ("command",))):
            remember(reader.state.hidden, short(call), alone, CALLS_KEPT)
    elif tool is Tool.SUBAGENT:
        prompt = text_digest(_first_text(arguments, ("prompt",)))
        remember(reader.state.tasks, prompt, short(call), CALLS_KEPT)
    event = ToolCall(
        key=key_of("call", call_id(call, by)),
        call=call,
        tool=tool,
        name=name,
        arguments=arguments,
        text=_first_text(arguments, _ABOUT),
        server=mcp_server(name),
        **by,
    )
    reader.emit(event)


def _first_text(arguments: dict[str, Any], names: tuple[str, ...]) -> str:
    for name in names:
        value = arguments.get(name)
        if isinstance(value, str):
            return value
    return ""


def _synthetic(reader: Reader, record: Record, message: Message, where: Where) -> None:
    """A line the program wrote in the model's place: no request was made for it."""
    text = "\n".join(block.text or "" for block in message.blocks())
    if record.is_compact_summary:
        compaction_summary(reader, record, text, where)
        return
    fields = plain(reader.line)
    failed = fields.get("isApiErrorMessage") is True
    data = {"error": fields.get("error"), "status": fields.get("apiErrorStatus")}
    notice(reader, record, where, "api_error" if failed else "synthetic_reply", text, data)


def progress(reader: Reader, record: Record, where: Where) -> None:
    """A subagent's request told in its parent's file: counts there even if its own file is gone."""
    data = record.data or Progress()
    if data.type != "agent_progress":
        if f"progress/{data.type}" not in IGNORED:
            reader.unrecognised(f"progress/{data.type}", where)
        return
    told = data.message
    answer = told.message if told else None
    if told is None or answer is None or answer.usage is None or not data.agent_id:
        return
    if answer.model == SYNTHETIC:
        return
    session = f"{reader.root or where['session']}/agent-{data.agent_id}"
    facts = learn_subagent(reader, session, where["session"])
    facts.spawned_by = facts.spawned_by or record.parent_tool_use_id
    identity = answer_id(session, answer.id, told.request_id, told.uuid, reader.line)
    where = {**where, "session": session, "at": instant(told.timestamp) or where["at"]}
    request(reader, identity, reader.tally(identity), answer, told.request_id, where)
