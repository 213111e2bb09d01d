"""The watcher on this machine: real folders, real events, the real store.

The store is opened for each round and closed after it, so that a rebuild, a removal or another
command finds nothing in its way between two rounds.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from hansei.config import read_settings
from hansei.errors import ConfigError, StoreLocked
from hansei.ops.ingest import ingest
from hansei.ops.survey import GONE, Survey, glance, survey
from hansei.ops.watch import NO_AGENT, Folder, Look, Stopped, Taken
from hansei.sources import catalogue
from hansei.sources.contract import Narrow
from hansei.sources.live import live_folder
from hansei.sources.spool import spool_folder
from hansei.store.database import complaints, open_store
from hansei.store.lock import exclusive

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from pathlib import Path

    from hansei.config import Config
    from hansei.ops.file_events import FileEvents
    from hansei.ops.ingest import Progress
    from hansei.sources.contract import Source, Transcript
    from hansei.store.database import Store

LOCK = "watcher.lock"
_HEAVY = ("pyarrow", "genai_prices", "duckdb")
"""Needed for moments, a watcher lives for weeks."""


@contextmanager
def the_only_watcher(store: Path) -> Iterator[None]:
    """Be the one watcher of a store; a second one is told who is first."""
    path = store / LOCK
    with ExitStack() as held:
        with complaints(store):
            store.mkdir(parents=True, exist_ok=True, mode=0o700)
            try:
                handle = held.enter_context(exclusive(path, wait_seconds=0))
            except StoreLocked:
                raise _second(store, path) from None
            os.ftruncate(handle, 0)
            os.write(handle, str(os.getpid()).encode())
        yield


def _second(store: Path, path: Path) -> StoreLocked:
    try:
        process = path.read_text(encoding="utf-8").strip()
    except OSError:  # Windows lets nobody read a locked file
        process = ""
    which = f" (process {process})" if process.isdigit() else ""
    ending = f"`kill {process}`" if process.isdigit() else "its window or service"
    return StoreLocked(
        f"another hansei is watching already{which}, into {store}",
        hint=f"One is enough: it takes in every agent. To replace it, end it first: {ending}.",
    )


@dataclass
class Live:
    """The surroundings of a real watcher."""

    config: Config
    events: FileEvents
    wall_clock: Callable[[], int]
    stopped: Callable[[], bool]
    progress: Callable[[Progress], None]
    warn: Callable[[str], None]
    _told: set[str] = field(default_factory=set)

    def clock(self) -> float:
        return time.monotonic()

    def now(self) -> int:
        return self.wall_clock()

    def wait(self, seconds: float) -> Collection[str] | None:
        return self.events.wait(seconds)

    def folders(self) -> Mapping[Path, Folder]:
        """Every folder to follow that is there and can be looked into."""
        there = {}
        for folder, agent in self._wanted():
            try:
                status = folder.stat()
            except OSError:
                continue
            if folder.is_dir() and os.access(folder, os.R_OK | os.X_OK):
                there[folder] = Folder(agent, (status.st_dev, status.st_ino))
        return there

    @cached_property
    def _sources(self) -> list[Source]:
        """Finding plug-ins takes two milliseconds, which is too much for every tick."""
        return catalogue.load_all().sources

    def _wanted(self) -> Iterator[tuple[Path, str]]:
        yield spool_folder(self.config.environment), NO_AGENT
        yield live_folder(self.config.environment), NO_AGENT
        for source in self._sources:
            extra = self.config.settings.sources.get(source.name, [])
            for folder in _watched(source, self.config, extra):
                yield folder, source.name

    def follow(self, folders: Collection[Path]) -> Mapping[Path, str]:
        return self.events.follow(folders)

    def fingerprint(self, transcript: Transcript) -> str:
        try:
            return catalogue.load(transcript.agent).fingerprint(transcript)
        except OSError:
            return GONE

    def take_in(self, look: Look) -> Taken:
        """One round, given up between two transactions when asked to stop."""
        if look.everything:
            self._read_settings()
        seen: list[tuple[Survey, float]] = []

        def looked(store: Store, config: Config) -> Survey:
            started = time.monotonic()
            found = _seen(store, config, look)
            seen.append((found, time.monotonic() - started))
            return found

        now = self.wall_clock()
        store = open_store(self.config.store, now=now)
        try:
            with complaints(self.config.store):
                report = ingest(
                    store,
                    self.config,
                    now=now,
                    wait_seconds=0,
                    progress=self._between_transactions,
                    look=looked,
                )
                if look.everything:
                    self._tend(store, now)
        finally:
            store.close()
        ((found, seconds),) = seen
        return Taken(report, found, seconds)

    def _tend(self, store: Store, now: int) -> None:
        """Blocks of experiments are switched for the day; each problem is told once."""
        from hansei.ops.experiments.verbs import tend

        done = tend(store, self.config, self.config.store, now)
        switched = [
            f"{it.path} could not be switched: {it.problem}" for it in done.switched if it.problem
        ]
        for problem in (*done.problems, *switched):
            if problem not in self._told:
                self._told.add(problem)
                self.warn(problem)

    def _between_transactions(self, progress: Progress) -> None:
        self.progress(progress)
        if self.stopped():
            raise Stopped

    def _read_settings(self) -> None:
        """Settings may have changed; where they no longer can be used, the old ones stay."""
        try:
            self.config = replace(self.config, settings=read_settings(self.config.store))
        except ConfigError as problem:
            self.warn(f"{problem.message}: the settings from before stay in force")

    def grown(self) -> bool:
        """Whether libraries are in memory that a fresh start would not need.

        Windows has no way to start a program anew in the same process.
        """
        return sys.platform != "win32" and any(name in sys.modules for name in _HEAVY)


def _watched(source: Source, config: Config, extra: list[str]) -> list[Path]:
    if isinstance(source, Narrow):
        return source.watched_folders(config.environment, extra)
    return source.roots(config.environment, extra)


def _seen(store: Store, config: Config, look: Look) -> Survey:
    if look.everything:
        return survey(store, config)
    named = [it for it in look.named if it.agent not in look.agents]
    part = glance(store, named)
    if not look.agents:
        return part
    whole = survey(store, config, look.agents)
    return Survey(
        whole.transcripts + part.transcripts,
        whole.changed + part.changed,
        whole.missing,
        whole.warnings,
    )
