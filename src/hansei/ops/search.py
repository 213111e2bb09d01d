"""Finding text in everything that was said and done.

The store finds which events match and counts them all; only those that are shown are opened, and
the lines around their matches cut out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from hansei.errors import UsageError
from hansei.events.model import (
    FileEdit,
    Notice,
    Observation,
    RequestUsage,
    SlashCommand,
    Status,
    Tool,
    ToolCall,
    ToolResult,
    Unrecognised,
)
from hansei.ops.sessions import short_id
from hansei.store import query
from hansei.store.query import MARKS, Choice, Pattern
from hansei.store.rows import from_row, json_list

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hansei.events.model import AnyEvent
    from hansei.ops.scope import Scope
    from hansei.store.database import Store
    from hansei.store.query import Log, Place

KINDS = {
    "prompt": "prompt",
    "reply": "reply",
    "thought": "thought",
    "command": "tool_call",
    "output": "tool_result",
    "edit": "file_edit",
    "slash": "slash_command",
    "notice": "notice",
    "compaction": "compaction",
    "interruption": "interruption",
}
"""What people call the kinds of events that hold text."""

WORDS = {kind: word for word, kind in KINDS.items()}

MATCHING_LINES = 3
"""Matching lines shown of one event; `hansei show` has the rest."""

LINE_CHARACTERS = 400
"""A line is cut to this much around its first match: some outputs are one line of a megabyte."""

OPENED_AT_ONCE = 250
"""Events whose full text is in memory at a time."""


@dataclass(frozen=True)
class Wanted:
    """What to look for and in which events; an empty `kinds` means all of them."""

    pattern: Pattern
    kinds: Sequence[str] = ()
    tool: str | None = None
    status: str | None = None


class Line(msgspec.Struct, frozen=True):
    """A line of a text; `matches` are the beginnings and ends of what matched in it."""

    number: int
    text: str
    matches: list[tuple[int, int]] = []


class Passage(msgspec.Struct, frozen=True):
    """Matching lines of one text of an event, with the lines around them."""

    field: str
    """Where in the event the text stands: `text`, `arguments.command`, `hunks.0.new`."""
    lines: list[Line]


class Hit(msgspec.Struct, frozen=True):
    """An event that matches."""

    reference: str
    """What `hansei show` opens."""
    seq: int
    at: int | None
    kind: str
    """In the words of `KINDS`."""
    name: str | None
    """Of the tool, the slash command or the notice."""
    status: str | None
    exit_code: int | None
    passages: list[Passage]
    more_lines: int
    """Matching lines that are not among the passages."""


class SessionHits(msgspec.Struct, frozen=True):
    """Hits of one session, in the order they happened."""

    id: str
    short: str
    agent: str
    driver: str | None
    workspace: str
    name: str
    started_at: int | None
    hits: list[Hit]


class Found(msgspec.Struct, frozen=True):
    """A whole answer. `hits` and `sessions` count all matches, also those not shown."""

    text: str
    regex: bool
    case_sensitive: bool
    workspace: str | None
    since: int | None
    until: int | None
    searched_sessions: int
    hits: int
    sessions: int
    shown: int
    results: list[SessionHits]
    unreadable: list[str]
    """Sealed files that are damaged: what they hold was not searched."""


def search(
    store: Store, scope: Scope, wanted: Wanted, *, limit: int | None = 20, context: int = 1
) -> Found:
    """The newest events in scope that match; the session with the newest one comes first."""
    pattern, choice = wanted.pattern, _choice(store, scope, wanted)
    hits: dict[int, list[Hit]] = {}
    with query.opened(store) as log:
        log.check(pattern)
        matches = log.find(pattern, choice)
        for places in log.places(limit, OPENED_AT_ONCE):
            for session, hit in _opened(log, pattern, places, context):
                hits.setdefault(session, []).append(hit)
    return Found(
        text=pattern.text,
        regex=pattern.regex,
        case_sensitive=pattern.case_sensitive,
        workspace=scope.workspace_name,
        since=scope.since,
        until=scope.until,
        searched_sessions=len(choice.sessions),
        hits=matches.events,
        sessions=matches.sessions,
        shown=sum(map(len, hits.values())),
        results=[_headed(store, number, told) for number, told in hits.items()],
        unreadable=[f"{path}: {reason}" for path, reason in matches.damaged],
    )


def _choice(store: Store, scope: Scope, wanted: Wanted) -> Choice:
    _refuse(wanted)
    where, values = scope.sessions()
    rows = store.db.execute(f"SELECT s.id FROM sessions s WHERE {where}", values)
    return Choice(
        sessions=[number for (number,) in rows],
        kinds=[KINDS[word] for word in wanted.kinds or KINDS],
        tool=wanted.tool,
        status=wanted.status,
        since=scope.since,
        until=scope.until,
    )


def _refuse(wanted: Wanted) -> None:
    """Say what is wrong with a request that cannot be meant as written."""
    text = wanted.pattern.text
    if not text.strip():
        raise UsageError("there is nothing to look for", hint="Give a word or a part of one.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError("what to look for is not valid UTF-8 text") from None
    for what, given, known in (
        ("kind", wanted.kinds, list(KINDS)),
        ("tool", [wanted.tool] if wanted.tool else [], list(Tool)),
        ("status", [wanted.status] if wanted.status else [], list(Status)),
    ):
        for name in given:
            if name not in known:
                raise UsageError(f"{name!r} is not a {what}", hint=f"One of {', '.join(known)}.")


def _opened(
    log: Log, pattern: Pattern, places: Sequence[Place], context: int
) -> Iterator[tuple[int, Hit]]:
    """Matching events with their lines, each with the number of its session."""
    natives = _natives(log.store, {place.session for place in places})
    rows = log.rows(places)
    events = [from_row(natives[row[0]], row) for row in rows]
    texts = [list(texts_of(event)) for event in events]
    marked = iter(log.marked(pattern, [text for told in texts for _, text in told]))
    for place, event, told in zip(places, events, texts, strict=True):
        passages, more = _passages([(field, next(marked)) for field, _ in told], context)
        yield place.session, _hit(place.seq, event, passages, more)


def _natives(store: Store, numbers: Iterable[int]) -> dict[int, str]:
    rows = store.db.execute(
        "SELECT id, native FROM sessions WHERE id IN (SELECT value FROM json_each(?))",
        (json_list(numbers),),
    )
    return dict(rows.fetchall())


def texts_of(event: AnyEvent) -> Iterator[tuple[str, str]]:
    """Every text of an event that is searched, and the field it stands in.

    The conditions in `hansei.store.query` look at the same ones.
    """
    told: dict[str, Any]
    match event:
        case ToolCall():
            told = {"text": event.text, "arguments": event.arguments}
        case Notice():
            told = {"text": event.text, "data": event.data}
        case SlashCommand():
            told = {"name": event.name, "text": event.text}
        case FileEdit():
            hunks = [{"old": hunk.old, "new": hunk.new} for hunk in event.hunks]
            told = {"path": event.path, "moved_to": event.moved_to, "hunks": hunks}
        case RequestUsage() | Observation() | Unrecognised():
            told = {}
        case _:
            told = {"text": event.text}
    for field, value in told.items():
        yield from _strings(field, value)


def _strings(field: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield field, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _strings(f"{field}.{name}", inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _strings(f"{field}.{index}", inner)


def _passages(marked: Iterable[tuple[str, str]], context: int) -> tuple[list[Passage], int]:
    """The first matching lines of an event's texts, and how many more there are."""
    passages: list[Passage] = []
    seen: set[str] = set()
    room, more = MATCHING_LINES, 0
    for field, text in marked:
        if MARKS[0] not in text or text in seen:  # a command stands in its arguments once more
            continue
        seen.add(text)
        lines = _lines(text)
        matching = [index for index, line in enumerate(lines) if line.matches]
        taken, more = matching[:room], more + max(0, len(matching) - room)
        room -= len(taken)
        near = {n for i in taken for n in range(i - context, i + context + 1)}
        kept = [around(lines[n], LINE_CHARACTERS) for n in sorted(near) if 0 <= n < len(lines)]
        if kept:
            passages.append(Passage(field, kept))
    return passages, more


