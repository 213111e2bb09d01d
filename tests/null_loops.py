"""A made-up person goes round the whole loop: works, looks back, acts on the best bet, works on.

Every part of the loop is the real one: facts worked out from events, a look back with the whole
catalogue, the bet's metric counted in all sessions, the rules of who is in which arm. Only the
sessions are made up: each is ordinary work and those habits that struck in it. Habits strike in
bursts, each by itself, and acting changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple, cast

import numpy as np

from experiment_worlds import Nature, days_of, failures
from hansei.bets.counting import USUAL_DAYS
from hansei.bets.model import Bet
from hansei.events.model import Driver
from hansei.experiments.binding.exposure import ByExposure
from hansei.experiments.binding.text import ByText
from hansei.experiments.experiment import Bind, Experiment, Stage, Terms
from hansei.experiments.metrics import recurrence
from hansei.experiments.model import Design, Observation
from hansei.experiments.placing import Arm, Binding, Candidate
from hansei.hook import delivery
from hansei.ops.experiments.candidates import Run
from hansei.ops.experiments.observing import Counted, Sample, observed
from hansei.ops.experiments.reports import design_of
from hansei.ops.retro import size
from hansei.ops.windows import frame
from hansei.projection.facts.folds import (
    CORRECTIONS,
    OUTCOMES,
    STANDS,
    TABLES,
    Stand,
    work_out,
)
from hansei.projection.facts.subjects import Subject
from hansei.projection.facts.tables import Found
from hansei.projection.told import Told, told
from hansei.projection.window import EARLIER, REVIEWS, Session, Window
from hansei.retro.retro import distinct, look_back, short_list
from hansei.store.database import Store
from happenings import corrected, quiet
from retro_window import DAY, ROOT, Telling, priced
from told import numbered

HOUR = DAY // 24
BEFORE, SINCE = 10 * 7, 16 * 7
"""Days: of history up to what the look back sees, and of work after acting on it."""


@dataclass(frozen=True)
class Command:
    """One that agents try twice before they do what works."""

    tried: str
    words: str
    worked: str

    def __call__(self, telling: Telling) -> None:
        for _ in range(2):
            telling.run(self.tried, self.words, 2)
        telling.run(self.worked)


def wrong_folder(telling: Telling) -> None:
    for name in ("a", "b"):
        telling.read(f"{ROOT}/src/{name}.ts", "File does not exist.", failed=True)
    telling.read(f"{ROOT}/web/src/a.ts").read(f"{ROOT}/web/src/b.ts")


HABITS: tuple[Callable[[Telling], None], ...] = (
    Command("make seed", "Error: relation users is not there yet", "make schema && make seed"),
    Command(
        "pytest tests/unit", "ImportError: cannot load this project's plugin", "uv run pytest tests"
    ),
    Command(
        "ruff check --fixes src",
        "error: unexpected argument '--fixes' found",
        "ruff check --fix src",
    ),
    corrected,
    Command("npm test", 'npm error Missing script: "test"', "cd web && npm test"),
    Command(
        "make migrate",
        "Error: connection to the database was refused",
        "docker compose up -d db && make migrate",
    ),
    Command("make typecheck", "make: *** No rule to make target 'typecheck'.", "make types"),
    wrong_folder,
)
"""They take about as much as one another, so the one that strikes most is what is bet on."""


class Facts(NamedTuple):
    """Of one session, whatever its number."""

    rows: Mapping[str, list[Any]]
    told: list[Told]


@cache
def facts(struck: tuple[bool, ...]) -> Facts:
    """What is worked out of a session in which these habits struck."""
    telling = Telling(tokens=30_000)
    quiet(telling)
    for habit, there in zip(HABITS, struck, strict=True):
        if there:
            habit(telling)
    subject = Subject(1, "agent", Driver.HUMAN, (ROOT,), False, ())
    events = numbered(telling.events)
    found = {table.name: rows for table, rows in work_out(subject, events, {}).items()}
    return Facts({**found, STANDS.name: [Stand((ROOT,))]}, list(told(events)))


@dataclass(frozen=True)
class Work:
    """A person's sessions, by number from 0, in the order of time."""

    day: np.ndarray
    struck: np.ndarray
    """One row for each session, one column for each habit."""

    @cached_property
    def started(self) -> list[int]:
        """Sessions of a day begin an hour apart."""
        first = np.searchsorted(self.day, self.day)
        hour = 8 + np.arange(len(self.day)) - first
        return [int(at) for at in (self.day + 1) * DAY + hour * HOUR]

    def window(self, first: int, last: int) -> Window:
        """What was known after some day of the sessions from another day on."""
        known = np.flatnonzero(self.day <= last).tolist()
        kept = [it for it in known if self.day[it] >= first]
        rows: dict[str, list[Any]] = {table.name: [] for table in TABLES}
        rows |= {EARLIER: [], REVIEWS: [], OUTCOMES.name: []}
        told = {}
        for number in kept:
            own = facts(tuple(self.struck[number].tolist()))
            told[number] = own.told
            for name, found in own.rows.items():
                rows[name] += [Found(number, row) for row in found]
        for number in known[: len(known) - len(kept)]:
            own = facts(tuple(self.struck[number].tolist()))
            rows[EARLIER] += [Found(number, row) for row in own.rows[CORRECTIONS.name]]
        sessions = {it: self._session(it) for it in kept}
        return priced(Window(cast("Store", None), sessions, 0, (last + 2) * DAY, rows, told))

    def _session(self, number: int) -> Session:
        start = self.started[number]
        end = start + HOUR // 2
        return Session(number, f"s{number}", "agent", "human", None, 1, start, end, 20, None)


