"""What was given to the model: prompts, text the program added, and what tools answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hansei.events.model import (
    AnyEvent,
    Basis,
    FileEdit,
    Notice,
    Origin,
    RequestUsage,
    Status,
    ToolResult,
)
from hansei.sources.agents.claude_code import prompts, results
from hansei.sources.agents.claude_code.program import compaction_summary
from hansei.sources.agents.claude_code.reader import (
    LONGEST_NAME,
    Queued,
    call_id,
    helper_purpose,
    key_of,
    record_id,
    subagents_folder,
)
from hansei.sources.agents.claude_code.results import NO_NOTES, ResultNotes
from hansei.sources.agents.claude_code.source import SUBAGENT
from hansei.sources.families import anthropic, jsonl, tagged
from hansei.sources.families.clock import instant
from hansei.sources.families.records import plain
from hansei.sources.families.streams import remember, short, text_digest

if TYPE_CHECKING:
    from pathlib import Path

    from hansei.sources.agents.claude_code.reader import Reader, Where
    from hansei.sources.agents.claude_code.records import Record
    from hansei.sources.families.anthropic import Block

ASIDE = "side_question"
"""The one purpose of the program's own subagents whose prompts a person types."""
WARM_UP = "Warmup"
"""What the program sends a subagent to fill the provider's cache before there is work."""
QUEUE_KEPT = 32
FILE_FIELDS = ("filename", "path", "displayPath")
"""Where an attachment names the file it shows."""
SHOWN = {
    "nested_memory": "instructions",
    "skill_listing": "skill",
    "invoked_skills": "skill",
    "mcp_instructions_delta": "mcp",
}
"""Attachments that show the model an instruction file, skills or what an MCP server says."""
SILENT_BLOCKS = frozenset(("image", "document", "fallback"))
"""Blocks without words of their own."""


def user(reader: Reader, record: Record, where: Where) -> None:
    message = record.message
    if message is None or message.content is None:
        reader.unrecognised("user without a message", where)
        return
    blocks = message.blocks()
    beside = record.tool_use_result
    notes = beside if isinstance(beside, ResultNotes) and len(blocks) == 1 else NO_NOTES
    texts: list[str] = []
    images = 0
    for block in blocks:
        if block.tool_use_id:
            result(reader, record, block, notes, where)
        elif block.text is not None:
            texts.append(block.text)
        elif block.type == "image":
            images += 1
        elif block.type not in SILENT_BLOCKS:
            reader.unrecognised(f"user block {block.type}", where)
    if texts or images:
        _spoken(reader, record, texts, images, where)


def _spoken(reader: Reader, record: Record, texts: list[str], images: int, where: Where) -> None:
    """A message in the user's place: what is the program's is split off, the rest is one prompt."""
    whole = "\n\n".join(texts)
    if record.is_compact_summary or whole.startswith(prompts.CONTINUED):
        compaction_summary(reader, record, whole, where)
        return
    own = record_id(record, whole)
    taken: list[str] = []
    rest: list[str] = []
    for text in texts:
        parts = tagged.split(text, prompts.INJECTED)
        taken += parts.taken
        if parts.rest.strip(prompts.SPACE):
            rest.append(parts.rest)
    for number, block in enumerate(taken):
        key = key_of("injected", own, str(number))
        reader.emit(prompts.as_prompt(key, block, Origin.HARNESS, where))
    text = "\n\n".join(rest)
    if text or images:
        origin = _origin(reader, record, text)
        reader.emit(prompts.as_event(key_of("prompt", own), text, origin, where, images))


def _origin(reader: Reader, record: Record, text: str) -> Origin:
    """Who wrote a text: a person only where nothing says otherwise."""
    told = prompts.told_origin(text)
    if told is not None:
        return told
    if record.is_meta or record.prompt_source == "system":
        return Origin.HARNESS
    if record.origin is not None and record.origin.kind:
        return prompts.kind_origin(record.origin.kind)
    if reader.transcript.variant == SUBAGENT or record.is_sidechain:
        purpose = helper_purpose(reader.transcript.path)
        if purpose is None:
            return Origin.HARNESS if text == WARM_UP else Origin.PARENT_AGENT
        return Origin.HUMAN if purpose == ASIDE else Origin.HARNESS
    return Origin.HUMAN


# --- prompts typed while the agent was at work ----------------------------------------------------


def queue_operation(reader: Reader, record: Record, where: Where) -> None:
    """Follow the queue: what is removed went into the running turn, often without another line.

    What is dequeued comes back as a line of its own, and what is popped went back to the keyboard.
    """
    queue = reader.state.queue
    if record.operation == "enqueue":
        queue.append(Queued(reader.offset, text_digest((record.content or "").strip())))
        del queue[:-QUEUE_KEPT]
    elif record.operation == "popAll":
        queue.clear()
    elif record.operation in ("dequeue", "remove"):
        item = _next_queued(queue, record.content)
        # Versions that repeat the text here also write it as an attachment.
        if item is not None and record.operation == "remove" and record.content is None:
            _deliver(reader, item, where)
    else:
        reader.unrecognised(f"queue-operation/{record.operation}", where)


def _next_queued(queue: list[Queued], content: str | None) -> Queued | None:
    wanted = None if content is None else text_digest(content.strip())
    for index, item in enumerate(queue):
        if wanted is None or item.digest == wanted:
            return queue.pop(index)
    return None


