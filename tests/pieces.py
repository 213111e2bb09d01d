"""Readings made by hand, for tests of the store."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from hansei.events.codec import encode
from hansei.events.keys import event_key
from hansei.events.model import (
    AnyEvent,
    Basis,
    Driver,
    Event,
    Origin,
    Prompt,
    Reply,
    RequestUsage,
    SessionFacts,
    Status,
    Tool,
    ToolCall,
    ToolResult,
)
from hansei.redaction.engine import Redactor, redact
from hansei.sources.contract import Cursor
from hansei.store import reading
from hansei.store.bodies import Bodies
from hansei.store.database import Store
from hansei.store.rows import to_row
from hansei.store.transcripts import Piece

KEY = b"k" * 32


def piece(
    events: Iterable[Event],
    *,
    path: str = "/t/one.jsonl",
    agent: str = "toy",
    cwd: str | None = "/work/app",
    **facts: Any,
) -> Piece:
    """One reading of one transcript."""
    told = cast("list[AnyEvent]", list(events))
    laid_out = [to_row(clean) for clean in redact(told, Redactor(KEY))]
    natives = dict.fromkeys(event.session for event in told)
    return Piece(
        agent=agent,
        path=path,
        variant="",
        fingerprint=f"{len(told)}",
        cursor=Cursor(offset=len(told)),
        rows=[row for row, _ in laid_out],
        bodies=Bodies([body for _, body in laid_out]),
        sessions=[
            SessionFacts(id=native, cwd=cwd, driver=Driver.HUMAN, **facts) for native in natives
        ],
        records=len(told),
        taken=100 * len(told),
    )


def prompt(session: str, number: int, at: int | None, text: str = "do it") -> Prompt:
    key = event_key("prompt", session, str(number))
    return Prompt(key=key, session=session, at=at, text=text, origin=Origin.HUMAN)


def reply(session: str, number: int, at: int, text: str) -> Reply:
    return Reply(key=event_key("reply", session, str(number)), session=session, at=at, text=text)


def call(session: str, number: int, at: int, command: str = "make") -> ToolCall:
    name = f"call-{session}-{number}"
    return ToolCall(
        key=event_key("call", name),
        session=session,
        at=at,
        call=name,
        tool=Tool.SHELL,
        name="Bash",
        text=command,
        arguments={"command": command},
    )


def result(session: str, number: int, at: int, status: Status = Status.OK) -> ToolResult:
    name = f"call-{session}-{number}"
    return ToolResult(
        key=event_key("result", name),
        session=session,
        at=at,
        call=name,
        text="done",
        status=status,
        basis=Basis.FLAG,
    )


def request(session: str, message: str, at: int, **tokens: Any) -> RequestUsage:
    return RequestUsage(
        key=event_key("usage", message),
        session=session,
        at=at,
        model="claude-sonnet-4-5",
        message=message,
        **tokens,
    )


def told(store: Store) -> dict[str, list[tuple[int, bytes]]]:
    """Everything the log says, by session."""
    sessions = store.db.execute("SELECT id, agent, native FROM sessions ORDER BY agent, native")
    return {
        f"{agent} {native}": [(seq, encode(event)) for seq, event in reading.events(store, number)]
        for number, agent, native in sessions.fetchall()
    }


def derived(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """Everything kept besides the log, with sessions by name."""
    name = "(SELECT agent || ' ' || native FROM sessions s WHERE s.id = session)"
    queries = {
        "requests": f"SELECT {name}, * FROM requests ORDER BY key",
        "tallies": f"SELECT {name}, kind, detail, n FROM tallies WHERE n > 0 ORDER BY 1, 2, 3",
        "spend": f"SELECT {name}, * FROM spend ORDER BY 1, 3, 4, 5",
        "replays": f"SELECT {name}, key, kind, tokens FROM replays ORDER BY 1, 2",
        "evidence": f"SELECT {name}, * FROM evidence ORDER BY key, kind, path",
        "exposure": f"SELECT {name}, * FROM exposure ORDER BY 1, 3, 4, 5, 6",
        "ledger": f"SELECT {name}, basis, note FROM ledger ORDER BY 1",
        "seen": "SELECT agent, native, seen, commit_basis, dirty FROM sessions ORDER BY 1, 2",
    }
    return {table: store.db.execute(query).fetchall() for table, query in queries.items()}
