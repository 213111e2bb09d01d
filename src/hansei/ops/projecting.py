"""Working out the facts of sessions that changed, side by side where there are many.

A process is given the numbers of some sessions, reads their events itself and sends back rows; one
process, this one, writes them. What a crash leaves undone is still due the next time.
"""

from __future__ import annotations

import time
import traceback
from collections import deque
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from hansei.ops.judging import Counted, judge
from hansei.ops.processes import give_back, processes, seldom_collecting, worth
from hansei.projection import exposure
from hansei.projection.facts import keeping
from hansei.projection.facts.folds import PROBLEMS, STANDS, TABLES, Problem, Stand, work_out
from hansei.projection.facts.keeping import Worked
from hansei.projection.facts.subjects import subject
from hansei.store.database import open_store
from hansei.store.due import due
from hansei.store.histories import by_place, histories
from hansei.store.lock import exclusive
from hansei.store.rows import json_list
from hansei.store.upkeep import exposure_due

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Future

    from hansei.config import CommandClass, Config
    from hansei.projection.facts.subjects import Ground, Subject
    from hansei.projection.facts.tables import Table
    from hansei.store.database import Store
    from hansei.store.histories import Size
    from hansei.store.reading import Numbered

LOCK = "facts.lock"
EVENTS_AT_ONCE = 4000
"""Events that one process reads at a time: bounds memory, and what is sent at once."""
PARALLEL_EVENTS = 20_000
"""Starting processes costs about as much as working out this many."""


class Job(NamedTuple):
    """Sessions for one process."""

    store: str
    sessions: list[int]
    own: dict[str, CommandClass]


def refresh(
    store: Store,
    config: Config,
    *,
    workspace: int | None,
    now: int,
    wait_seconds: float = 0,
    progress: Callable[[Counted], None] | None = None,
) -> int:
    """Bring the facts of a workspace, or of all, up to date; returns how many sessions were due.

    What became of edits is asked of git as it is `now`.
    """
    with exclusive(store.folder / LOCK, wait_seconds=wait_seconds):
        if exposure_due(store):
            exposure.refresh(store)
        keeping.make_ready(store, config.settings.commands)
        keeping.mark_moved(store, workspace)
        wanted = dict(due(store, workspace))
        with seldom_collecting(), store.seldom_settling():
            _work(store, config, wanted, progress)
            changed = _workspaces_of(store, wanted)
            judge(store, workspace=workspace, changed=changed, now=now, progress=progress)
            if changed:
                _tell_hooks(store, config, changed)
    return len(wanted)


def _tell_hooks(store: Store, config: Config, changed: Iterable[int]) -> None:
    # The rules of what may be told take 30 ms to import, and mostly nothing has changed.
    from hansei.ops.known_failures import write

    write(store, config, changed)


def _workspaces_of(store: Store, sessions: Iterable[int]) -> set[int]:
    rows = store.db.execute(
        "SELECT DISTINCT workspace FROM sessions WHERE id IN (SELECT value FROM json_each(?))",
        (json_list(sessions),),
    )
    return {number for (number,) in rows}


def ready(store: Store, config: Config) -> bool:
    """Whether facts are there to be read, worked out by the rules of this version."""
    return keeping.is_ready(store, config.settings.commands)


def _work(
    store: Store,
    config: Config,
    wanted: dict[int, int],
    progress: Callable[[Counted], None] | None,
) -> None:
    sizes = by_place(store, wanted)
    jobs = [
        Job(str(store.folder), sessions, dict(config.settings.commands))
        for sessions in _portions(sizes)
    ]
    many = sum(size.events for size in sizes) >= PARALLEL_EVENTS
    started, done = time.monotonic(), 0
    for worked in _results(store, jobs, worth(config, len(jobs)) if many else 1):
        keeping.keep(store, worked, wanted)
        done += len(worked)
        if progress is not None:
            took = time.monotonic() - started
            progress(Counted("working out what happened: session", done, len(wanted), took))


def _portions(sizes: Iterable[Size]) -> Iterator[list[int]]:
    portion: list[int] = []
    events = 0
    for size in sizes:
        portion.append(size.session)
        events += size.events
        if events >= EVENTS_AT_ONCE:
            yield portion
            portion, events = [], 0
    if portion:
        yield portion


def _results(store: Store, jobs: Sequence[Job], workers: int) -> Iterator[list[Worked]]:
    if workers <= 1:
        for job in jobs:
            yield _decoder.decode(_encoder.encode(list(_of_sessions(store, job))))
        return
    waiting = iter(jobs)
    underway: deque[Future[bytes]] = deque()
    with processes(workers) as pool:
        underway.extend(pool.submit(work, job) for job in islice(waiting, workers + 1))
        while underway:
            packed = underway.popleft().result()
            underway.extend(pool.submit(work, job) for job in islice(waiting, 1))
            yield _decoder.decode(packed)


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[Worked])


def work(job: Job) -> bytes:
    """One portion, packed for the journey."""
    store = open_store(Path(job.store), now=0, create=False)
    try:
        return _encoder.encode(list(_of_sessions(store, job)))
    finally:
        store.close()
        give_back()  # else every process keeps what its largest session took


def _of_sessions(store: Store, job: Job) -> Iterator[Worked]:
    grounds: dict[int, Ground] = {}
    for session, events in _each(store, job.sessions):
        about = subject(store, session, grounds)
        found = _found(about, events, job.own)
        found[STANDS] = [Stand(about.roots)]
        rows = [[table.cells(row) for row in found.get(table, ())] for table in TABLES]
        yield Worked(session, rows)


def _each(store: Store, sessions: Sequence[int]) -> Iterator[tuple[int, list[Numbered]]]:
    """Every session with its events, made when it is its turn; some have none."""
    told = histories(store, sessions)
    ahead = next(told, None)
    for session in sessions:
        if ahead is not None and ahead[0] == session:
            yield ahead
            ahead = next(told, None)
        else:
            yield session, []


def _found(
    told: Subject, events: list[Numbered], own: dict[str, CommandClass]
) -> dict[Table[Any], list[Any]]:
    try:
        return work_out(told, events, own)
    except Exception as problem:  # noqa: BLE001 - a fault in one session must not stop the others
        # Its words may quote the transcript: `hansei doctor` tells what kind it was, and where.
        last = traceback.extract_tb(problem.__traceback__)[-1]
        return {PROBLEMS: [Problem(type(problem).__name__, f"{last.name}:{last.lineno}")]}
