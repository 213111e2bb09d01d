"""Each heuristic's earlier bets against what happened next, workspace by workspace.

A past week is replayed once and kept, with a stamp of what it was made from: the sessions, the
rules of this version, the heuristics and their knobs. So a look back pays for a replay only when a
week has ended since the last one.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

import msgspec

from hansei.bets.model import State
from hansei.config import DAY_MS
from hansei.events.keys import digest
from hansei.experiments.metrics.recurrence import recurrences
from hansei.experiments.model import Word
from hansei.instructions import sizes
from hansei.ops.experiments import shelf
from hansei.ops.judging import Counted
from hansei.ops.processes import seldom_collecting
from hansei.ops.scope import Scope
from hansei.ops.windows import frame, grounds
from hansei.projection.facts.keeping import STAMP, text_of
from hansei.retro.calibration import Trial, cuts, replay, scores
from hansei.retro.catalogue import HEURISTICS
from hansei.store import bets as memory
from hansei.store import replayed
from hansei.store.replayed import Replayed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from hansei.bets.model import Metric
    from hansei.ops.windows import Ground
    from hansei.projection.window import Window
    from hansei.retro.calibration import Cut, Score
    from hansei.retro.contract import Heuristic
    from hansei.store.bets import Kept
    from hansei.store.database import Store

    CameUp = Callable[[Window, Metric], bool | None]

_ACTED_ON: Final = frozenset({State.ACCEPTED, State.APPLIED, State.KEPT, State.REVERTED})
_HELD: Final = frozenset({Word.HELPED, Word.LOWER})
_FAILED: Final = frozenset({Word.HARMED, Word.HIGHER, Word.NO_EFFECT, Word.NO_CHANGE})
_RULES: Final = ("hansei.bets", "hansei.retro", "hansei.experiments.metrics")
"""Packages whose text decides what a replay says, beside that of projection."""


@dataclass(frozen=True)
class Calibration:
    """How far the heuristics predict in one workspace."""

    workspace: str
    home: int
    """The number of the workspace."""
    weeks: int
    """Of activity, that were replayed."""
    first_day: int | None
    """Days since 1970: the first and the last that tested a bet."""
    last_day: int | None
    scores: tuple[Score, ...]

    def of(self, heuristic: str) -> Score | None:
        return next((it for it in self.scores if it.heuristic == heuristic), None)


def came_up(window: Window, metric: Metric) -> bool | None:
    """Whether sessions show what a bet is about, as an experiment would count it."""
    found = recurrences(window, metric.fact, metric.subject)
    return any(found.hits.values()) if found is not None and found.hits else None


def calibrations(
    store: Store,
    scope: Scope,
    now: int,
    heuristics: Sequence[Heuristic] = HEURISTICS,
    *,
    happened: CameUp = came_up,
    progress: Callable[[Counted], None] | None = None,
) -> list[Calibration]:
    """Each workspace of a scope with its whole history, whatever else the scope is about."""
    with seldom_collecting():
        whole = Scope(scope.workspace, scope.workspace_name)
        stamp = _stamp(store, heuristics)
        found = [
            _calibration(store, ground, heuristics, stamp, happened, progress)
            for ground in grounds(store, whole, now)
        ]
        return [it for it in found if it.weeks]


def _calibration(
    store: Store,
    ground: Ground,
    heuristics: Sequence[Heuristic],
    stamp: str,
    happened: CameUp,
    progress: Callable[[Counted], None] | None,
) -> Calibration:
    chosen = cuts(ground.frame.active)
    started = time.monotonic()
    known = replayed.known(store, ground.number)
    told: list[Replayed] = []
    trials: list[Trial] = []
    for cut in chosen:
        mark = digest(f"{stamp}\0{cut}\0{_sessions(ground, cut)}".encode())
        row = known.get(cut.day)
        if row is None or row.stamp != mark:
            found = _replayed(ground, cut, heuristics, happened)
            row = Replayed(ground.number, cut.day, mark, msgspec.json.encode(found).decode())
        told.append(row)
        if progress is not None:
            took = time.monotonic() - started
            progress(Counted("looking back at earlier weeks:", len(told), len(chosen), took))
        trials += msgspec.json.decode(row.body, type=list[Trial])
    if store.writable and told != list(known.values()):
        replayed.keep(store, ground.number, told)
    remembered = {it.about: it for it in memory.known(store, [ground.number]).values()}
    return Calibration(
        workspace=ground.name,
        home=ground.number,
        weeks=len(chosen),
        first_day=chosen[0].day if chosen else None,
        last_day=chosen[-1].until - 1 if chosen else None,
        scores=scores(
            [it for it in trials if not _acted_on(it, remembered.get(it.about))],
            _verdicts(store, ground.number, trials, remembered),
        ),
    )


def _replayed(
    ground: Ground, cut: Cut, heuristics: Sequence[Heuristic], happened: CameUp
) -> list[Trial]:
    return replay(
        ground.window,
        cut,
        heuristics,
        frame=lambda window: frame(window, ground.identity),
        size=lambda text: sizes.size(text).tokens,
        came_up=happened,
    )


def _stamp(store: Store, heuristics: Sequence[Heuristic]) -> str:
    rules = _rules()
    return digest(f"{store.meta(STAMP)}\0{rules}\0{heuristics!r}".encode())


@cache
def _rules() -> str:
    return "\n".join(map(text_of, _RULES))


def _sessions(ground: Ground, cut: Cut) -> str:
    """The sessions that a cut is about, and how much each holds."""
    window = ground.window
    own = [
        (number, it.started, it.ended, it.requests, it.tokens)
        for number, it in sorted(window.sessions.items())
        if it.started is not None and cut.since * DAY_MS <= it.started < cut.until * DAY_MS
    ]
    return repr(own)


def _acted_on(trial: Trial, kept: Kept | None) -> bool:
    """Whether a person had begun to change it before its days were over."""
    if kept is None or kept.decided_at is None or kept.state not in _ACTED_ON:
        return False
    return kept.decided_at < trial.until * DAY_MS


def _verdicts(
    store: Store, workspace: int, trials: Sequence[Trial], remembered: Mapping[str, Kept]
) -> Iterator[tuple[Trial, bool]]:
    """Bets that an experiment judged, each as it was made last, and whether it was right."""
    about = {kept.id: name for name, kept in remembered.items()}
    last = {it.about: it for it in trials}
    for experiment in shelf.listed(store, workspace):
        trial = last.get(about.get(experiment.bet or "", ""))
        if trial is not None and experiment.verdict in _HELD | _FAILED:
            yield trial, experiment.verdict in _HELD
