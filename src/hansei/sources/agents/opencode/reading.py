"""How a database, or the files of a session, are read on from where the last reading stopped.

A message is read with all its parts, and so is every message that has changed since. Sessions are
told along with their messages, and again when their own record changes: titles come late.
"""

from __future__ import annotations

import re
import sqlite3
from itertools import chain
from typing import TYPE_CHECKING

import msgspec

from hansei.events.keys import digest, event_key
from hansei.events.model import Driver, Notice, Relation
from hansei.sources.agents.opencode import AGENT, DATABASE, answers, first, prompts, records
from hansei.sources.agents.opencode.progress import Found, Progress, State, Taken, mark
from hansei.sources.agents.opencode.reader import Owner, Reader, Said, moment_of
from hansei.sources.agents.opencode.records import Message, Part, Session
from hansei.sources.agents.opencode.storage import WANTED, Database, Files
from hansei.sources.agents.opencode.stored import Stored
from hansei.sources.contract import START, Cursor, Problem, Reading
from hansei.sources.families import sqlite
from hansei.sources.families.records import FAILURES
from hansei.sources.families.streams import LONGEST_ID

if TYPE_CHECKING:
    from hansei.events.model import SessionFacts
    from hansei.sources.agents.opencode.progress import Changed
    from hansei.sources.agents.opencode.storage import Storage
    from hansei.sources.contract import Transcript

_PLACEHOLDER = re.compile(r"(?:New|Child) session - \d{4}-\d\d-\d\dT")
_WINDOWS = re.compile(r"[A-Za-z]:/")
_NEWER = "unknown schema: {} sessions are only in session_message, which is not read yet"


def read(transcript: Transcript, since: Cursor, limit: int) -> Reading:
    """What is new since the cursor."""
    if transcript.variant != DATABASE:
        return _read_storage(Files(transcript), transcript, since, limit)

    def take(connection: sqlite.Connection) -> Reading:
        if first.is_there(connection):
            return first.read(connection, transcript.path, since)
        unknown = sqlite.unknown_schema(connection, WANTED)
        if unknown is not None:
            return _unknown(unknown, since)
        if not sqlite.tables(connection):  # just made
            return Reading(cursor=START)
        return _read_storage(Database(connection), transcript, since, limit)

    return sqlite.read(transcript.path, take)


def _unknown(reason: str, since: Cursor) -> Reading:
    """A database of another program or of another time: said once."""
    cursor = Cursor(check=digest(reason.encode()))
    problems = [] if since.check == cursor.check else [Problem(0, 0, reason)]
    return Reading(cursor=cursor, problems=problems)


def _read_storage(
    storage: Database | Files, transcript: Transcript, since: Cursor, limit: int
) -> Reading:
    state = _continued(storage, since)
    if state is None:
        reading = _read_storage(storage, transcript, START, limit)
        reading.restarted = True
        return reading
    progress = Progress(state, set(state.seen))
    latest, parts = storage.reach()
    progress.begin(latest, parts)
    reader = Reader(storage)
    last, more = since.check, False
    try:
        last, more = _take_messages(reader, progress, limit)
        if not more:
            _take_removed(reader, storage, state)
            _take_sessions(reader, storage.sessions(progress.sessions_since), progress.seen)
            progress.finish(latest, parts)
            _remember(storage, progress)
    except sqlite3.DatabaseError:
        storage.damage.add(sqlite.DAMAGED)
    _tell_too_long(reader, storage)
    if not more:
        _tell_unread(reader, storage, state)
    taken = transcript.path.stat().st_size if not more else since.offset + reader.taken
    return Reading(
        cursor=Cursor(taken, 0, last or since.check, progress.stored()),
        events=list(reader.events.values()),
        sessions=reader.sessions,
        problems=reader.problems,
        records=reader.records,
        taken=reader.taken,
        more=more,
    )


def _continued(storage: Database | Files, since: Cursor) -> State | None:
    """The state to go on from; None if what was read before is not what is there now."""
    try:
        state = msgspec.convert(since.state, State)
    except msgspec.ValidationError:  # notes of another version of this file
        return None
    if since == START or not isinstance(storage, Database):
        return state
    known = not since.check or storage.session(since.check) is not None
    return state if known and not state.damaged else None


def _take_messages(reader: Reader, progress: Progress, limit: int) -> tuple[str, bool]:
    """Read what is new, oldest first. Returns the last session read, and whether more is left."""
    last, storage, state = "", reader.storage, progress.state
    changed = storage.changed(state, progress.since)
    for found in chain(changed, storage.beyond(state.row)):
        if not progress.is_new(found):
            continue
        if reader.taken >= limit:
            return last, True
        taken = _take(reader, found)
        if reader.met_a_copy:
            return last, True  # a reading tells each thing once: who has it again, the next tells
        if found.place >= state.row and _is_there(reader, found.session):
            last = found.session
        progress.has_read(found, taken)
    return last, False


def _is_there(reader: Reader, session: str) -> bool:
    """Whether a session has a record of its own, by which the database is known again."""
    return len(session) <= LONGEST_ID and _record_of(reader, session).id is not None


def _remember(storage: Storage, progress: Progress) -> None:
    since = progress.since
    progress.remember([*storage.changed(progress.state, since), *storage.sessions(since)])


def _tell_too_long(reader: Reader, storage: Storage) -> None:
    """No damage: reading the database again would not bring the row."""
    if sqlite.TOO_LONG in storage.damage:
        storage.damage.remove(sqlite.TOO_LONG)
        reader.problems.append(Problem(0, 0, sqlite.TOO_LONG))


