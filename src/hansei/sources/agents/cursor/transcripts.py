"""Transcripts beside the databases: messages without times, models or results.

A message has no id here. It is known by its chat, its words, and how often the same words came
before, so that a file which is written anew tells the same. Of a chat that a database tells too,
only those turns are told whose prompt the database does not have.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from hansei.errors import UnreadableTranscript
from hansei.events.keys import digest
from hansei.events.model import (
    Basis,
    Driver,
    Interruption,
    Notice,
    Origin,
    Prompt,
    Relation,
    Reply,
    Status,
    Thought,
    Tool,
    ToolCall,
    ToolResult,
)
from hansei.sources.agents.cursor import TEXT, near, places, plain, prompts, tools
from hansei.sources.agents.cursor.bubbles import Context, changed_files, tell_edits
from hansei.sources.agents.cursor.reader import Reader, call_key, key_of
from hansei.sources.agents.cursor.records import Line, decode_line
from hansei.sources.contract import START, Cursor, Reading
from hansei.sources.families import anthropic, jsonl
from hansei.sources.families.addresses import folder_of
from hansei.sources.families.clock import instant
from hansei.sources.families.records import take_lines
from hansei.sources.families.streams import byte_size, text_digest

if TYPE_CHECKING:
    from hansei.sources.agents.cursor.reader import Where
    from hansei.sources.contract import Transcript
    from hansei.sources.families.anthropic import Block

LONGEST_TEXT = 64 * 1024 * 1024
HIDDEN = "[REDACTED]"
"""What stands for reasoning that is not shown."""
SUBAGENTS = "subagents"


@dataclass
class Sofar:
    """What the lines before this one have told. It is counted anew from the file each time."""

    texts: dict[str, int] = field(default_factory=dict)
    """How often each text was told."""
    waiting: list[tuple[str, str]] = field(default_factory=list)
    """Calls without ids that have no result yet: tool and id."""
    elsewhere: bool = False
    """Whether a database tells the turn we are in."""


@dataclass
class Telling(Reader):
    """A reading of one transcript."""

    sofar: Sofar = field(default_factory=Sofar)
    chat: str = ""
    origin: Origin = Origin.HUMAN
    told: dict[str, int] = field(default_factory=dict)
    """Prompts of this chat that a database tells, and how often each."""

    def say(self, kind: str, text: str) -> int:
        """What a text is known by: its chat, its words, and how often they came before."""
        return key_of(kind, self.chat, text_digest(text), str(self.count(kind, text)))

    def count(self, kind: str, text: str) -> int:
        """How often a text came before."""
        mark = text_digest(f"{kind}\x1f{text}")
        before = self.sofar.texts.get(mark, 0)
        self.sofar.texts[mark] = before + 1
        return before


def read(transcript: Transcript, since: Cursor, limit: int) -> Reading:
    """What is new in a transcript since the cursor."""
    if transcript.variant == TEXT:
        return _read_text(transcript, since)
    part = jsonl.read(transcript.path, since, limit)
    reader = _open(transcript)
    reader.problems += part.problems
    if part.restarted or since.offset == 0:
        _learn(reader, begun=bool(part.lines))
    elif part.lines:
        reader.sofar = _counted(transcript, since.offset)
    take_lines(reader, part.numbered(), Line, decode_line, _take)
    return part.reading(reader, {})


def _counted(transcript: Transcript, end: int) -> Sofar:
    """What the file has told up to an offset. Transcripts are small: results are not in them."""
    earlier = _open(transcript)
    part = jsonl.read(transcript.path, START, end)
    take_lines(earlier, part.numbered(), Line, decode_line, _take)
    return earlier.sofar


def _read_text(transcript: Transcript, since: Cursor) -> Reading:
    """A transcript in plain text has no lines that end for good: if it changed, all is read."""
    try:
        with transcript.path.open("rb") as file:
            content = file.read(LONGEST_TEXT)
    except OSError as problem:
        raise UnreadableTranscript(
            f"{transcript.path} cannot be read: {problem.strerror}"
        ) from problem
    size, check = len(content), digest(content)
    if since.offset == size and since.check == check:
        return Reading(since)
    reader = _open(transcript)
    _learn(reader, begun=True)
    for spoken in plain.messages(content.decode("utf-8", "replace")):
        reader.records += 1
        _message(reader, spoken.role, spoken.blocks, {"session": reader.chat})
    continued = digest(content[: since.offset]) == since.check
    return Reading(
        cursor=Cursor(offset=size, check=check),
        events=list(reader.events.values()),
        sessions=reader.sessions,
        problems=reader.problems,
        records=reader.records,
        taken=size,
        restarted=since.offset > 0 and not continued,
    )


def _open(transcript: Transcript) -> Telling:
    chat = transcript.path.stem
    below = transcript.path.parent.name == SUBAGENTS
    return Telling(
        transcript,
        chat=chat,
        origin=Origin.PARENT_AGENT if below else Origin.HUMAN,
        told=near.prompts_of(transcript.path, chat),
    )


def _learn(reader: Telling, *, begun: bool) -> None:
    """What the transcript's place, and what lies around it, say of the chat."""
    path, facts = reader.transcript.path, reader.facts(reader.chat)
    facts.driver = Driver.HUMAN
    if reader.origin is Origin.PARENT_AGENT:
        facts.driver, facts.driver_recorded = Driver.SUBAGENT, True
        facts.parent, facts.relation = path.parent.parent.name, Relation.SUBAGENT
    kept = places.kept_by_program(path, reader.chat)
    if kept is None:
        facts.cwd = places.unsqueezed(path)
        return
    facts.entrypoint, facts.cwd = "cli", kept.folder or places.unsqueezed(path)
    if kept.created is not None and begun:
        key = key_of("chat", reader.chat)
        reader.emit(Notice(key=key, session=reader.chat, at=kept.created, name="chat"))


