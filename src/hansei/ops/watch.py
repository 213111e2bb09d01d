"""Following every agent live: what changes is taken in as it changes.

An event names a file. A known transcript is read alone, however many others there are; an unknown
file makes its agent's folders be looked through; and now and then everything is, because events get
lost. Looking takes a fixed share of the time at most, so a watcher with nothing to do costs next to
nothing whatever the number of transcripts.

The loop touches the world only through `Surroundings`, so that tests can hand it a clock and events
of their own.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from hansei.errors import HanseiError, NewerStore, StoreLocked

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from pathlib import Path

    from hansei.ops.ingest import IngestReport
    from hansei.ops.survey import Survey
    from hansei.sources.contract import Transcript

EVERYTHING_SECONDS = 300.0
"""Everything is looked at this often: what events missed waits no longer."""
TICK_SECONDS = 2.0
"""How often we ask which folders there are, and look at what no event tells of."""
REST_SECONDS = 0.5
"""Between two rounds: a session that streams lines is read in pieces, not line by line."""
LONGEST_REST_SECONDS = 2.0
"""Much to read takes long once, which is no reason to let the next line wait."""
IDLE_SHARE = 200
"""Looking without being asked rests this many times as long as it took: half a percent at most."""
BUSY_SHARE = 20
"""Rounds and looks that events ask for: a twentieth of one core at most."""
LOCKED_SECONDS = 1.0
"""Another hansei is writing; it is seldom long."""
LONGEST_BACKOFF_SECONDS = 300.0
GROWN_SECONDS = 60.0
"""A quiet minute is the time to let go of memory."""
DOUBTS_KEPT = 4096
"""Files that are no transcripts and were seen to change; beyond this they are met afresh."""

_BESIDE_A_DATABASE = ("-wal", "-shm", "-journal")

NO_AGENT = ""
"""Owns the folders that hooks and running programs write to: any round takes in what is there."""


class Folder(NamedTuple):
    """A folder that is there now."""

    agent: str
    identity: tuple[int, int]
    """Which folder it is: another one under the same path must be followed anew."""


class Look(NamedTuple):
    """What a round looks at: everything, all of some agents, and these transcripts."""

    everything: bool = False
    agents: frozenset[str] = frozenset()
    named: tuple[Transcript, ...] = ()


class Taken(NamedTuple):
    """What a round brought, what it saw, and how long seeing took."""

    report: IngestReport
    seen: Survey
    looking_seconds: float


@dataclass(frozen=True)
class Round:
    """One round as people and programs are told of it."""

    at: int
    transcripts: int
    """How many are followed."""
    read: int = 0
    bytes: int = 0
    events: int = 0
    changed: int = 0
    replayed: int = 0
    skipped: int = 0
    sealed: int = 0
    missing: int = 0
    seconds: float = 0.0
    unreadable: tuple[tuple[str, str], ...] = ()
    """Transcripts that could not be read, each told once for each reason."""
    warnings: tuple[str, ...] = ()
    problem: str | None = None
    """Why nothing could be taken in."""
    hint: str | None = None
    again_in_seconds: float | None = None


class Stopped(Exception):
    """Asked to stop while a round was under way; what was committed stays."""


class Surroundings(Protocol):
    """All that the loop needs of the world."""

    def clock(self) -> float:
        """Seconds that never run backwards."""
        ...

    def now(self) -> int:
        """Milliseconds since 1970."""
        ...

    def wait(self, seconds: float) -> Collection[str] | None:
        """Paths that changed, as soon as there are any; None where events have been lost."""
        ...

    def folders(self) -> Mapping[Path, Folder]:
        """Folders in which agents write, of those that are there."""
        ...

    def follow(self, folders: Collection[Path]) -> Mapping[Path, str]:
        """Wait for events in these from now on; returns where events do not suffice, and why."""
        ...

    def fingerprint(self, transcript: Transcript) -> str:
        """What its source says of a transcript now."""
        ...

    def take_in(self, look: Look) -> Taken:
        """One round. Raises HanseiError, OSError or Stopped."""
        ...

    def grown(self) -> bool:
        """Whether starting anew would free memory."""
        ...


class Doubt(NamedTuple):
    """A file that told of nothing so far: how often, and until when it is not believed."""

    misses: int
    until: float


Ended = Literal["stopped", "grown"]


def watch(
    world: Surroundings,
    *,
    tell: Callable[[Round], None],
    note: Callable[[str], None],
    stopped: Callable[[], bool],
) -> Ended:
    """Take in what is new until asked to stop, or until a fresh start would free memory."""
    watcher = _Watcher(world, tell, note, stopped)
    while not stopped():
        watcher.hear(world.wait(watcher.pause()))
        watcher.tick()
        if (look := watcher.due()) is not None:
            watcher.round(look)
        elif watcher.quiet() and world.grown():
            return "grown"
    return "stopped"


@dataclass
class _Watcher:
    """What waits to be looked at, and when."""

    world: Surroundings
    tell: Callable[[Round], None]
    note: Callable[[str], None]
    stopped: Callable[[], bool]
    known: dict[str, Transcript] = field(default_factory=dict)
    """Every transcript, by path."""
    folders: dict[Path, Folder] = field(default_factory=dict)
    polled: set[str] = field(default_factory=set)
    """Agents whose folders must be looked through again and again."""
    strays: dict[str, str] = field(default_factory=dict)
    """Transcripts outside the folders that are followed, and their fingerprints."""
    named: dict[str, Transcript] = field(default_factory=dict)
    """Transcripts that changed."""
    looks: dict[str, float] = field(default_factory=dict)
    """Agents whose folders are to be looked through, and when."""
    asked: dict[str, set[str]] = field(default_factory=dict)
    """The unknown files for which an agent's folders are looked through."""
    doubts: dict[str, Doubt] = field(default_factory=dict)
    hooks: bool = False
    """Whether hooks have written something."""
    everything_at: float = 0.0
    poll_at: float = 0.0
    tick_at: float = 0.0
    round_at: float = 0.0
    look_at: float = 0.0
    blocked_until: float = 0.0
    failures: int = 0
    rounds: int = 0
    last_round: float = 0.0
    told: set[object] = field(default_factory=set)

    def pause(self) -> float:
        """Seconds until something is due even if nothing happens."""
        times = [self.everything_at, self.poll_at] if self.polled else [self.everything_at]
        times += [max(at, self.look_at) for at in self.looks.values()]
        if self.named or self.hooks:
            times.append(self.round_at)
        due = min(self.tick_at, max(min(times), self.blocked_until))
        return max(0.0, due - self.world.clock())

    def hear(self, paths: Collection[str] | None) -> None:
        """Make of changed files what is to be looked at."""
        if paths is None:
            self.folders = {}  # the next tick follows them anew and looks at everything
            return
        now = self.world.clock()
        for path in sorted(paths):
            transcript = self.known.get(database_of(path))
            if transcript is not None:
                self.named[transcript.id] = transcript
                continue
            for agent in self._agents_at(path):
                self._doubt(path, agent, now)

    def _agents_at(self, path: str) -> set[str]:
        return {it.agent for folder, it in self.folders.items() if is_below(path, str(folder))}

    def _doubt(self, path: str, agent: str, now: float) -> None:
        """An unknown file may be a new transcript, or a log that never concerns us."""
        if agent == NO_AGENT:
            self.hooks = True
            return
        doubt = self.doubts.get(path)
        at = now if doubt is None else max(now, doubt.until)
        self.looks[agent] = min(self.looks.get(agent, at), at)
        self.asked.setdefault(agent, set()).add(path)

    def tick(self) -> None:
        """See to folders that come and go, and to transcripts no event tells of."""
        started = self.world.clock()
        if started < self.tick_at:
            return
        folders = dict(self.world.folders())
        if folders != self.folders:
            self._follow(folders, started)
        for path, before in self.strays.items():
            fingerprint = self.world.fingerprint(self.known[path])
            if fingerprint != before:
                self.strays[path] = fingerprint
                self.named[path] = self.known[path]
        now = self.world.clock()
        self.tick_at = now + max(TICK_SECONDS, IDLE_SHARE * (now - started))

    def _follow(self, folders: dict[Path, Folder], now: float) -> None:
        short = self.world.follow(list(folders))
        for folder, reason in sorted(short.items()):
            self._note_once(f"{folder} is looked through at intervals: {reason}")
        self.folders = folders
        self.polled = {folders[folder].agent for folder in short} - {NO_AGENT}
        self.everything_at = now

    def due(self) -> Look | None:
        """What to look at now, if anything."""
        now = self.world.clock()
        if now < self.blocked_until:
            return None
        if now >= self.everything_at:
            return Look(everything=True)
        agents: set[str] = set()
        if now >= self.look_at:
            agents = {agent for agent, at in self.looks.items() if at <= now}
        if now >= self.poll_at:
            agents |= self.polled
        named = tuple(self.named.values()) if now >= self.round_at else ()
        if agents or named or (self.hooks and now >= self.round_at):
            return Look(agents=frozenset(agents), named=named)
        return None

    def round(self, look: Look) -> None:
        """Take in, and go on whatever comes of it."""
        try:
            taken = self.world.take_in(look)
        except Stopped:
            return
        except StoreLocked:
            self.blocked_until = self.world.clock() + LOCKED_SECONDS
        except NewerStore:
            raise  # no later round of this program can be any better
        except (HanseiError, OSError) as problem:
            self._failed(problem)
        else:
            self._took(look, taken)

    def _failed(self, problem: Exception) -> None:
        if self.stopped():
            return  # whoever stopped us stopped our reading processes too
        self.failures += 1
        seconds = min(2.0**self.failures, LONGEST_BACKOFF_SECONDS)
        self.blocked_until = self.world.clock() + seconds
        message, hint = str(problem), getattr(problem, "hint", None)
        self.tell(
            Round(
                at=self.world.now(),
                transcripts=len(self.known),
                problem=message,
                hint=hint,
                again_in_seconds=seconds,
            )
        )

    def _took(self, look: Look, taken: Taken) -> None:
        now = self.world.clock()
        report, looking = taken.report, taken.looking_seconds
        self._learn(look, taken.seen)
        if look.everything:
            self.everything_at = now + max(EVERYTHING_SECONDS, IDLE_SHARE * looking)
            self.named.clear()
            self.looks.clear()
        else:
            self._settle(look, taken, now)
        if look.everything or look.agents:
            self.look_at = now + BUSY_SHARE * looking
        if look.everything or look.agents & self.polled:
            # Polling and looking at everything share one allowance of time.
            self.poll_at = now + max(TICK_SECONDS, IDLE_SHARE * looking)
            self.everything_at = max(self.everything_at, now + IDLE_SHARE * looking)
        self.hooks = False
        self.failures = 0
        rest = min(max(REST_SECONDS, BUSY_SHARE * report.seconds), LONGEST_REST_SECONDS)
        self.round_at = now + rest
        self.last_round = now
        self._tell_of(report)
        self.rounds += 1

    def _learn(self, look: Look, seen: Survey) -> None:
        """Which transcripts there are, of the agents that were looked through."""
        if not look.everything and not look.agents:
            return
        kept = [] if look.everything else self.known.values()
        others = [it for it in kept if it.agent not in look.agents]
        self.known = {it.id: it for it in (*others, *seen.transcripts)}
        self.strays = {
            path: self.strays.get(path) or self.world.fingerprint(it)
            for path, it in self.known.items()
            if it.agent not in self.polled and not self._agents_at(path)
        }

    def _settle(self, look: Look, taken: Taken, now: float) -> None:
        """What is done with, and what follows from it."""
        there = {transcript.id for transcript in taken.seen.transcripts}
        for transcript in look.named:
            self.named.pop(transcript.id, None)
            if transcript.id not in there and transcript.agent not in look.agents:
                self.looks[transcript.agent] = now  # deleted, renamed or packed
        fruitful = bool(taken.report.read or taken.report.missing)
        for agent in look.agents:
            self.looks.pop(agent, None)
            for path in self.asked.pop(agent, ()):
                self._weigh(path, fruitful=fruitful, now=now)

    def _weigh(self, path: str, *, fruitful: bool, now: float) -> None:
        """Believe a file less each time that looking for its sake found nothing."""
        if database_of(path) in self.known:
            self.doubts.pop(path, None)
        elif not fruitful:
            misses = self.doubts.get(path, Doubt(0, 0.0)).misses + 1
            if len(self.doubts) >= DOUBTS_KEPT:
                self.doubts.clear()
            self.doubts[path] = Doubt(misses, now + min(2.0**misses, EVERYTHING_SECONDS))

    def quiet(self) -> bool:
        """Whether nothing has happened for a while."""
        return self.rounds > 0 and self.world.clock() - self.last_round >= GROWN_SECONDS

    def _tell_of(self, report: IngestReport) -> None:
        unreadable = tuple(it for it in report.unreadable if self._is_new(it))
        warnings = tuple(it for it in report.warnings if self._is_new(it))
        silent = not (report.read or report.missing or report.sealed or unreadable or warnings)
        if silent and self.rounds:
            return
        names = ("read", "bytes", "events", "changed", "replayed", "skipped", "sealed", "missing")
        self.tell(
            Round(
                at=self.world.now(),
                transcripts=len(self.known),
                seconds=report.seconds,
                unreadable=unreadable,
                warnings=warnings,
                **{name: getattr(report, name) for name in names},
            )
        )

    def _note_once(self, text: str) -> None:
        if self._is_new(text):
            self.note(text)

    def _is_new(self, said: object) -> bool:
        if said in self.told:
            return False
        self.told.add(said)
        return True


def database_of(path: str) -> str:
    """The database whose journal a file is; any other file is itself."""
    for suffix in _BESIDE_A_DATABASE:
        if path.endswith(suffix):
            return path.removesuffix(suffix)
    return path


def is_below(path: str, folder: str) -> bool:
    """Whether a path is a folder or anything in it."""
    return path == folder or path.startswith(folder.removesuffix(os.sep) + os.sep)
