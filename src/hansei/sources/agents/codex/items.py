"""Items the model read or wrote: messages, thoughts, searches. Calls have a file of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from hansei.events.keys import digest
from hansei.events.model import (
    MARKER,
    Basis,
    Notice,
    Origin,
    Prompt,
    Reply,
    RequestUsage,
    SlashCommand,
    Status,
    Thought,
    Tool,
    ToolCall,
    ToolResult,
)
from hansei.sources.agents.codex import prompts
from hansei.sources.agents.codex.records import Part
from hansei.sources.agents.codex.thread import call_key, key_of
from hansei.sources.families import tagged
from hansei.sources.families.records import value_of

if TYPE_CHECKING:
    from hansei.events.model import AnyEvent
    from hansei.sources.agents.codex.prompts import Said
    from hansei.sources.agents.codex.records import Payload
    from hansei.sources.agents.codex.thread import Reader

_IMAGES = frozenset(("input_image", "image", "local_image"))


def message(reader: Reader, payload: Payload) -> None:
    if payload.content is None:
        reader.unrecognised("message without content")
        return
    content = payload.content
    parts = [Part("text", content)] if isinstance(content, str) else content
    turn = payload.passthrough.turn_id if payload.passthrough else None
    if payload.role == "assistant":
        _reply(reader, parts, turn)
    elif payload.role == "user":
        _user(reader, payload, parts, turn)
    else:
        for number, part in enumerate(parts):
            if part.text:
                origin = prompts.noted_origin(payload.passthrough, number) or Origin.HARNESS
                _prompt(reader, part.text, origin, turn)


def _reply(reader: Reader, parts: list[Part], turn: str | None) -> None:
    text = "\n".join(part.text for part in parts if part.text)
    if text:
        key = reader.text_key("reply", text, turn)
        reader.emit(Reply(key=key, text=text, model=reader.model, **reader.where))


def _user(reader: Reader, payload: Payload, parts: list[Part], turn: str | None) -> None:
    """A message in the user's place: what is the program's is split off, the rest is one prompt."""
    rest: list[str] = []
    images = sum(part.type in _IMAGES for part in parts)
    for number, part in enumerate(parts):
        if not part.text:
            continue
        noted = prompts.noted_origin(payload.passthrough, number)
        for said in prompts.pieces(part.text):
            origin = said.origin or noted
            if origin is None:
                rest.append(said.text)
            else:
                _program_said(reader, said, origin, turn)
    text = "\n".join(rest)
    if text or images:
        origin = prompts.ours(text, _speaker(reader, turn))
        key = reader.text_key("prompt", text, turn)
        reader.emit(Prompt(key=key, text=text, origin=origin, images=images, **reader.where))


def _speaker(reader: Reader, turn: str | None) -> Origin:
    """Who speaks where nothing else is said: a person, unless a subagent is spoken to."""
    state = reader.state
    if reader.is_inherited(turn) or state.helper is None:
        again = state.asked and bool(state.turn)
        state.asked = True
        return Origin.QUEUED_HUMAN if again else Origin.HUMAN
    return Origin.PARENT_AGENT if state.helper == "agent" else Origin.HARNESS


def _program_said(reader: Reader, said: Said, origin: Origin, turn: str | None) -> None:
    tag = tagged.leading(said.text.lstrip())
    if tag == prompts.SHELL_COMMAND and MARKER not in said.text:
        command = tagged.inner(said.text, "command") or ""
        key = reader.text_key("command", said.text, turn)
        reader.emit(SlashCommand(key=key, name="!", text=command, **reader.where))
        output = tagged.inner(said.text, "result") or ""
        key = key_of("output", str(key))
        reader.emit(Notice(key=key, name="shell_output", text=output, **reader.where))
        return
    if tag == prompts.ENVIRONMENT:
        facts = reader.facts()
        facts.cwd = facts.cwd or tagged.inner(said.text, "cwd") or None
    _prompt(reader, said.text, origin, turn)


def _prompt(reader: Reader, text: str, origin: Origin, turn: str | None) -> None:
    key = reader.text_key("prompt", text, turn)
    reader.emit(Prompt(key=key, text=text, origin=prompts.ours(text, origin), **reader.where))


def agent_message(reader: Reader, payload: Payload) -> None:
    """What another agent of the team says; the task itself may be sealed."""
    content = payload.content
    parts = content if isinstance(content, list) else [Part("text", content)]
    text = "\n".join(part.text for part in parts if part.text)
    if text:
        origin = Origin.PARENT_AGENT if reader.state.helper else Origin.HARNESS
        turn = payload.passthrough.turn_id if payload.passthrough else None
        _prompt(reader, text, origin, turn)


def reasoning(reader: Reader, payload: Payload) -> None:
    summary = payload.summary
    parts = summary if isinstance(summary, list) else []
    text = "\n".join(part.text for part in parts if part.text)
    if not text and isinstance(payload.content, list):
        text = "\n".join(part.text for part in payload.content if part.text)
    turn = payload.passthrough.turn_id if payload.passthrough else None
    mark = digest(bytes(payload.encrypted_content) + text.encode("utf-8", "surrogatepass"))
    key = reader.mark_key("thought", mark, turn)
    reader.emit(Thought(key=key, text=text, model=reader.model, **reader.where))


class _Search(msgspec.Struct):
    type: str | None = None
    query: str | None = None
    queries: list[str] | None = None
    url: str | None = None
    pattern: str | None = None


def web_search_call(reader: Reader, payload: Payload) -> None:
    """A search the provider made. What it found is not written down."""
    action = value_of(payload.action)
    arguments = action if isinstance(action, dict) else {}
    try:
        search = msgspec.convert(arguments, _Search)
    except msgspec.ValidationError:
        search = _Search()
    text = search.query or search.url or search.pattern or "\n".join(search.queries or ())
    turn = payload.passthrough.turn_id if payload.passthrough else None
    key = reader.text_key("search", f"{search.type}\x1f{text}", turn)
    event = ToolCall(
        key=key,
        call=payload.id or f"web_{key & 0xFFFF_FFFF_FFFF_FFFF:016x}",
        tool=Tool.WEB,
        name="web_search",
        arguments=arguments,
        text=text,
        model=reader.model,
        **reader.where,
    )
    reader.emit(event)
    if search.type == "search" and payload.status != "failed":  # opening a page is not billed
        billed = RequestUsage(key=key_of("searched", str(key)), web_searches=1, **reader.where)
        reader.emit(billed)


def image_generation_call(reader: Reader, payload: Payload) -> None:
    """A picture the provider made; the picture itself is left out."""
    text = payload.revised_prompt or ""
    call = payload.id or f"image_{digest(bytes(payload.result))}"
    done = payload.status == "completed"
    shared = {"call": call, **reader.where}
    made: list[AnyEvent] = [
        ToolCall(
            key=call_key(reader, "call", call),
            tool=Tool.OTHER,
            name="image_generation",
            text=text,
            model=reader.model,
            **shared,
        ),
        ToolResult(
            key=call_key(reader, "result", call),
            text="",
            status=Status.OK if done else Status.UNKNOWN,
            basis=Basis.FLAG if done else Basis.NONE,
            images=int(done),
            **shared,
        ),
    ]
    for event in made:
        reader.emit(event)
