"""Taking in what is new: find transcripts, read what changed, keep it, sum it up."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from hansei.config import DAY_MS
from hansei.ops.intake import Task, read_all
from hansei.ops.live_logs import sweep
from hansei.ops.processes import seldom_collecting, worth
from hansei.ops.spool import rotate
from hansei.ops.survey import live_logs, prices_changed, spooled, survey
from hansei.prices import version_stamp
from hansei.projection import exposure, spend
from hansei.sources.contract import START
from hansei.store import cold, log, seal, transcripts
from hansei.store.key import redaction_key
from hansei.store.upkeep import exposure_due, sealing_due, sums_due

if TYPE_CHECKING:
    from collections.abc import Callable

    from hansei.config import Config
    from hansei.ops.survey import Found, Survey
    from hansei.store.database import Store
    from hansei.store.log import Appended
    from hansei.store.transcripts import Piece, Place

COMMIT_BYTES = 40 * 1024 * 1024
"""Transcript bytes written in one transaction: bounds memory and what a crash reads again."""

PARALLEL_BYTES = 24 * 1024 * 1024
"""Starting processes costs about as much as reading this much."""


class Progress(NamedTuple):
    """How far an ingest is."""

    done_bytes: int
    all_bytes: int
    done_transcripts: int
    all_transcripts: int
    seconds: float


@dataclass
class IngestReport:
    """What an ingest did."""

    found: dict[str, int] = field(default_factory=dict)
    """Transcripts there are, by agent."""
    read: int = 0
    bytes: int = 0
    events: int = 0
    changed: int = 0
    replayed: int = 0
    skipped: int = 0
    sealed: int = 0
    missing: int = 0
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    seconds: float = 0.0


def ingest(
    store: Store,
    config: Config,
    *,
    now: int,
    wait_seconds: float = 30.0,
    progress: Callable[[Progress], None] | None = None,
    look: Callable[[Store, Config], Survey] = survey,
) -> IngestReport:
    """Read every new transcript line into the log, cleaned; seal and sum what is due.

    `look` says which transcripts to compare with what has been read: all of them, unless the caller
    knows which ones changed.
    """
    started = time.monotonic()
    report = IngestReport()
    with store.writing(wait_seconds=wait_seconds):
        seen = look(store, config)
        report.found, report.warnings = seen.found, seen.warnings
        with seldom_collecting():
            beside = [*spooled(store, config), *live_logs(store, config)]
            named = {found.transcript.id for found in seen.changed}
            beside = [found for found in beside if found.transcript.id not in named]
            changed = [*seen.changed, *beside]
            _read_changed(store, config, changed, now, report, progress)
        _note_missing(store, seen.missing, now, report)
        _keep_up(store, config, now, report)
    report.seconds = time.monotonic() - started
    return report


def _read_changed(
    store: Store,
    config: Config,
    changed: list[Found],
    now: int,
    report: IngestReport,
    progress: Callable[[Progress], None] | None,
) -> None:
    if not changed:
        return
    named = [(found.transcript.agent, found.transcript.id) for found in changed]
    places = transcripts.places(store, named)
    key = redaction_key(store.folder)
    tasks = [_measured(_task(found, places, key)) for found in changed]
    size = sum(task.bytes for task in tasks)
    workers = _workers(config, size, len(tasks))
    horizon = now - config.settings.seal_after_days * DAY_MS
    tell = _teller(progress, size, len(tasks))
    batch: list[Piece] = []
    pending = 0
    for piece in read_all(tasks, workers):
        batch.append(piece)
        pending += piece.taken
        _note(report, piece)
        if pending >= COMMIT_BYTES:
            _add(report, log.commit(store, batch, now=now, seal_before=horizon))
            batch, pending = [], 0
        tell(report)
    if batch:
        _add(report, log.commit(store, batch, now=now, seal_before=horizon))
    cold.sweep(store)
    tell(report)


def _task(found: Found, places: dict[tuple[str, str], Place], key: bytes) -> Task:
    transcript = found.transcript
    place = places.get((transcript.agent, transcript.id))
    if place is None or not place.cursor:
        return Task(transcript, found.fingerprint, START, key)
    watched = tuple(msgspec.json.decode(place.watched, type=list[str]))
    cursor = transcripts.decode_cursor(place.cursor)
    return Task(transcript, found.fingerprint, cursor, key, watched)


def _measured(task: Task) -> Task:
    """The task with how much there is to read."""
    try:
        size = task.transcript.path.stat().st_size
    except OSError:
        return task
    return replace(task, bytes=max(size - task.cursor.offset, 0))


def _workers(config: Config, size: int, tasks: int) -> int:
    if size < PARALLEL_BYTES:
        return 1
    return worth(config, tasks)


def _note(report: IngestReport, piece: Piece) -> None:
    report.bytes += piece.taken
    if piece.unreadable:
        report.unreadable.append((piece.path, piece.unreadable))
    elif piece.fingerprint:
        report.read += 1


def _add(report: IngestReport, appended: Appended) -> None:
    report.events += appended.events
    report.changed += appended.changed
    report.replayed += appended.replayed
    report.skipped += appended.skipped


def _teller(
    progress: Callable[[Progress], None] | None, all_bytes: int, count: int
) -> Callable[[IngestReport], None]:
    started = time.monotonic()

    def tell(report: IngestReport) -> None:
        if progress is not None:
            seconds = time.monotonic() - started
            done = report.read + len(report.unreadable)
            progress(Progress(report.bytes, all_bytes, done, count, seconds))

    return tell


def _note_missing(
    store: Store, missing: list[tuple[str, str]], now: int, report: IngestReport
) -> None:
    if missing:
        with store.transaction() as db:
            transcripts.mark_missing(db, missing, now)
    report.missing = len(missing)


def _keep_up(store: Store, config: Config, now: int, report: IngestReport) -> None:
    if sealing_due(store, now):
        horizon = now - config.settings.seal_after_days * DAY_MS
        report.sealed = seal.seal(store, now=now, seal_before=horizon)
    if prices_changed(store, config):
        with store.transaction():
            spend.mark_all_stale(store)
            store.set_meta("prices", version_stamp(config.settings.prices))
    if sums_due(store):
        spend.refresh(store, config.settings.prices)
    if exposure_due(store):
        exposure.refresh(store)
    rotate(store, config, now=now)
    sweep(store, config, now=now)