# --- messages -------------------------------------------------------------------------------------


def _take(reader: Telling, line: Line) -> None:
    at = instant(line.timestamp_ms) or instant(line.timestamp)
    where = {"session": reader.chat, "at": at}
    if line.role in ("user", "assistant", "system") and line.message is not None:
        _message(reader, line.role, line.message.blocks(), where)
    elif line.type == "turn_ended":
        _turn_ended(reader, line, where)
    else:
        kind = line.role or line.type or "without a type"
        reader.unrecognised(f"line {kind}", reader.line, where)


def _turn_ended(reader: Telling, line: Line, where: Where) -> None:
    if line.status == "success" or reader.sofar.elsewhere:
        return
    text = line.error or ""
    if line.status == "aborted":
        key = reader.say("stopped", text)
        reader.emit(Interruption(key=key, text=text, **where))
    else:
        key = reader.say("ended", f"{line.status} {text}")
        data = {"status": line.status} if line.status else {}
        reader.emit(Notice(key=key, name="turn_ended", text=text, data=data, **where))


def _message(reader: Telling, role: str, blocks: list[Block], where: Where) -> None:
    texts = [block.text for block in blocks if block.text is not None]
    images = sum(block.type == "image" for block in blocks)
    if role == "system":
        _said(reader, [prompts.Said("\n\n".join(texts), Origin.HARNESS)], 0, where)
    elif role == "user" and (texts or images):
        whole = "\n\n".join(texts)
        bare = prompts.IMAGE.sub("", whole)
        drawn = images + len(prompts.IMAGE.findall(whole))
        facts = reader.facts(reader.chat)
        facts.cwd = facts.cwd or folder_of(prompts.workspace_in(whole))
        _said(reader, prompts.pieces(bare), drawn, where)
    for block in blocks:
        if block.type == "tool_result" or block.tool_use_id:
            _result(reader, block, where)
        elif role == "assistant":
            _answered(reader, block, where)
        elif block.text is None and block.type not in ("image", "document"):
            reader.unrecognised(f"{role} block {block.type}", reader.line, where)


