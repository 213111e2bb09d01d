"""A message as events: prompts, replies, thoughts, calls, and what its request took."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

from hansei.events.model import (
    MARKER,
    Compaction,
    Interruption,
    Notice,
    Origin,
    Prompt,
    Reply,
    RequestUsage,
    SlashCommand,
    Thought,
)
from hansei.sources.agents.gemini_cli import calls
from hansei.sources.agents.gemini_cli.records import holds_answers, images_in, text_of
from hansei.sources.families import tagged
from hansei.sources.families.streams import Counts

if TYPE_CHECKING:
    from hansei.sources.agents.gemini_cli.reading import Reader
    from hansei.sources.agents.gemini_cli.records import Record, Tokens

_SUMMARY = re.compile(r"\s*(?:<scratchpad>.*?</scratchpad>\s*)?<state_snapshot>", re.DOTALL)
"""How the summary begins that takes the place of a long conversation."""
_CANCELLED = "Request cancelled."
_HOOK = "hook_context"
_HARNESS_START = ("<session_context>", "This is the Gemini CLI. We are setting up the context")
_COMMAND = re.compile(r"/([A-Za-z][\w:.-]*)(?:\s+(.*))?$", re.DOTALL)


def tell(reader: Reader, record: Record, message: str, *, synthetic: bool) -> None:
    """Turn a message into events; `synthetic` where it stands only in a retold conversation."""
    if record.type == "user":
        _prompt(reader, record, message, synthetic=synthetic)
    elif record.type == "gemini":
        _answer(reader, record, message)
    elif record.type in ("info", "warning", "error"):
        _notice(reader, record, message)
    else:
        reader.unrecognised(record.type or "a message without a type", record.timestamp)


def count_again(reader: Reader, record: Record, message: str) -> None:
    """A message told again within a retold conversation: nothing in it is new but the telling."""
    if record.tokens is not None:
        _usage(reader, record, message, record.tokens)


# --- the user's place -----------------------------------------------------------------------------


def _prompt(reader: Reader, record: Record, message: str, *, synthetic: bool) -> None:
    where = reader.where(record.timestamp)
    given, shown = text_of(record.content), text_of(record.display_content)
    images = images_in(record.content)
    if _SUMMARY.match(given):
        key = reader.key("compaction", message)
        reader.emit(Compaction(key=key, text=given, **where))
        return
    typed, added = tagged.split(shown or given, (_HOOK,))
    for number, escaped in enumerate(added):
        # Newer versions keep a hook from writing tags.
        text = html.unescape(tagged.inner(escaped, _HOOK) or "")
        origin = Origin.HANSEI if MARKER in text else Origin.HOOK
        key = reader.key("hook", message, str(number))
        reader.emit(Prompt(key=key, text=text, origin=origin, **where))
    if not typed.strip() and not images:
        if not added and not holds_answers(record.content):
            reader.unrecognised("a prompt without text", record.timestamp)
        return
    origin = Origin.HARNESS if synthetic else _origin(reader, typed)
    command = _COMMAND.match(typed) if shown and shown != given else None
    if command is not None and origin is Origin.HUMAN:
        key = reader.key("command", message)
        reader.emit(SlashCommand(key=key, name=command[1], text=command[2] or "", **where))
        typed, origin = given, Origin.HANSEI if MARKER in given else Origin.HARNESS
    key = reader.key("prompt", message)
    reader.emit(Prompt(key=key, text=typed, origin=origin, images=images, **where))


def _origin(reader: Reader, text: str) -> Origin:
    if MARKER in text:
        return Origin.HANSEI
    if text.lstrip().startswith(_HARNESS_START):
        return Origin.HARNESS
    return Origin.PARENT_AGENT if reader.is_subagent else Origin.HUMAN


def _notice(reader: Reader, record: Record, message: str) -> None:
    """What the program told the person; the same words on one call say that it was stopped."""
    where, text = reader.where(record.timestamp), text_of(record.content)
    if text.strip() == _CANCELLED:
        reader.emit(Interruption(key=reader.key("interruption", message), text=text, **where))
        return
    key = reader.key("notice", message)
    reader.emit(Notice(key=key, name=record.type or "", text=text, **where))


# --- the model's place ----------------------------------------------------------------------------


def _answer(reader: Reader, record: Record, message: str) -> None:
    where = reader.where(record.timestamp)
    by: dict[str, Any] = {"model": record.model, "message": message, **where}
    for number, thinking in enumerate(record.thoughts or []):
        parts = (thinking.subject, thinking.description)
        text = "\n".join(part for part in parts if part)
        key = reader.key("thought", message, str(number))
        reader.emit(Thought(key=key, text=text, **by))
    if text := text_of(record.content).strip():
        reader.emit(Reply(key=reader.key("reply", message), text=text, **by))
    for call in record.tool_calls or []:
        calls.tell(reader, call, message, by)
    if record.tokens is not None:
        _usage(reader, record, message, record.tokens)


def _usage(reader: Reader, record: Record, message: str, tokens: Tokens) -> None:
    tally = reader.tally(message)
    tally.add(_counts(tokens))
    event = RequestUsage(
        key=reader.key("request", message),
        model=record.model,
        message=message,
        **tally.totals(),
        **reader.where(record.timestamp),
    )
    reader.emit(event)


def _counts(tokens: Tokens) -> Counts:
    """Disjoint counts: the prompt includes what was cached, the answer leaves out the thoughts."""
    cached = _sound(tokens.cached)
    given, answered, thought = _sound(tokens.input), _sound(tokens.output), _sound(tokens.thoughts)
    fresh = None if given is None else max(given - (cached or 0), 0) + (_sound(tokens.tool) or 0)
    output = None if answered is None and thought is None else (answered or 0) + (thought or 0)
    return Counts(input=fresh, cache_read=cached, output=output, reasoning=thought)


def _sound(count: int | None) -> int | None:
    return count if count is not None and count >= 0 else None
