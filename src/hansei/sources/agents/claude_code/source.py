"""Where the transcripts are, and how one is read."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from hansei.events.keys import digest
from hansei.events.model import Driver, Origin
from hansei.sources.agents.claude_code import answers, program, prompts, records, turns
from hansei.sources.agents.claude_code.reader import (
    AGENT,
    SESSION,
    SUBAGENT,
    State,
    branch_of,
    key_of,
    learn,
    open_reader,
    session_of,
)
from hansei.sources.agents.claude_code.records import IGNORED, Record
from hansei.sources.contract import SLICE_BYTES, START, Capabilities, Problem, Reading, Transcript
from hansei.sources.families import folders, jsonl
from hansei.sources.families.clock import instant
from hansei.sources.families.records import FAILURES, rescue, salvage
from hansei.sources.families.streams import short, text_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hansei.config import Environment
    from hansei.sources.agents.claude_code.reader import Reader, Where
    from hansei.sources.contract import Cursor

T = TypeVar("T", bound=msgspec.Struct)

HISTORY = "history"
PEEK_BYTES = 64 * 1024
"""How much of a file is looked at to find its first time."""
_NO_TRANSCRIPTS = frozenset(("tool-results", "memory"))
_JOURNAL = "journal.jsonl"
_FIRST_TIME = re.compile(rb'"timestamp":\s*"([^"]{10,40})"')
_OWNER = re.compile(rb'"sessionId":\s*"([^"]{1,80})"')

_HANDLERS: dict[str, Callable[[Reader, Record, Where], None]] = {
    "assistant": answers.assistant,
    "user": turns.user,
    "progress": answers.progress,
    "system": program.system,
    "attachment": turns.attachment,
    "queue-operation": turns.queue_operation,
    "summary": program.summary,
    "ai-title": program.title,
    "custom-title": program.title,
    "pr-link": program.fact,
    "cost-state": program.fact,
}


def _take(reader: Reader, record: Record) -> None:
    """Turn one record into events."""
    session = session_of(reader, record)
    where = {
        "session": session,
        "at": instant(record.timestamp),
        "cwd": record.cwd,
        "branch": branch_of(record),
    }
    learn(reader, record, session)
    kind = record.type or ""
    handler = _HANDLERS.get(kind)
    if handler is not None:
        handler(reader, record, where)
    elif kind not in IGNORED:
        reader.unrecognised(kind or "a record without a type", where)
    if record.uuid:
        reader.state.leaf = short(record.uuid)


# --- the list of prompts a person typed -----------------------------------------------------------


class _Typed(msgspec.Struct, rename="camel"):
    display: str | None = None
    timestamp: str | int | float | None = None
    project: str | None = None
    session_id: str | None = None


_decode_typed = msgspec.json.Decoder(_Typed).decode


def _take_typed(reader: Reader, typed: _Typed) -> None:
    """A prompt of a session whose transcript may be gone: kept apart, in a session of its own."""
    owner = typed.session_id or digest((typed.project or "").encode("utf-8", "surrogatepass"))
    session = f"{HISTORY}:{owner}"
    where = {"session": session, "at": instant(typed.timestamp), "cwd": typed.project}
    text = typed.display
    if text is None:
        reader.unrecognised("history without a prompt", where)
        return
    facts = reader.facts(session)
    facts.driver, facts.entrypoint = Driver.HUMAN, HISTORY
    facts.cwd = facts.cwd or typed.project
    key = key_of("history", owner, str(typed.timestamp), text_digest(text))
    reader.emit(prompts.as_typed(key, text, Origin.HUMAN, where))


# --- the source -----------------------------------------------------------------------------------


_CAPABILITIES = Capabilities(
    reasoning_tokens=True, exit_codes=True, branch=True, deletes_after_days=30
)


@dataclass(frozen=True)
class ClaudeCode:
    """Reads what Claude Code leaves in its configuration folder."""

    name: str = AGENT
    title: str = "Claude Code"
    capabilities: Capabilities = field(default=_CAPABILITIES)

    def roots(self, environment: Environment, extra: list[str]) -> list[Path]:
        """Folders of projects: of the configured places, else of both default ones."""
        named = environment.variables.get("CLAUDE_CONFIG_DIR", "")
        places = [Path(part.strip()).expanduser() for part in named.split(",") if part.strip()]
        if not places:
            configuration = environment.folder("XDG_CONFIG_HOME", ".config")
            places = [environment.home / ".claude", configuration / "claude"]
        roots = [place if place.name == "projects" else place / "projects" for place in places]
        return roots + [_projects(Path(part).expanduser()) for part in extra]

    def discover(self, environment: Environment, extra: list[str]) -> Iterator[Transcript]:
        """Every session and subagent file, and each list of typed prompts."""
        roots = self.roots(environment, extra)
        for seen in folders.files(roots, ".jsonl", _NO_TRANSCRIPTS):
            if seen.path.name != _JOURNAL:
                yield transcript_at(seen.path, seen.fingerprint)
        lists = (root.parent / "history.jsonl" for root in roots if root.name == "projects")
        for seen in folders.these_files(lists):
            yield Transcript(AGENT, seen.path, HISTORY, seen.fingerprint)

    def reading_order(self, transcripts: list[Transcript]) -> list[Transcript]:
        """By folder, then by first time: a copy has its original's time and comes after it."""
        return sorted(transcripts, key=_reading_place)

    def fingerprint(self, transcript: Transcript) -> str:
        """Size, time and file, from one look at the folder."""
        return folders.fingerprint(transcript.path.stat())

    def read(self, transcript: Transcript, since: Cursor, limit: int = SLICE_BYTES) -> Reading:
        """What is new since the cursor."""
        part = jsonl.read(transcript.path, since, limit)
        fresh = part.restarted or since.offset == 0
        try:
            state = State() if fresh else msgspec.convert(since.state, State)
        except msgspec.ValidationError:  # notes of another version of this file: begin again
            reading = self.read(transcript, START, limit)
            reading.restarted = True
            return reading
        reader = open_reader(transcript, state, fresh=fresh)
        reader.problems += part.problems
        if transcript.variant == HISTORY:
            _read_lines(reader, part, _Typed, _decode_typed, _take_typed)
        else:
            _read_lines(reader, part, Record, records.decode, _take)
        return Reading(
            cursor=part.cursor(msgspec.to_builtins(state)),
            events=reader.settle(),
            sessions=reader.sessions,
            problems=reader.problems,
            records=reader.records + len(part.problems),
            taken=part.end - part.offset,
            more=part.more,
            restarted=part.restarted,
        )