def _tell_unread(reader: Reader, storage: Storage, state: State) -> None:
    """Say what could not be read, once; a damaged database is read again from its beginning."""
    if storage.damage:
        reader.problems += [Problem(0, 0, reason) for reason in sorted(storage.damage)]
        state.damaged = True
    elif isinstance(storage, Database):
        newer = storage.only_newer()
        if newer > state.newer:
            reader.problems.append(Problem(0, 0, _NEWER.format(newer)))
        state.newer = newer


def _take_removed(reader: Reader, storage: Storage, state: State) -> None:
    """Read what was deleted; if it was read before, it is told again under the same keys."""
    if isinstance(storage, Database):
        removed, state.log = storage.removals(state.log)
        for item in removed:
            _take(reader, Found(0, item.message, item.session, 0))


# --- messages -------------------------------------------------------------------------------------


def _take(reader: Reader, found: Found) -> Taken:
    """Read one message with its parts."""
    try:
        return _take_message(reader, found)
    except sqlite3.DatabaseError:
        reader.storage.damage.add(sqlite.DAMAGED)
    except OSError as problem:
        reason = f"cannot be read: {problem.strerror}"
        reader.problems.append(Problem(found.place, found.place, reason))
    return Taken()


def _take_message(reader: Reader, found: Found) -> Taken:
    stored = reader.storage.message(found.id)
    message = reader.record(stored, Message, records.decode_message) if stored else None
    items = reader.storage.parts(found.id)
    changed = max((item.changed for item in items), default=0)
    if stored is None or message is None:
        return Taken(changed=changed)
    kept: list[Stored] = []
    parts: list[Part] = []
    for item in items:
        part = reader.record(item, Part, records.decode_part)
        if part is not None:
            kept.append(item)
            parts.append(part)
    made = moment_of(message.time, "created")
    said = Said(_owner(reader, found.session), message, parts, str(made or found.id))
    if message.role == "user":
        prompts.take(reader, said, kept)
    elif message.role == "assistant":
        said.asked = reader.asked_by(message.parentID)
        answers.take(reader, said, kept)
    else:
        reader.unrecognised(said, f"message/{message.role}", stored)
    if bytes(message.parts) not in (b"", b"[]", b"null"):
        reader.unrecognised(said, "message with its parts inside", stored)
    return Taken(message.role == "assistant" and not said.is_over, changed)


# --- sessions -------------------------------------------------------------------------------------


def _take_sessions(reader: Reader, sessions: list[Changed], seen: set[int]) -> None:
    """Tell what changed of sessions that have said anything; their titles come late."""
    for changed in sessions:
        if mark(changed) not in seen and reader.storage.first(changed.id) is not None:
            _owner(reader, changed.id)
            record = _record_of(reader, changed.id)
            if record.revert is not None and record.revert.messageID:
                _reverted(reader, changed, record.revert)


def _reverted(reader: Reader, changed: Changed, revert: records.Reverted) -> None:
    """A person took the session back; what was said after that is deleted when it goes on."""
    message, part = revert.messageID or "", revert.partID or ""
    key = event_key(AGENT, "reverted", changed.id, message, part)
    data = {"message": message, **({"part": part} if part else {})}
    at = changed.stamp
    reader.emit(Notice(key=key, name="reverted", data=data, session=changed.id, at=at))


def _owner(reader: Reader, session: str) -> Owner:
    """The session, and what is to be told of it, once in a reading."""
    known = reader.owners.get(session)
    if known is None:
        record = _record_of(reader, session)
        facts = reader.facts(session)
        _learn(reader, facts, record)
        known = reader.owners[session] = Owner(session, facts.cwd, record.parentID is not None)
    return known


def _record_of(reader: Reader, session: str) -> Session:
    known = reader.own_records.get(session)
    if known is None:
        content = reader.storage.session(session)
        stored = Stored(0, session, content or b"{}")
        known = reader.record(stored, Session, records.decode_session) or Session()
        reader.own_records[session] = known
    return known


def _learn(reader: Reader, facts: SessionFacts, record: Session) -> None:
    facts.cwd = _folder(record.directory)
    facts.version = record.version
    if record.title and not _PLACEHOLDER.match(record.title):
        facts.title = record.title
    if record.parentID:
        facts.driver, facts.driver_recorded = Driver.SUBAGENT, True
        facts.parent, facts.relation = record.parentID, Relation.SUBAGENT
        facts.role = record.agent
        return
    if any(
        rule.permission == "question" and rule.action == "deny" for rule in record.permission or ()
    ):
        facts.driver, facts.driver_recorded = Driver.AUTOMATED, True
        facts.entrypoint = "run"
    elif not facts.driver_recorded:
        facts.driver = Driver.HUMAN
    began, first = moment_of(record.time, "created"), reader.storage.first(facts.id)
    made = _made(first) if first else None
    if began is not None and made is not None and made < began:
        facts.relation = Relation.FORK
        facts.parent = reader.storage.origin(facts.id, began)


def _made(stored: Stored) -> int | None:
    try:
        return moment_of(records.decode_message(stored.data).time, "created")
    except FAILURES:
        return None


def _folder(directory: str | None) -> str | None:
    """A folder as its system writes it: the database has Windows' folders with slashes."""
    if directory and _WINDOWS.match(directory):
        return directory.replace("/", "\\")
    return directory or None