def _said(reader: Telling, said: list[prompts.Said], images: int, where: Where) -> None:
    """A message in the user's place. A prompt begins a turn, which a database may have too."""
    asked = "\n\n".join(part.text for part in said if part.origin is None)
    if asked or images:
        mark, before = text_digest(asked), reader.count("prompt", asked)
        reader.sofar.elsewhere = reader.told.get(mark, 0) > before
    if reader.sofar.elsewhere:
        return
    for part in said:
        if part.origin is not None and part.text:
            origin = prompts.ours(part.text, part.origin)
            injected = reader.say("injected", part.text)
            reader.emit(Prompt(key=injected, text=part.text, origin=origin, **where))
    if asked or images:
        key = key_of("prompt", reader.chat, mark, str(before))
        origin = prompts.ours(asked, reader.origin)
        reader.emit(Prompt(key=key, text=asked, origin=origin, images=images, **where))


def _answered(reader: Telling, block: Block, where: Where) -> None:
    if reader.sofar.elsewhere:
        return
    if block.type == "tool_use":
        _called(reader, block, where)
    elif block.type in ("thinking", "redacted_thinking"):
        thought = block.thinking or ""
        reader.emit(Thought(key=reader.say("thought", thought), text=thought, **where))
    elif block.text is not None:
        text = block.text.replace(HIDDEN, "").strip()
        if HIDDEN in block.text:
            reader.emit(Thought(key=reader.say("thought", ""), text="", **where))
        if text:
            reader.emit(Reply(key=reader.say("reply", text), text=text, **where))
    elif block.type not in ("image", "document"):
        reader.unrecognised(f"assistant block {block.type}", reader.line, where)


# --- calls ----------------------------------------------------------------------------------------


def _called(reader: Telling, block: Block, where: Where) -> None:
    name, arguments = block.name or "unnamed", block.input or {}
    tool, text = tools.tool_of(name), tools.about(arguments)
    call = block.id or _made_up(reader, name, arguments)
    found = changed_files(Context(reader.chat), name, tool, arguments, {})
    reader.emit(
        ToolCall(
            key=call_key("call", call, reader.chat),
            call=call,
            tool=tool,
            name=name,
            arguments=arguments,
            text="\n".join(edit.path for edit in found) or text,
            server=tools.server_of(name, arguments) if tool is Tool.MCP else None,
            **where,
        )
    )
    tell_edits(reader, reader.chat, call, found, None, where)


def _made_up(reader: Telling, name: str, arguments: dict[str, object]) -> str:
    """An id for a call that has none; a result without one answers the oldest such call."""
    shown = msgspec.json.encode(arguments, order="sorted").decode()
    number = key_of("unnamed", reader.chat, name, shown, str(reader.count(name, shown)))
    call = f"made-up-{number & (2**64 - 1):016x}"
    reader.sofar.waiting.append((name, call))
    return call


def _result(reader: Telling, block: Block, where: Where) -> None:
    call = block.tool_use_id or _answered_call(reader, block.name or "")
    if reader.sofar.elsewhere or not call:
        return
    text, images = anthropic.result_text(block.content)
    hidden = not text or text == HIDDEN
    failed = block.is_error is True
    reader.emit(
        ToolResult(
            key=call_key("result", call, reader.chat),
            call=call,
            text="" if hidden else text,
            status=Status.FAILED if failed else Status.UNKNOWN,
            basis=Basis.FLAG if failed else Basis.NONE,
            size=None if hidden else byte_size(text),
            images=images,
            **where,
        )
    )


def _answered_call(reader: Telling, name: str) -> str | None:
    waiting = reader.sofar.waiting
    for number, (tool, call) in enumerate(waiting):
        if not name or tool == name:
            del waiting[number]
            return call
    return None