def _projects(place: Path) -> Path:
    """The projects of a configuration folder; any other folder is taken as it is."""
    below = place / "projects"
    configuration = below.is_dir() or (place / "history.jsonl").is_file()
    return below if configuration else place


def _read_lines(
    reader: Reader,
    part: jsonl.Slice,
    kind: type[T],
    decode: Callable[[bytes], T],
    take: Callable[[Reader, T], None],
) -> None:
    for number, offset, line in part.numbered():
        try:
            record = decode(line)
        except FAILURES:
            value, reason = rescue(line)
            if reason is not None:
                reader.problems.append(Problem(number, offset, reason))
            if value is None:
                reader.records += reason is not None
                continue
            record = salvage(value, kind)
        reader.line, reader.offset = line, offset
        reader.records += 1
        take(reader, record)


def transcript_at(path: Path, fingerprint: str = "") -> Transcript:
    """The transcript in a file; subagents' files are told by their names."""
    variant = SUBAGENT if path.name.startswith("agent-") else SESSION
    return Transcript(AGENT, path, variant, fingerprint)


def _reading_place(transcript: Transcript) -> tuple[str, int, bool, int, str]:
    path = transcript.path
    try:
        with path.open("rb") as file:
            head = file.read(PEEK_BYTES)
            size = file.seek(0, 2)
    except OSError:
        head, size = b"", 0
    found = _FIRST_TIME.search(head)
    first = instant(found[1].decode("utf-8", "replace")) if found else None
    owner = _OWNER.search(head)
    copied = b'"forkedFrom"' in head or (owner is not None and owner[1] != path.stem.encode())
    return str(path.parent), first if first is not None else 2**63, copied, size, str(path)


SOURCE = ClaudeCode()