def _deliver(reader: Reader, item: Queued, where: Where) -> None:
    fields = plain(jsonl.line_at(reader.transcript.path, item.offset))
    text, typed_at = fields.get("content"), fields.get("timestamp")
    if not isinstance(text, str) or text_digest(text.strip()) != item.digest:
        return
    key = key_of("queued", where["session"], str(typed_at), item.digest)
    where = {**where, "at": instant(typed_at)}
    reader.emit(_queued_event(key, text, None, where))
    remember(reader.state.delivered, item.digest, key, QUEUE_KEPT)


def _queued_event(key: int, text: str, origin: Origin | None, where: Where) -> AnyEvent:
    told = prompts.told_origin(text) or origin
    if told is None:
        return prompts.as_typed(key, text, Origin.QUEUED_HUMAN, where)
    return prompts.as_event(key, text, told, where)


def attachment(reader: Reader, record: Record, where: Where) -> None:
    """Text the program put into the context: a queued prompt, what a hook adds, or its own."""
    attached = record.attachment or {}
    kind = str(attached.get("type"))[:LONGEST_NAME]
    text = prompts.attached_text(record.rendered) or prompts.attached_text(attached)
    own = record_id(record, text)
    if kind == "queued_command":
        text = prompts.attached_text(attached.get("prompt"))
        typed = attached.get("commandMode") in ("prompt", None)
        told = reader.state.delivered.pop(text_digest(text.strip()), None)
        key = key_of("prompt", own) if told is None else told
        reader.emit(_queued_event(key, text, None if typed else Origin.HARNESS, where))
    elif kind == "hook_additional_context":
        _added(reader, attached.get("content"), own, where)
    elif kind == "hook_success" and record.rendered:
        reader.emit(prompts.as_prompt(key_of("prompt", own), text, Origin.HOOK, where))
    elif kind == "prompt_snapshot":
        # The whole system prompt, written again with every change: its size is what matters.
        data: dict[str, Any] = {"bytes": len(reader.line)}
        reader.emit(Notice(key=key_of("notice", own), name=kind, data=data, **where))
    else:
        hook = attached.get("hookName")
        data = {"hook": hook} if isinstance(hook, str) else {}
        # Kept also because redaction must know whose content this is.
        data |= {
            name: value for name in FILE_FIELDS if isinstance(value := attached.get(name), str)
        }
        shown = SHOWN.get(kind)
        if shown is not None:
            path = next((data[name] for name in FILE_FIELDS if name in data), kind)
            data |= {"shown": {"kind": shown, "path": path}}
        reader.emit(Notice(key=key_of("notice", own), name=kind, text=text, data=data, **where))


def _added(reader: Reader, content: Any, own: str, where: Where) -> None:
    """What hooks added: a text by each of them."""
    texts = content if isinstance(content, list) else [content]
    for number, text in enumerate(filter(None, map(prompts.attached_text, texts))):
        key = key_of("prompt", own) if number == 0 else key_of("prompt", own, str(number))
        reader.emit(prompts.as_prompt(key, text, Origin.HOOK, where))


# --- what tools answered --------------------------------------------------------------------------


def result(reader: Reader, record: Record, block: Block, notes: ResultNotes, where: Where) -> None:
    call = block.tool_use_id
    assert call is not None
    text, images = anthropic.result_text(block.content)
    # Not taken out: the same result may be told again.
    alone = reader.state.hidden.get(short(call))
    hidden = None if alone is None else Basis.NONE if alone else Basis.MASKED
    verdict = results.verdict(
        text,
        notes,
        failed=block.is_error is True,
        denial=record.tool_denial_kind,
        hidden=hidden,
    )
    output = results.output(text, notes, lambda: _outputs_folder(reader))
    child = f"{reader.root}/agent-{notes.agent_id}" if reader.root and notes.agent_id else None
    event = ToolResult(
        key=key_of("result", call_id(call, where)),
        call=call,
        text=output.text,
        status=verdict.status,
        basis=verdict.basis,
        exit_code=verdict.exit_code,
        size=output.size,
        truncated=output.truncated,
        shown=output.shown,
        images=images,
        child=child,
        **where,
    )
    reader.emit(event)
    if verdict.status is not Status.FAILED:
        _effects(reader, call, notes, where)


def _effects(reader: Reader, call: str, notes: ResultNotes, where: Where) -> None:
    """What else a result tells: the file it changed, the searches it was billed for."""
    identity = call_id(call, where)
    edit = results.edited(notes)
    if edit is not None:
        event = FileEdit(
            key=key_of("edit", identity, edit.path),
            call=call,
            path=edit.path,
            operation=edit.operation,
            applied=True,
            **edit.change._asdict(),
            **where,
        )
        reader.emit(event)
    if notes.search_count:
        key = key_of("search", identity)
        reader.emit(RequestUsage(key=key, web_searches=notes.search_count, **where))


def _outputs_folder(reader: Reader) -> Path:
    """Where the session moves large outputs to; a subagent uses its parent's folder."""
    path = reader.transcript.path
    if reader.transcript.variant != SUBAGENT:
        return path.with_suffix("") / "tool-results"
    folder = subagents_folder(path)
    session = folder.parent if folder else path.parent / (reader.root or path.stem)
    return session / "tool-results"
