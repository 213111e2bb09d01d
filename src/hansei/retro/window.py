"""The facts of some sessions, as a heuristic sees them: plain rows, nothing to open or ask.

Rows are read from the store when first asked for and kept, so that ten heuristics read a table
once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from hansei.config import DAY_MS
from hansei.events.model import Driver
from hansei.projection.facts import folds
from hansei.projection.outcomes import Stored
from hansei.retro.rounds import Rounds, rounds
from hansei.store.rows import json_list

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hansei.projection.corrections import Correction
    from hansei.projection.facts.called import Called
    from hansei.projection.facts.ran import Ran
    from hansei.projection.facts.tables import Found, Table
    from hansei.projection.failures import Episode, Failure
    from hansei.projection.files import Touch
    from hansei.projection.funnel import Use
    from hansei.projection.outcomes import Outcome
    from hansei.projection.provenance import Carried
    from hansei.store.database import Store

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

    def rows(self, table: Table[R]) -> list[Found[R]]:
        """The rows of a table, by session and in order."""
        if table.name not in self._rows:
            where = "session IN (SELECT value FROM json_each(?))"
            self._rows[table.name] = list(
                table.read(self.store, where, (json_list(self.sessions),))
            )
        return self._rows[table.name]

    @property
    def calls(self) -> list[Found[Called]]:
        return self.rows(folds.CALLS)

    @property
    def commands(self) -> list[Found[Ran]]:
        return self.rows(folds.COMMANDS)

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
    def touches(self) -> list[Found[Touch]]:
        return self.rows(folds.TOUCHES)

    @property
    def pieces(self) -> list[Found[Carried]]:
        return self.rows(folds.PIECES)

    @property
    def uses(self) -> list[Found[Use]]:
        return self.rows(folds.USES)

    @property
    def outcomes(self) -> list[Found[Outcome]]:
        return self.rows(folds.OUTCOMES)

    @property
    def hunks(self) -> list[Stored]:
        return [Stored(*found) for found in self.rows(folds.HUNKS)]

    @cached_property
    def result_of(self) -> dict[tuple[int, int], int]:
        """The event that holds a call's result, by session and call."""
        return {(s, row.seq): row.result for s, row in self.calls if row.result is not None}

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
    def days(self) -> float:
        """From the first session's day to the last one's, both counted."""
        times = [it.started for it in self.sessions.values() if it.started is not None]
        return (max(times) // DAY_MS - min(times) // DAY_MS + 1) if times else 0

    @cached_property
    def active_days(self) -> int:
        return len({it.started // DAY_MS for it in self.sessions.values() if it.started})
