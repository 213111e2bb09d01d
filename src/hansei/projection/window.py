"""The facts of some sessions, as a heuristic sees them: plain rows, nothing to open or ask.

Rows are read from the store when first asked for and kept, so that ten heuristics read a table
once. What a session was told is read from the log, so only few sessions should be asked for it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from hansei.config import DAY_MS
from hansei.events.model import Driver
from hansei.hook.places import is_user_wide
from hansei.prices import PriceBook
from hansei.projection.checks import steps
from hansei.projection.facts import folds
from hansei.projection.outcomes import Stored
from hansei.projection.places import ground, place
from hansei.projection.rounds import Rounds, rounds
from hansei.projection.spend import kept_prices
from hansei.projection.told import Told, told
from hansei.store import reading
from hansei.store.reviews import imported
from hansei.store.rows import json_list

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from hansei.events.reviews import Review
    from hansei.projection.checks import Step
    from hansei.projection.corrections import Correction
    from hansei.projection.facts.asked import Asked
    from hansei.projection.facts.called import Called
    from hansei.projection.facts.ended import Ended
    from hansei.projection.facts.paid import Paid
    from hansei.projection.facts.planned import Planned
    from hansei.projection.facts.ran import Ran
    from hansei.projection.facts.said import Said
    from hansei.projection.facts.tables import Found, Table
    from hansei.projection.failures import Episode, Failure
    from hansei.projection.files import Crowded, Touch
    from hansei.projection.funnel import Use
    from hansei.projection.outcomes import Outcome
    from hansei.projection.places import Ground
    from hansei.projection.provenance import Carried
    from hansei.projection.reports import Report
    from hansei.store.database import Store

EARLIER: Final = "corrections outside of the window"
REVIEWS: Final = "reviews of the workspaces"
EVERY_HUNK: Final = "hunks of the workspaces"

R = TypeVar("R", bound=tuple[Any, ...])


class Session(NamedTuple):
    """One session of the window."""

    number: int
    name: str
    """What people call it by."""
    agent: str
    driver: str | None
    parent: int | None
    workspace: int
    started: int | None
    ended: int | None
    requests: int
    tokens: int | None
    """Billed, input and output; None where the agent does not tell."""

    @property
    def is_persons(self) -> bool:
        return self.driver == Driver.HUMAN


@dataclass(frozen=True)
class Window:
    """Sessions of one workspace in a span of time, with their facts."""

    store: Store
    sessions: Mapping[int, Session]
    since: int
    until: int
    _rows: dict[str, list[Any]] = field(default_factory=dict, repr=False)
    _told: dict[int, list[Told]] = field(default_factory=dict, repr=False)
    _whole: Window | None = field(default=None, repr=False)
    _grounds: dict[tuple[str, ...], Ground] = field(default_factory=dict, repr=False)

    def within(self, sessions: Collection[int], since: int, until: int) -> Window:
        """Some of its sessions, as they could be seen at a time: no later session is known."""
        own = {number: it for number, it in self.sessions.items() if number in sessions}
        return Window(self.store, own, since, until, {}, self._told, self)

    def rows(self, table: Table[R]) -> list[Found[R]]:
        """The rows of a table, by session and in order."""
        if table.name not in self._rows and self._whole is not None:
            whole = self._whole.rows(table)
            self._rows[table.name] = [it for it in whole if it.session in self.sessions]
        if table.name not in self._rows:
            where = "session IN (SELECT value FROM json_each(?))"
            self._rows[table.name] = list(
                table.read(self.store, where, (json_list(self.sessions),))
            )
        return self._rows[table.name]

    @property
    def asked(self) -> list[Found[Asked]]:
        return self.rows(folds.ASKED)

    @property
    def calls(self) -> list[Found[Called]]:
        return self.rows(folds.CALLS)

    @property
    def commands(self) -> list[Found[Ran]]:
        return self.rows(folds.COMMANDS)

    @property
    def said(self) -> list[Found[Said]]:
        return self.rows(folds.SAID)

    @property
    def failures(self) -> list[Found[Failure]]:
        return self.rows(folds.FAILURES)

    @property
    def episodes(self) -> list[Found[Episode]]:
        return self.rows(folds.EPISODES)

    @property
    def corrections(self) -> list[Found[Correction]]:
        return self.rows(folds.CORRECTIONS)

    @property
    def corrections_of_all_time(self) -> list[Found[Correction]]:
        """What people said in their own sessions of these workspaces, the window's first."""
        if EARLIER not in self._rows and self._whole is not None:
            self._rows[EARLIER] = [
                it
                for it in self._whole.corrections_of_all_time
                if it.session not in self.sessions and self._whole.began(it.session, self.until)
            ]
        if EARLIER not in self._rows:
            homes = {it.workspace for it in self.sessions.values()}
            where = (
                "session IN (SELECT id FROM sessions WHERE driver = ?"
                " AND workspace IN (SELECT value FROM json_each(?)))"
                " AND session NOT IN (SELECT value FROM json_each(?))"
            )
            values = (Driver.HUMAN, json_list(homes), json_list(self.sessions))
            self._rows[EARLIER] = list(folds.CORRECTIONS.read(self.store, where, values))
        own = [it for it in self.corrections if self.sessions[it.session].is_persons]
        return [*own, *self._rows[EARLIER]]

    def began(self, session: int, before: int) -> bool:
        """Whether a session is known to have begun before a time."""
        at = self.sessions[session].started if session in self.sessions else None
        return at is not None and at < before

    @property
    def reviews(self) -> list[Review]:
        """Remarks on changes of these workspaces: imported, and those that agents were shown."""
        if REVIEWS not in self._rows:
            homes = {it.workspace for it in self.sessions.values()}
            found = {it.id: it for _, it in self.rows(folds.REVIEWS)}
            found |= {it.id: it for home in sorted(homes) for it in imported(self.store, home)}
            self._rows[REVIEWS] = list(found.values())
        return self._rows[REVIEWS]

    @property
    def hunks_of_all_time(self) -> list[Stored]:
        """What agents wrote in these workspaces, also outside of the window."""
        if EVERY_HUNK not in self._rows:
            homes = json_list({it.workspace for it in self.sessions.values()})
            where = (
                "session IN (SELECT id FROM sessions WHERE workspace IN"
                " (SELECT value FROM json_each(?)))"
            )
            read = folds.HUNKS.read(self.store, where, (homes,))
            self._rows[EVERY_HUNK] = [Stored(*found) for found in read]
        return self._rows[EVERY_HUNK]

    @cached_property
    def corrected(self) -> dict[int, list[int]]:
        """Where a person said something against what was done, by session and in order."""
        found: dict[int, list[int]] = {}
        for session, row in self.corrections:
            found.setdefault(session, []).append(row.seq)
        return {session: sorted(rows) for session, rows in found.items()}

    @property
    def touches(self) -> list[Found[Touch]]:
        return self.rows(folds.TOUCHES)

    @property
    def crowded(self) -> list[Found[Crowded]]:
        return self.rows(folds.CROWDED)

    @cached_property
    def crowds(self) -> set[tuple[int, int]]:
        """The calls whose answers are crowded, each with its session."""
        return {(session, row.seq) for session, row in self.crowded}

    @property
    def pieces(self) -> list[Found[Carried]]:
        return self.rows(folds.PIECES)

    @property
    def uses(self) -> list[Found[Use]]:
        return self.rows(folds.USES)

    @property
    def planned(self) -> list[Found[Planned]]:
        return self.rows(folds.PLANNED)

    @property
    def reports(self) -> list[Found[Report]]:
        return self.rows(folds.REPORTS)

    @property
    def ended(self) -> list[Found[Ended]]:
        return self.rows(folds.ENDED)

    @cached_property
    def paid(self) -> dict[int, list[Paid]]:
        """What the requests of each session were billed, in order."""
        found: dict[int, list[Paid]] = {}
        for session, row in self.rows(folds.PAID):
            found.setdefault(session, []).append(row)
        return {session: sorted(rows, key=attrgetter("seq")) for session, rows in found.items()}

    @cached_property
    def _said_by_session(self) -> dict[int, list[Said]]:
        found: dict[int, list[Said]] = {}
        for session, row in self.said:
            found.setdefault(session, []).append(row)
        return found

    def said_in(self, session: int) -> list[Said]:
        """What a person typed in a session, in order."""
        return self._said_by_session.get(session, [])

    @cached_property
    def prices(self) -> PriceBook:
        """What requests would have cost otherwise, at the prices that they were billed by."""
        return PriceBook(looked_up=kept_prices(self.store))

    @property
    def outcomes(self) -> list[Found[Outcome]]:
        return self.rows(folds.OUTCOMES)

    @property
    def hunks(self) -> list[Stored]:
        return [Stored(*found) for found in self.rows(folds.HUNKS)]

    @cached_property
    def steps(self) -> dict[int, list[Step]]:
        """Edits and runs of tests, builds and checks, by session and in order."""
        return steps(self)

    @cached_property
    def result_of(self) -> dict[tuple[int, int], int]:
        """The event that holds a call's result, by session and call."""
        return {(s, row.seq): row.result for s, row in self.calls if row.result is not None}

    @cached_property
    def call_of(self) -> dict[tuple[int, int], int]:
        """The call that an event holds the result of, by session and event."""
        return {(session, result): call for (session, call), result in self.result_of.items()}

    @cached_property
    def carried(self) -> dict[tuple[int, int], list[Carried]]:
        """What an event put into the context, by session and event."""
        found: dict[tuple[int, int], list[Carried]] = {}
        for session, piece in self.pieces:
            found.setdefault((session, piece.seq), []).append(piece)
        return found

    def rent_of_call(self, session: int, seq: int) -> int | None:
        """Tokens billed for carrying a call's result; None where the context is not told."""
        result = self.result_of.get((session, seq))
        pieces = None if result is None else self.carried.get((session, result))
        return None if pieces is None else sum(piece.billed for piece in pieces)

    @cached_property
    def rounds(self) -> dict[int, Rounds]:
        """The requests of every session with the calls they made, by session."""
        pieces: dict[int, list[Carried]] = {it: [] for it in self.sessions}
        calls: dict[int, list[Called]] = {it: [] for it in self.sessions}
        for session, piece in self.pieces:
            pieces[session].append(piece)
        for session, call in self.calls:
            calls[session].append(call)
        return {it: rounds(pieces[it], calls[it]) for it in self.sessions}

    @cached_property
    def _calls_by_session(self) -> dict[int, list[Called]]:
        found: dict[int, list[Called]] = {}
        for session, row in self.calls:
            found.setdefault(session, []).append(row)
        return found

    def calls_of(self, session: int, after: int, before: int) -> list[Called]:
        """The calls of a session strictly between two events."""
        rows = self._calls_by_session.get(session, [])
        begin = bisect_right(rows, after, key=attrgetter("seq"))
        return rows[begin : bisect_left(rows, before, key=attrgetter("seq"))]

    @cached_property
    def ran_by(self) -> dict[tuple[int, int], list[Ran]]:
        """The programs that a shell call ran, by session and call."""
        found: dict[tuple[int, int], list[Ran]] = {}
        for session, row in self.commands:
            found.setdefault((session, row.seq), []).append(row)
        return found

    @cached_property
    def called(self) -> dict[tuple[int, int], Called]:
        """Every call, by session and number."""
        return {(session, row.seq): row for session, row in self.calls}

    @cached_property
    def failed(self) -> dict[tuple[int, int], Failure]:
        """The failure of a call, by session and call."""
        return {(session, row.seq): row for session, row in self.failures}

    @cached_property
    def _commands_by_program(self) -> dict[str, list[Found[Ran]]]:
        found: dict[str, list[Found[Ran]]] = {}
        for row in self.commands:
            if not row.row.inside:
                for name in {row.row.program, *row.row.form.split(" ", 1)[:1]}:
                    found.setdefault(name, []).append(row)
        return found

    def commands_of(self, program: str) -> list[Found[Ran]]:
        """The runs of a program, by its name or the first word of its normal form."""
        return self._commands_by_program.get(program, [])

    @cached_property
    def touched_by(self) -> dict[tuple[int, int], list[Touch]]:
        """The files that a call touched, by session and call."""
        found: dict[tuple[int, int], list[Touch]] = {}
        for session, row in self.touches:
            found.setdefault((session, row.seq), []).append(row)
        return found

    @cached_property
    def requests(self) -> dict[int, list[Asked]]:
        """The requests of each session, in order."""
        found: dict[int, list[Asked]] = {}
        for session, row in self.asked:
            found.setdefault(session, []).append(row)
        return {session: sorted(rows) for session, rows in found.items()}

    def tasks(self, sessions: Iterable[int]) -> int:
        """How many tasks sessions were about: one and its subagents are about the same."""
        return len({self.task(session) for session in sessions})

    def task(self, session: int) -> int:
        """The session that a session was started from, itself where nothing started it."""
        seen = {session}
        parent = self.sessions[session].parent
        while parent is not None and parent in self.sessions and parent not in seen:
            session = parent
            seen.add(session)
            parent = self.sessions[session].parent
        return session

    def child_of(self, session: int, native: str | None) -> int | None:
        """The session that another one started, by the agent's own id of it; None where unsure."""
        if native is None:
            return None
        own = [it for it in self.sessions.values() if it.parent == session and it.name in native]
        return own[0].number if len(own) == 1 else None

    @cached_property
    def turns(self) -> dict[tuple[int, int], int]:
        """The turn that a call was made in, by session and call."""
        return {(session, row.seq): row.turn for session, row in self.calls}

    def told(self, session: int) -> list[Told]:
        """What the agent of a session was told, in order; kept, for it is read from the log."""
        if session not in self._told:
            self._told[session] = list(told(reading.events(self.store, session)))
        return self._told[session]

    def requests_between(self, session: int, first: int, last: int) -> list[Asked]:
        """Those after the one that asked for a call, up to and with the one for a later call."""
        rows = self.requests.get(session, [])
        begin, end = (bisect_right(rows, seq, key=attrgetter("seq")) for seq in (first, last))
        return rows[begin:end]

    def request_for(self, session: int, call: int) -> Asked | None:
        """The request that asked for a call."""
        rows = self.requests.get(session, [])
        place = bisect_right(rows, call, key=attrgetter("seq")) - 1
        return rows[place] if place >= 0 else None

    @cached_property
    def roots(self) -> dict[int, tuple[str, ...]]:
        """The folders that are the top of each session's repository."""
        return {session: row.roots for session, row in self.rows(folds.STANDS)}

    def path_of(self, session: int, path: str) -> str:
        """A file as touches tell it: from the top of the session's repository."""
        roots = self.roots.get(session, ())
        if roots not in self._grounds:
            self._grounds[roots] = ground(roots)
        return place(path, None, self._grounds[roots]).path

    @cached_property
    def is_user_wide(self) -> bool:
        """Whether a line for these sessions would be carried in all projects of a person."""
        tops = [it[0] for it in self.roots.values() if it]
        return bool(tops) and all(map(is_user_wide, tops))

    def days_of(self, sessions: Iterable[int]) -> set[int]:
        """Days since 1970 on which these sessions began."""
        begun = (self.sessions[it].started for it in sessions)
        return {at // DAY_MS for at in begun if at is not None}

    @cached_property
    def days(self) -> float:
        """From the first session's day to the last one's, both counted."""
        times = [it.started for it in self.sessions.values() if it.started is not None]
        return (max(times) // DAY_MS - min(times) // DAY_MS + 1) if times else 0

    @cached_property
    def active_days(self) -> int:
        return len({it.started // DAY_MS for it in self.sessions.values() if it.started})