@dataclass(frozen=True)
class Loop:
    """Once round."""

    bet: Bet
    work: Work
    counted: Counted
    """Of the bet's metric."""
    acted: int
    """The day on which somebody acted on the bet, before its first session."""
    salt: str

    @cached_property
    def hits(self) -> np.ndarray:
        """Whether the bet's target came up, of each session."""
        found = self.counted.hits or {}
        return np.array([found[number] > 0 for number in range(len(self.work.day))])

    @property
    def looked_at(self) -> np.ndarray:
        """Which sessions the bet was made from."""
        return (self.work.day >= BEFORE) & (self.work.day < self.acted)

    def applied(self) -> tuple[tuple[Observation, ...], Design]:
        """What a line that was written into the file is judged by."""
        moment = (self.acted + 1) * DAY
        it = self._experiment(Bind.GIT, moment, Terms(path="CLAUDE.md"), entry=1)
        return self._seen(it, ByText("CLAUDE.md", frozenset(), frozenset(), ROOT, moment))

    def exposed(self) -> tuple[tuple[Observation, ...], Design]:
        """What a line that a coin gave to half of the sessions is judged by."""
        it = self._experiment(Bind.EXPOSURE, (self.acted + 1) * DAY, Terms(salt=self.salt))
        return self._seen(it, ByExposure(it.id))

    def _experiment(
        self, bind: Bind, at: int, terms: Terms, entry: int | None = None
    ) -> Experiment:
        metric = self.bet.finding.metric
        return Experiment(
            "x", 1, self.bet.finding.claim, bind, metric.fact, at, metric.subject, terms,
            Stage.RUNNING, bet=self.bet.id, entry=entry, started_at=at,
        )  # fmt: skip

    def _seen(self, it: Experiment, binding: Binding) -> tuple[tuple[Observation, ...], Design]:
        runs = [self._run(number, it.id) for number in range(len(self.work.day))]
        led = {native(it.session) for it in self.bet.finding.occurrences}
        now = (int(self.work.day[-1]) + 3) * DAY
        found = observed(it, binding, Sample(runs, self.counted, led), now)
        return found.observations, design_of(it, found)

    def _run(self, number: int, experiment: str) -> Run:
        start = self.work.started[number]
        arm = delivery.arm(self.salt, native(number), 0.5)
        candidate = Candidate(
            native=native(number),
            agent="agent",
            started=start,
            ended=start + HOUR // 2,
            folder=ROOT,
            assigned={experiment: arm},
            shown=frozenset({experiment} if arm == Arm.TREATMENT else ()),
        )
        return Run(number, candidate, "agent · model", start // DAY)


def native(number: int) -> str:
    return f"session-{number}"


def loop(nature: Nature, seed: int, habits: int = len(HABITS)) -> Loop | None:
    """The loop of a person with so many habits; None where nothing is worth a bet."""
    dice = np.random.default_rng(seed)
    days = BEFORE + USUAL_DAYS + SINCE
    day = days_of(nature, days * 8, dice)
    day = day[day < days]
    struck = np.zeros((len(day), len(HABITS)), bool)
    struck[:, :habits] = np.column_stack([failures(nature, day, dice) for _ in range(habits)])
    work, acted = Work(day, struck), BEFORE + USUAL_DAYS
    bet = best(work.window(BEFORE, acted - 1))
    return None if bet is None else Loop(bet, work, counted(work, bet), acted, f"salt {seed}")


def best(window: Window) -> Bet | None:
    """The bet that stands first in the list that a person is shown."""
    ranked = look_back(window, frame(window, "app"), size)
    return next(iter(short_list(distinct(ranked))), None)


def counted(work: Work, bet: Bet) -> Counted:
    """In which sessions of all time the bet's target came up."""
    metric = bet.finding.metric
    whole = work.window(0, int(work.day[-1]))
    found = recurrence.recurrences(whole, metric.fact, metric.subject)
    assert found is not None
    own = recurrence.by_family(whole, found)
    return Counted(own.hits, own.opportunities)
