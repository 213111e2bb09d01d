"""Reading transcripts side by side, in a fixed order.

A task is one slice of one transcript. Slices of one transcript follow one another, since a source
may carry state from line to line; different transcripts are read at once. Results come back in the
order of the tasks however the processes finish, because the first session to tell of an event owns
it.
"""

from __future__ import annotations

import signal
from collections import deque
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from hansei.errors import HanseiError, SourceError
from hansei.redaction.engine import Redactor, redact, redact_facts
from hansei.sources import catalogue
from hansei.store.rows import to_row
from hansei.store.transcripts import Piece

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hansei.sources.contract import Cursor, Reading, Transcript

WATCHED_KEPT = 64
"""Calls without a result that are remembered from one slice to the next, the newest of them."""


@dataclass(frozen=True)
class Task:
    """One slice to read."""

    transcript: Transcript
    fingerprint: str
    cursor: Cursor
    key: bytes
    watched: tuple[str, ...] = ()


class Slice(NamedTuple):
    """What a task brought, and the task that goes on from there."""

    piece: Piece
    next: Task | None


def read_all(tasks: Iterable[Task], workers: int) -> Iterator[Piece]:
    """Every piece of every task, in order; in this process if `workers` is 1."""
    return _one_by_one(tasks) if workers <= 1 else _side_by_side(tasks, workers)


def _one_by_one(tasks: Iterable[Task]) -> Iterator[Piece]:
    for first in tasks:
        task: Task | None = first
        while task is not None:
            piece, task = read_slice(task)
            yield piece


def _side_by_side(tasks: Iterable[Task], workers: int) -> Iterator[Piece]:
    # Spawned, not forked: the parent may hold threads and an open database.
    import multiprocessing

    waiting = iter(tasks)
    underway: deque[Future[Slice]] = deque()
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_leave_interrupts)
    try:
        # Two more than there are processes, so that none waits while we write.
        for task in _take(waiting, workers + 2):
            underway.append(pool.submit(read_slice, task))
        while underway:
            piece, following = underway.popleft().result()
            if following is not None:
                underway.appendleft(pool.submit(read_slice, following))
            else:
                underway.extend(pool.submit(read_slice, task) for task in _take(waiting, 1))
            yield piece
    except HanseiError:
        raise
    except RuntimeError as problem:  # a process was killed, most likely for want of memory
        raise SourceError(
            f"a reading process ended unexpectedly: {problem}",
            hint="Set `workers = 1` in config.toml to read in one process.",
        ) from problem
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _take(tasks: Iterator[Task], count: int) -> Iterator[Task]:
    for _ in range(count):
        task = next(tasks, None)
        if task is None:
            return
        yield task


def _leave_interrupts() -> None:
    """Ctrl-C is for the parent, which stops its processes in good order."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def read_slice(task: Task) -> Slice:
    """Read, clean and lay out one slice. A transcript that cannot be read says why."""
    transcript = task.transcript
    piece = Piece(
        agent=transcript.agent,
        path=transcript.id,
        variant=transcript.variant,
        fingerprint=task.fingerprint,
        cursor=task.cursor,
        watched=list(task.watched),
    )
    try:
        reading = catalogue.load(transcript.agent).read(transcript, task.cursor)
        _lay_out(piece, reading, _redactor(task.key))
    except (HanseiError, OSError) as problem:
        return _unreadable(piece, str(problem))
    except Exception as problem:  # noqa: BLE001 - a fault in one reader must not stop the others
        # Its words may quote the transcript, and have not been cleaned.
        return _unreadable(piece, f"its reader failed with {type(problem).__name__}")
    if not reading.more:
        return Slice(piece, None)
    piece.fingerprint = ""
    return Slice(piece, replace(task, cursor=reading.cursor, watched=tuple(piece.watched)))


def _lay_out(piece: Piece, reading: Reading, redactor: Redactor) -> None:
    """Clean what was read and fill the piece with it."""
    watched = dict.fromkeys(piece.watched)
    piece.rows = [to_row(clean) for clean in redact(reading.events, redactor, env_calls=watched)]
    piece.sessions = [redact_facts(facts, redactor) for facts in reading.sessions.values()]
    piece.watched = list(watched)[-WATCHED_KEPT:]
    piece.cursor = reading.cursor
    piece.problems = reading.problems
    piece.records, piece.taken = reading.records, reading.taken
    piece.restarted = reading.restarted


def _unreadable(piece: Piece, reason: str) -> Slice:
    """Note why, without a fingerprint, so that it is tried again."""
    piece.unreadable, piece.fingerprint = reason, ""
    return Slice(piece, None)


_redactors: dict[bytes, Redactor] = {}


def _redactor(key: bytes) -> Redactor:
    if key not in _redactors:
        _redactors[key] = Redactor(key)
    return _redactors[key]
