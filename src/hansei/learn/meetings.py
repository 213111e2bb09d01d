"""Where later sessions came to a point that a skill is about, and what happened there.

Nothing here knows what the skill says to do, so one meeting can be held against any remedy.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.events.model import Status
from hansei.learn.matching import met
from hansei.learn.steps import called, steps
from hansei.learn.wordings import Measure, is_run_of, run_of
from hansei.projection.corrections.likeness import NEGATED, near
from hansei.projection.failures import Ending, Kind
from hansei.projection.failures.missing import What, missing
from hansei.projection.ways import How, about, matching, parted, ways

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from hansei.learn.claims import Trigger
    from hansei.learn.model import Predicates
    from hansei.learn.steps import Step
    from hansei.learn.wordings import Run, Wording
    from hansei.projection.corrections import Correction
    from hansei.projection.failures import Episode
    from hansei.projection.window import Window

_AFTER: Final = 8
"""Commands after a correction within which it is done as it says; as the detector has it."""


class Point(StrEnum):
    """What kind of point a session came to."""

    FAILURE = "failure"
    CORRECTION = "correction"
    DOING = "doing"


class Meeting(NamedTuple):
    """A point that a session came to."""

    point: Point
    session: int
    seq: int
    failed: tuple[Run, ...] = ()
    """What failed in this way."""
    resolved: Run | None = None
    """What then worked."""
    steps: tuple[Run, ...] = ()
    """What was run from there on, for a while."""
    said: str = ""
    end: int = 0
    """The last call of it."""


@dataclass(frozen=True)
class Later:
    """Sessions that can test claims, and what happened in them by what it could answer."""

    window: Window

    def meetings(self, trigger: Trigger) -> list[Meeting]:
        """Every time that a trigger was met, in order, each once."""
        found = {(it.point, it.session, it.seq): it for it in self._met(trigger)}
        return [found[it] for it in sorted(found)]

    def _met(self, trigger: Trigger) -> Iterator[Meeting]:
        for signature in trigger.signatures:
            yield from self._failures.get(signature, ())
        if trigger.failing:
            yield from (
                it
                for rows in self._failures.values()
                for it in rows
                if any(_is_exactly(w, run) for w in trigger.failing for run in it.failed)
            )
        if trigger.folder:
            inside = f"{trigger.folder.rstrip('/')}/"
            yield from (it for name, it in self._lacking if name.startswith(inside))
        for normal in trigger.said:
            yield from (it for it in self._corrections if is_about(normal, it.said))
        for name in trigger.begins:
            yield from self._doings(name)
        if trigger.at is not None:
            yield from self._occasions(trigger.at)

    # --- failures ---------------------------------------------------------------------------------

    @cached_property
    def _episodes(self) -> list[tuple[Episode, Meeting]]:
        found = parted(self.window)
        return [(it, _failure(self.window, session, it)) for session, it in found]

    @cached_property
    def _failures(self) -> dict[str, list[Meeting]]:
        found: dict[str, list[Meeting]] = defaultdict(list)
        for episode, meeting in self._episodes:
            found[episode.signature].append(meeting)
        return dict(found)

    def failed_in(self, sessions: Collection[int]) -> dict[str, list[Meeting]]:
        """What failed in some sessions, by its signature."""
        own = {
            signature: [it for it in rows if it.session in sessions]
            for signature, rows in self._failures.items()
        }
        return {signature: rows for signature, rows in own.items() if rows}

    @cached_property
    def _lacking(self) -> list[tuple[str, Meeting]]:
        """Files that were not there."""
        rows = {(session, row.seq): row for session, row in self.window.failures}
        found = []
        for episode, meeting in self._episodes:
            lacking = missing(rows[meeting.session, episode.failures[-1]])
            if lacking is not None and lacking.what is What.FILE:
                found.append((lacking.name.removeprefix("./"), meeting))
        return found

    # --- what people said -------------------------------------------------------------------------

    @cached_property
    def _corrections(self) -> list[Meeting]:
        return [
            self._correction(session, row)
            for session, row in self.window.corrections
            if self.window.sessions[session].is_persons
        ]

    def _correction(self, session: int, row: Correction) -> Meeting:
        own = self._steps.get(session, [])
        begin = bisect_right(own, row.seq, key=attrgetter("seq"))
        after = self._runs.get(session, ())[begin : begin + _AFTER]
        return Meeting(Point.CORRECTION, session, row.seq, steps=after, said=row.normal)

    # --- ways of doing ----------------------------------------------------------------------------

    @cached_property
    def _steps(self) -> dict[int, list[Step]]:
        return steps(self.window)

    @cached_property
    def _begun(self) -> dict[str, list[tuple[int, int]]]:
        """Where each command was run for the first time in a turn: the session, the place in it."""
        found: dict[str, dict[tuple[int, int], int]] = defaultdict(dict)
        for session, own in self._steps.items():
            for place, step in enumerate(own):
                for name in {called(step.ran), *self._runs[session][place].loose}:
                    found[name].setdefault((session, step.turn), place)
        return {
            name: [(session, place) for (session, _), place in turns.items()]
            for name, turns in found.items()
        }

    def _doings(self, name: str) -> Iterator[Meeting]:
        for session, place in self._begun.get(name, ()):
            own = self._steps[session]
            end = bisect_right(own, own[place].turn, lo=place, key=attrgetter("turn"))
            done = self._runs[session][place:end]
            yield Meeting(Point.DOING, session, own[place].seq, steps=done)

    def _occasions(self, when: Predicates) -> Iterator[Meeting]:
        """The first call of each turn that meets a `when`, and what was run from it on."""
        turns: set[tuple[int, int]] = set()
        for call in met(self.window, when):
            row = self.window.called.get(call)
            if row is None or (call.session, row.turn) in turns:
                continue
            turns.add((call.session, row.turn))
            own = self._steps.get(call.session, [])
            begin = bisect_left(own, call.seq, key=attrgetter("seq"))
            end = bisect_right(own, row.turn, lo=begin, key=attrgetter("turn"))
            done = self._runs.get(call.session, ())[begin:end]
            yield Meeting(Point.DOING, call.session, call.seq, steps=done)

    @cached_property
    def _runs(self) -> dict[int, tuple[Run, ...]]:
        return {session: tuple(map(self._run, own)) for session, own in self._steps.items()}

    def _run(self, step: Step) -> Run:
        """A step with how it ended, where the call's end is its own."""
        status = step.status
        if status is Status.FAILED and not (
            step.ran.about and (step.session, step.seq) in self._failed
        ):
            status = Status.UNKNOWN
        if step.ran.masked:
            status = Status.UNKNOWN
        return run_of(step.ran, status)

    @cached_property
    def _failed(self) -> set[tuple[int, int]]:
        return {(s, row.seq) for s, row in self.window.failures if row.kind is Kind.FAILURE}

    # --- what it took -----------------------------------------------------------------------------

    def tokens(self, met: Sequence[Meeting]) -> int | None:
        """Billed from failures to what ended them, each request once; None where nobody tells."""
        requests = {
            (it.session, row.seq): row.tokens
            for it in met
            if it.point is Point.FAILURE
            for row in self.window.requests_between(it.session, it.seq, it.end)
        }
        told = [it for it in requests.values() if it is not None]
        return sum(told) if told else None


def _is_exactly(told: Wording, run: Run) -> bool:
    return is_run_of(told, run, Measure.EXACT, strict=True)


def is_about(normal: str, other: str) -> bool:
    """Whether two corrections are about the same, be it that they say the opposite."""
    return near(normal, other) or near(_unmarked(normal), _unmarked(other))


def _unmarked(normal: str) -> str:
    return normal.replace(NEGATED, "")


def _failure(window: Window, session: int, episode: Episode) -> Meeting:
    tried = [(seq, about(window, session, seq)) for seq in episode.failures]
    failed = tuple(run_of(ran, Status.FAILED) for _, ran in tried if ran is not None)
    return Meeting(
        Point.FAILURE,
        session,
        episode.seq,
        failed=failed,
        resolved=_resolved(window, session, episode),
        end=episode.end,
    )


def _resolved(window: Window, session: int, episode: Episode) -> Run | None:
    failed = about(window, session, episode.failures[-1])
    if failed is None or episode.ending is not Ending.RECOVERED:
        return None
    worked = matching(window, session, episode.end, failed)
    if worked is None:
        return None
    found = ways(window, session, episode, targets=True)
    firsts = frozenset(it.text for it in found if it.how is How.FIRST)
    return run_of(worked, Status.OK, firsts)
