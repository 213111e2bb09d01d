"""A small world for the watcher: its clock moves only when the watcher waits or works."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from hansei.ops.ingest import IngestReport
from hansei.ops.survey import GONE, Found, Survey
from hansei.ops.watch import Ended, Folder, Look, Round, Taken, watch
from hansei.sources.contract import Transcript

AGENT = "someone"
ROOT = Path("/agents/someone")


@dataclass
class World:
    """Transcripts with versions, what was read of them, and what is going to happen."""

    files: dict[str, int] = field(default_factory=dict)
    """Versions of the transcripts there are, by path."""
    plan: list[tuple[float, Callable[[], Collection[str] | None]]] = field(default_factory=list)
    """What happens when, and the events that tell of it."""
    looking: float = 0.001
    reading: float = 0.001
    late: float = 0.0
    """How much longer than asked every wait takes."""
    short: dict[Path, str] = field(default_factory=dict)
    there: dict[Path, Folder] = field(default_factory=lambda: {ROOT: Folder(AGENT, (1, 1))})
    problems: list[Exception] = field(default_factory=list)
    """What the next rounds fail with."""
    heavy: bool = False

    time: float = 1000.0
    read: dict[str, int] = field(default_factory=dict)
    rounds: list[tuple[float, Look]] = field(default_factory=list)
    followed: list[list[Path]] = field(default_factory=list)
    told: list[Round] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    looked_seconds: float = 0.0

    def clock(self) -> float:
        return self.time

    def now(self) -> int:
        return int(self.time * 1000)

    def wait(self, seconds: float) -> Collection[str] | None:
        until = self.time + seconds
        if self.plan and self.plan[0][0] <= until:
            at, happen = self.plan.pop(0)
            self.time = max(self.time, at)
            return happen()
        self.time = until + self.late
        return set()

    def folders(self) -> Mapping[Path, Folder]:
        return dict(self.there)

    def follow(self, folders: Collection[Path]) -> Mapping[Path, str]:
        self.followed.append(sorted(folders))
        return {folder: why for folder, why in self.short.items() if folder in folders}

    def fingerprint(self, transcript: Transcript) -> str:
        version = self.files.get(transcript.id)
        return GONE if version is None else str(version)

    def take_in(self, look: Look) -> Taken:
        self.rounds.append((self.time, look))
        if self.problems:
            self.time += self.reading
            raise self.problems.pop(0)
        whole = look.everything or AGENT in look.agents
        paths = list(self.files) if whole else [it.id for it in look.named if it.id in self.files]
        seen = [transcript(path) for path in paths]
        changed = [path for path in paths if self.read.get(path) != self.files[path]]
        missing = [path for path in self.read if whole and path not in self.files]
        for path in missing:
            del self.read[path]
        self.read |= {path: self.files[path] for path in changed}
        looking = self.looking if whole else 0.0
        self.looked_seconds += looking
        self.time += looking + self.reading
        report = IngestReport(
            read=len(changed), events=len(changed), missing=len(missing), seconds=self.reading
        )
        found = [Found(transcript(path), "") for path in changed]
        return Taken(report, Survey(seen, found, [(AGENT, it) for it in missing], []), looking)

    def grown(self) -> bool:
        return self.heavy

    def write(self, name: str, *, heard: Collection[str] | None = None) -> Collection[str] | None:
        """A transcript grows, and events tell of it unless other events are given."""
        path = f"{ROOT}/{name}"
        self.files[path] = self.files.get(path, 0) + 1
        return {path} if heard is None else heard

    def remove(self, name: str) -> Collection[str]:
        del self.files[f"{ROOT}/{name}"]
        return {f"{ROOT}/{name}"}

    def mount(self, number: int) -> Collection[str]:
        """The agent's folder is there, and is that one."""
        self.there[ROOT] = Folder(AGENT, (1, number))
        return ()

    def fail(self, *problems: Exception) -> Collection[str]:
        """The next rounds fail."""
        self.problems += problems
        return ()

    def sleep(self, seconds: float) -> Collection[str]:
        """The machine sleeps, and wakes."""
        self.time += seconds
        return ()

    def at(self, seconds: float, happen: Callable[[], Collection[str] | None]) -> None:
        """Plan something for so many seconds after the start."""
        self.plan.append((1000.0 + seconds, happen))
        self.plan.sort(key=lambda planned: planned[0])

    def run(self, seconds: float) -> Ended:
        """Let the watcher run."""
        end = self.time + seconds
        return watch(
            self,
            tell=self.told.append,
            note=self.notes.append,
            stopped=lambda: self.time >= end,
        )

    def unread(self) -> set[str]:
        return {path for path, version in self.files.items() if self.read.get(path) != version}

    def later(self, first: int = 1) -> list[tuple[float, Look]]:
        """Rounds from the given one on, with seconds since the start; the first is the catch-up."""
        return [(round(at - 1000.0, 1), look) for at, look in self.rounds[first:]]


def transcript(path: str) -> Transcript:
    return replace(Transcript(AGENT, Path(path)), fingerprint="")


def world(*names: str, **fields: object) -> World:
    """A world with these transcripts."""
    return World(files={f"{ROOT}/{name}": 1 for name in names}, **fields)  # type: ignore[arg-type]
