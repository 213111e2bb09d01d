"""What hansei saw: everything it tells of a home on its own command line, as JSON."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from rig import processes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rig.place import Place
    from rig.script import Usage

Record: TypeAlias = dict[str, Any]


class Failed(Exception):
    """hansei itself did not do what it was asked."""


@dataclass(frozen=True)
class Session:
    """A session's heading and its events in order."""

    heading: Record
    events: tuple[Record, ...]

    @property
    def id(self) -> str:
        return str(self.heading["id"])

    def kind(self, name: str) -> tuple[Record, ...]:
        """The events of one kind."""
        return tuple(event for event in self.events if event["kind"] == name)


@dataclass(frozen=True)
class Call:
    """A tool call with how it ended."""

    session: str
    id: str
    tool: str
    name: str
    text: str
    status: str | None
    basis: str | None
    exit_code: int | None


@dataclass(frozen=True)
class Seen:
    """All of it."""

    sessions: tuple[Session, ...]
    doctor: Record
    again: Record
    """What a second ingest says: nothing must be new."""

    def kind(self, name: str) -> tuple[Record, ...]:
        return tuple(event for session in self.sessions for event in session.kind(name))

    def session(self, wanted: str) -> Session | None:
        return next((session for session in self.sessions if session.id == wanted), None)

    def usage(self) -> tuple[Usage, ...]:
        """The requests, as hansei counts them."""
        return tuple(_usage(event) for event in self.kind("request_usage"))

    def calls(self) -> tuple[Call, ...]:
        return tuple(call for session in self.sessions for call in _calls(session))

    def prompts(self, origin: str) -> tuple[str, ...]:
        """What was said in the user's place by one kind of author."""
        return tuple(event["text"] for event in self.kind("prompt") if event["origin"] == origin)


def _usage(event: Record) -> Usage:
    written = [event[name] for name in ("cache_write_5m", "cache_write_1h") if name in event]
    return (
        event.get("input"),
        event.get("cache_read"),
        sum(written) if written else None,
        event.get("output"),
        event.get("reasoning"),
    )


def _calls(session: Session) -> Iterator[Call]:
    results = {event["call"]: event for event in session.kind("tool_result")}
    for event in session.kind("tool_call"):
        result = results.get(event["call"], {})
        yield Call(
            session.id,
            event["call"],
            event["tool"],
            event["name"],
            event.get("text", ""),
            result.get("status"),
            result.get("basis"),
            result.get("exit_code"),
        )


def look(place: Place, variables: dict[str, str]) -> Seen:
    """Ingest the home twice and ask for everything."""
    ask(place, variables, "ingest", "--json")
    again = ask(place, variables, "ingest", "--json")
    listed = ask(place, variables, "sessions", "--all", "--limit=0", "--no-ingest", "--json")
    sessions = tuple(_session(place, variables, line) for line in reversed(listed["sessions"]))
    return Seen(sessions, ask(place, variables, "doctor", "--json"), again)


def _session(place: Place, variables: dict[str, str], heading: Record) -> Session:
    shown = ask(place, variables, "show", heading["id"], "--no-ingest", "--json")
    return Session(heading, tuple(item["event"] for item in shown["events"]))


def ask(place: Place, variables: dict[str, str], *arguments: str) -> Record:
    """What a command of hansei tells as JSON."""
    return _told(hansei(place, variables, *arguments), arguments)


def ask_later(place: Place, variables: dict[str, str], *arguments: str) -> Record:
    """What it tells an hour from now: sessions that have just ended may still go on."""
    return _told(_run(place, variables, "-c", _AN_HOUR_LATER, *arguments), arguments)


def _told(finished: processes.Finished, arguments: tuple[str, ...]) -> Record:
    if finished.code != 0:
        raise Failed(f"hansei {' '.join(arguments)}: {finished.err.strip()[-500:]}")
    told: Record = json.loads(finished.out)
    return told


_AN_HOUR_LATER = """
from hansei.cli import app, main
now = app.now
app.now = lambda: now() + 3_600_000
main.main()
"""


def hansei(place: Place, variables: dict[str, str], *arguments: str) -> processes.Finished:
    """Run hansei in this place, as a person there would."""
    return _run(place, variables, "-m", "hansei", *arguments)


def _run(place: Place, variables: dict[str, str], *arguments: str) -> processes.Finished:
    return processes.run(
        [sys.executable, *arguments],
        cwd=place.project,
        variables=variables,
        log=place.folder / "hansei",
        limit=60,
    )
