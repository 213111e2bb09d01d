"""One session file, line by line: each entry to its handler."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from hansei.events.model import (
    MARKER,
    Compaction,
    Notice,
    Origin,
    Relation,
    SlashCommand,
)
from hansei.sources.contract import START, Reading
from hansei.sources.families import jsonl
from hansei.sources.families.clock import instant
from hansei.sources.families.records import take_lines, value_of
from hansei.sources.families.streams import short, text_digest
from hansei.sources.families.tree import answers, records, results
from hansei.sources.families.tree.reader import LONGEST_NAME, Said, State, model_in, open_reader
from hansei.sources.families.tree.records import IGNORED, Entry, Message, images, words

if TYPE_CHECKING:
    from collections.abc import Callable

    from hansei.sources.contract import Cursor, Transcript
    from hansei.sources.families.tree.reader import Dialect, Reader

_SESSION_IN_NAME = re.compile(r"(?:^|_)([^_]+?)\.jsonl")


def read(
    dialect: Dialect, transcript: Transcript, since: Cursor, limit: int, speaker: Origin | None
) -> Reading:
    """What is new since the cursor. `speaker` is who prompts, where it is known to be no person."""
    part = jsonl.read(transcript.path, since, limit)
    fresh = part.restarted or since.offset == 0
    try:
        state = State() if fresh else msgspec.convert(since.state, State)
    except msgspec.ValidationError:  # notes of another version of this file: begin again
        reading = read(dialect, transcript, START, limit, speaker)
        reading.restarted = True
        return reading
    reader = open_reader(dialect, transcript.path, state, session_in(transcript.path.name))
    reader.speaker = speaker
    reader.problems += part.problems
    take_lines(reader, part.numbered(), Entry, records.decode, take)
    return part.reading(reader, msgspec.to_builtins(state))


def session_in(name: str) -> str:
    """The session that a file's name or path tells."""
    last = re.split(r"[\\/]", name)[-1]
    found = _SESSION_IN_NAME.search(last)
    return short(found[1] if found else last)


def take(reader: Reader, entry: Entry) -> None:
    """Turn one entry into events."""
    kind = entry.type or ""
    own = entry.message.timestamp if entry.message else None
    at = instant(entry.timestamp)
    reader.where = {
        "session": reader.session,
        "at": instant(own) if at is None else at,
        "cwd": reader.cwd,
    }
    handler = _HANDLERS.get(kind)
    if handler is not None:
        handler(reader, entry)
    elif kind not in IGNORED:
        reader.unrecognised(kind or "a line without a type")
    if kind != "session" and reader.events:
        reader.facts()


# --- what the session is --------------------------------------------------------------------------


def _header(reader: Reader, entry: Entry) -> None:
    """The first line. A second one in a file is a copy's, and tells where the rest came from."""
    if reader.state.header is not None:
        return
    reader.state.header = reader.offset
    if entry.id:
        reader.state.session = reader.session = short(entry.id)
    reader.use_header(entry)
    facts = reader.facts()
    parent = entry.parent_session or entry.branched_from
    if parent:
        facts.parent, facts.relation = session_in(parent), Relation.FORK


def _model_change(reader: Reader, entry: Entry) -> None:
    reader.state.model = reader.offset
    reader.use_model(entry)


def _named(reader: Reader, entry: Entry) -> None:
    if entry.name:
        reader.facts().title = entry.name


# --- what the program says of itself --------------------------------------------------------------


def _custom(reader: Reader, entry: Entry) -> None:
    """What an extension notes for itself; the model is not shown it."""
    name = entry.custom_type or "custom"
    if name == "model-snapshot" and model_in(entry):
        _model_change(reader, entry)
        return
    held = value_of(entry.data)
    error = held.get("error") if isinstance(held, dict) else None
    text = error if isinstance(error, str) else ""
    _notice(reader, reader.stamp(entry), name, text)


def _notice(reader: Reader, stamp: str, name: str, text: str) -> None:
    key = reader.key("notice", stamp, name, text_digest(text))
    reader.emit(Notice(key=key, name=name[:LONGEST_NAME], text=text, **reader.where))


def _compaction(reader: Reader, entry: Entry) -> None:
    text = entry.summary or ""
    event = Compaction(
        key=reader.key("compaction", reader.stamp(entry), text_digest(text)),
        text=text,
        trigger="extension" if entry.from_hook else None,
        tokens_before=entry.tokens_before,
        **reader.where,
    )
    reader.emit(event)


def _branch_summary(reader: Reader, entry: Entry) -> None:
    """A person went back to an earlier point; what was left behind is summed up."""
    _notice(reader, reader.stamp(entry), "branch_summary", entry.summary or "")


def _custom_message(reader: Reader, entry: Entry) -> None:
    """Text that an extension gives to the model."""
    said = Said(words(entry.content), Origin.HOOK)
    reader.prompt(reader.stamp(entry), said, images(entry.content))


# --- messages -------------------------------------------------------------------------------------


def _message(reader: Reader, entry: Entry) -> None:
    message = entry.message
    if message is None:
        reader.unrecognised("message without content")
        return
    handler = _ROLES.get(message.role or "")
    if handler is None:
        reader.unrecognised(f"message/{message.role}")
    else:
        handler(reader, message, reader.stamp(entry))


def _user(reader: Reader, message: Message, stamp: str) -> None:
    pictures = images(message.content)
    for piece in reader.dialect.pieces(words(message.content), message):
        unsaid = piece.origin is Origin.HUMAN
        said = Said(piece.text, reader.speaker) if reader.speaker and unsaid else piece
        if reader.dialect.learn is not None:
            reader.dialect.learn(reader.facts(), said)
        if said.text or pictures:
            reader.prompt(stamp, said, pictures)
            pictures = 0


def _bash_execution(reader: Reader, message: Message, stamp: str) -> None:
    """A command that a person ran with `!`, and what it printed."""
    command, output = message.command or "", message.output or ""
    if MARKER not in command:
        key = reader.key("command", stamp, text_digest(command))
        reader.emit(SlashCommand(key=key, name="!", text=command, **reader.where))
    key = reader.key("output", stamp, text_digest(command))
    data = {} if message.exit_code is None else {"exit_code": message.exit_code}
    reader.emit(Notice(key=key, name="shell_output", text=output, data=data, **reader.where))


def _extension(reader: Reader, message: Message, stamp: str) -> None:
    reader.prompt(stamp, Said(words(message.content), Origin.HOOK), images(message.content))


def _summary(reader: Reader, message: Message, stamp: str) -> None:
    """A summary that stands for what was compacted, where no entry of its own tells it."""
    text = message.summary or ""
    key = reader.key("compaction", stamp, text_digest(text))
    tokens = message.tokens_before
    reader.emit(Compaction(key=key, text=text, tokens_before=tokens, **reader.where))


def _branch(reader: Reader, message: Message, stamp: str) -> None:
    _notice(reader, stamp, "branch_summary", message.summary or "")


_HANDLERS: dict[str, Callable[[Reader, Entry], None]] = {
    "session": _header,
    "message": _message,
    "model_change": _model_change,
    "compaction": _compaction,
    "branch_summary": _branch_summary,
    "custom": _custom,
    "custom_message": _custom_message,
    "session_info": _named,
}
_ROLES: dict[str, Callable[[Reader, Message, str], None]] = {
    "user": _user,
    "assistant": answers.take,
    "toolResult": results.take,
    "bashExecution": _bash_execution,
    "custom": _extension,
    "hookMessage": _extension,
    "compactionSummary": _summary,
    "branchSummary": _branch,
}
