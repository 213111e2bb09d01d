"""Reading transcripts side by side, in a fixed order.

A task is one slice of one transcript. Slices of one transcript follow one another, since a source
may carry state from line to line; different transcripts are read at once, small ones in groups.
Results come back in the order of the tasks however the processes finish, because the first session
to tell of an event owns it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from hansei.errors import HanseiError
from hansei.ops.processes import processes
from hansei.redaction.engine import Redactor, redact, redact_facts
from hansei.sources import catalogue
from hansei.sources.contract import SLICE_BYTES, written_out
from hansei.store.bodies import Bodies, packed
from hansei.store.rows import Row, to_row
from hansei.store.transcripts import Piece

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from concurrent.futures import Future, ProcessPoolExecutor

    from hansei.sources.contract import Cursor, Reading, Transcript

GROUP_BYTES = 1024 * 1024
"""Small transcripts that go to a process together: sending one costs as much as reading 20 kB."""

AHEAD_BYTES = 16 * 1024 * 1024
"""How far reading may be ahead of writing, so that neither waits for the other."""

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
    bytes: int = 0
    """About how much there is to read."""


class Slice(NamedTuple):
    """What a task brought, and the task that goes on from there."""

    piece: Piece
    next: Task | None


class Group(NamedTuple):
    """What several tasks brought, packed for the journey, and the task that goes on from there."""

    pieces: list[Piece]
    rows: bytes
    """The rows of each piece: a hundred thousand small values are slow to pickle."""
    next: Task | None


_rows_encoder = msgspec.msgpack.Encoder()
_rows_decoder = msgspec.msgpack.Decoder(list[list[Row]])


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
    waiting = _groups(tasks)
    underway: deque[Underway] = deque()
    with processes(workers) as pool:
        while True:
            ahead = sum(one.bytes for one in underway)
            while ahead < AHEAD_BYTES and (few := next(waiting, None)) is not None:
                underway.append(_submit(pool, few))
                ahead += underway[-1].bytes
            if not underway:
                break
            group = underway.popleft().future.result()
            if group.next is not None:
                underway.appendleft(_submit(pool, [group.next]))
            yield from _unpacked(group)


class Underway(NamedTuple):
    """A group in the hands of a process."""

    future: Future[Group]
    bytes: int


def _submit(pool: ProcessPoolExecutor, group: list[Task]) -> Underway:
    # What a group of one takes at a time is a slice.
    return Underway(
        pool.submit(read_group, group), max(1, min(SLICE_BYTES, sum(task.bytes for task in group)))
    )


def _unpacked(group: Group) -> Iterator[Piece]:
    for piece, rows in zip(group.pieces, _rows_decoder.decode(group.rows), strict=True):
        piece.rows = rows
        yield piece


def _groups(tasks: Iterable[Task]) -> Iterator[list[Task]]:
    """Neighbouring small tasks together, each large one alone."""
    group: list[Task] = []
    size = 0
    for task in tasks:
        if group and size + task.bytes > GROUP_BYTES:
            yield group
            group, size = [], 0
        group.append(task)
        size += task.bytes
    if group:
        yield group


def read_group(tasks: list[Task]) -> Group:
    """Several transcripts to their ends, or one slice of one."""
    pieces = []
    following = None
    for first in tasks:
        piece, following = read_slice(first)
        pieces.append(piece)
        while following is not None and len(tasks) > 1:  # it grew since it was measured
            piece, following = read_slice(following)
            pieces.append(piece)
    rows = _rows_encoder.encode([piece.rows for piece in pieces])
    for piece, bodies in zip(pieces, packed([piece.bodies for piece in pieces]), strict=True):
        piece.rows, piece.bodies = [], bodies
    return Group(pieces, rows, following)


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
    laid_out = [to_row(clean) for clean in redact(reading.events, redactor, env_calls=watched)]
    piece.rows = [row for row, _ in laid_out]
    piece.bodies = Bodies([body for _, body in laid_out])
    piece.sessions = [redact_facts(facts, redactor) for facts in reading.sessions.values()]
    piece.watched = list(watched)[-WATCHED_KEPT:]
    piece.cursor = reading.cursor
    piece.problems = reading.problems
    piece.records, piece.taken = reading.records, reading.taken
    piece.restarted = reading.restarted
    for agent, told in reading.others.items():
        other = Piece(agent, piece.path, piece.variant, "", told.cursor)
        _lay_out(other, told, redactor)
        piece.others.append(other)


def _unreadable(piece: Piece, reason: str) -> Slice:
    """Note why, without a fingerprint, so that it is tried again."""
    piece.unreadable, piece.fingerprint = written_out(reason), ""
    return Slice(piece, None)


_redactors: dict[bytes, Redactor] = {}


def _redactor(key: bytes) -> Redactor:
    if key not in _redactors:
        _redactors[key] = Redactor(key)
    return _redactors[key]