def _lines(marked: str) -> list[Line]:
    """The lines of a marked text; a match may go over several."""
    lines = []
    begun: int | None = None
    for number, raw in enumerate(marked.split("\n"), 1):
        text, matches = "", []
        inherited = begun is not None
        begun = 0 if inherited else None
        for part in _MARK.split(raw.removesuffix("\r")):
            if part == MARKS[0]:
                begun, inherited = len(text), False
            elif part == MARKS[1]:
                assert begun is not None
                if len(text) > begun or not inherited:
                    matches.append((begun, len(text)))
                begun = None
            else:
                text += part
        if begun is not None:
            matches.append((begun, len(text)))
        lines.append(Line(number, text, matches))
    return lines


_MARK = re.compile(f"([{''.join(MARKS)}])")


def around(line: Line, characters: int) -> Line:
    """A line in at most so many characters, its first match among them."""
    if len(line.text) <= characters:
        return line
    first = line.matches[0][0] if line.matches else 0
    begin = max(0, min(first - characters // 4, len(line.text) - characters + 1))
    before = "…" if begin else ""
    end = begin + characters - len(before)
    after = "…" if end < len(line.text) else ""
    end -= len(after)
    shift = len(before) - begin
    matches = [
        (max(start, begin) + shift, min(stop, end) + shift)
        for start, stop in line.matches
        if start < end
    ]
    return Line(line.number, f"{before}{line.text[begin:end]}{after}", matches)


def _hit(seq: int, event: AnyEvent, passages: list[Passage], more: int) -> Hit:
    result = event if isinstance(event, ToolResult) else None
    named = event if isinstance(event, ToolCall | SlashCommand | Notice) else None
    return Hit(
        reference=f"{short_id(event.session)}#{seq}",
        seq=seq,
        at=event.at,
        kind=WORDS[str(event.__struct_config__.tag)],
        name=named.name if named else None,
        status=result.status.value if result else None,
        exit_code=result.exit_code if result else None,
        passages=passages,
        more_lines=more,
    )


def _headed(store: Store, number: int, hits: list[Hit]) -> SessionHits:
    native, agent, driver, workspace, name, started = store.db.execute(
        "SELECT s.native, s.agent, s.driver, w.name,"
        " coalesce(nullif(s.title, ''), s.role, s.opening, ''), s.started_at FROM sessions s"
        " JOIN workspaces w ON w.id = s.workspace WHERE s.id = ?",
        (number,),
    ).fetchone()
    return SessionHits(
        id=native,
        short=short_id(native),
        agent=agent,
        driver=driver,
        workspace=workspace,
        name=name,
        started_at=started,
        hits=hits,
    )
