"""A large history to measure on: transcripts copied under new ids and new times.

The same sessions again would be duplicates, which a good reader counts once; so every copy has ids
of its own, in its lines and in its paths, and is otherwise byte for byte what an agent wrote. All
lines of one project move by the same number of days, so forks and subagents stay what they are.
"""

import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial
from hashlib import blake2b
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

RECENT_SHARE = 0.1
RECENT_DAYS = 7
OLDEST_DAYS = 180

_ID_KEYS = (
    b"id|uuid|parentUuid|logicalParentUuid|sessionId|session_id|requestId|request_id|agentId"
    b"|tool_use_id|toolUseID|parentToolUseID|sourceToolAssistantUUID|leafUuid|messageId"
    b"|backupFileName"
)
_MARKS = re.compile(
    rb'"(?P<key>' + _ID_KEYS + rb')":"(?P<id>[^"\\]{6,100})"|(?P<day>20\d\d-\d\d-\d\d)(?=T\d\d:)'
)
_UUID = re.compile(r"[0-9a-f]{8}(?=-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})")
_AGENT_FILE = re.compile(r"agent-(?:[a-z]+-)*(?P<id>[0-9a-f]{6,})")
_LAST_DAY = re.compile(rb'"timestamp":"(20\d\d-\d\d-\d\d)T')


@dataclass(frozen=True)
class Project:
    """A folder of one project's transcripts, as an agent left it."""

    folder: Path
    name: str
    files: tuple[Path, ...]
    bytes: int
    first_day: date
    last_day: date


@dataclass(frozen=True)
class History:
    """A home folder full of transcripts."""

    home: Path
    origin: str
    files: int
    bytes: int
    recent_bytes: int


def corpus() -> Path | None:
    """Real transcripts, where this machine has them."""
    named = os.environ.get("HANSEI_CORPUS")
    folder = Path(named) if named else ROOT.parent / "shared" / "corpus"
    return folder / "claude_code" if (folder / "claude_code").is_dir() else None


def build(folder: Path, size: int, *, now: float) -> History:
    """A history of at least `size` bytes, a tenth of it in the last seven days."""
    seeds, origin = _seeds(folder, now)
    today = datetime.fromtimestamp(now, UTC).date()
    home = folder / "home"
    written = files = recent = 0
    for number, project in _repeated(seeds):
        if written >= size:
            break
        is_recent = recent < RECENT_SHARE * written and _span(project) < RECENT_DAYS
        age = 1 if is_recent else _age(number, project)
        copied = copy_project(project, home, number, today - timedelta(days=age))
        written, files = written + copied, files + len(project.files)
        recent += copied if is_recent else 0
    return History(home, origin, files, written, recent)


def _seeds(folder: Path, now: float) -> tuple[list[Project], str]:
    real = corpus()
    if real is not None:
        found = [path for path in real.rglob("projects") if path.parent.name == ".claude"]
        folders = [project for path in sorted(found) for project in sorted(path.iterdir())]
        return _projects(folders), "real transcripts"
    from hansei.synth import build as build_world

    world = build_world(
        folder / "seed",
        seed=1,
        now_ms=int(now * 1000),
        sessions=200,
        weeks=8,
        agents=["claude_code"],
        padding=20.0,
    )
    projects = sorted((world.home / ".claude" / "projects").iterdir())
    return _projects(projects), "a generated history"


def _projects(folders: list[Path]) -> list[Project]:
    return [project for folder in folders if (project := _project(folder)) is not None]


def _project(folder: Path) -> Project | None:
    files = tuple(sorted(path for path in folder.rglob("*") if path.is_file()))
    days = [day for path in files if path.suffix == ".jsonl" for day in _days(path)]
    if not days:
        return None
    size = sum(path.stat().st_size for path in files)
    owner = blake2b(str(folder).encode(), digest_size=2).hexdigest()
    return Project(folder, f"{folder.name}-{owner}", files, size, min(days), max(days))


def _days(path: Path) -> Iterator[date]:
    for found in _LAST_DAY.finditer(path.read_bytes()):
        yield date.fromisoformat(found[1].decode())


def _repeated(seeds: list[Project]) -> Iterator[tuple[int, Project]]:
    """Every project, then every project again under the next number, and so on."""
    number = 0
    while seeds:
        yield from ((number, project) for project in seeds)
        number += 1


def _span(project: Project) -> int:
    return (project.last_day - project.first_day).days + 1


def _age(number: int, project: Project) -> int:
    """Days ago of a project's last line: spread over half a year, the same in every run."""
    digest = blake2b(f"{number}/{project.name}".encode(), digest_size=4).digest()
    spread = OLDEST_DAYS - RECENT_DAYS - 1
    return RECENT_DAYS + 1 + int.from_bytes(digest) % spread


def copy_project(project: Project, home: Path, number: int, last_day: date) -> int:
    """Write one copy so that its last line falls on a day; returns its bytes."""
    shift = last_day - project.last_day
    target = home / ".claude" / "projects" / project.name
    marks = partial(_moved, number=number, shift=shift, days={})
    modified = time.mktime(last_day.timetuple()) + 12 * 3600
    size = 0
    for path in project.files:
        parts = [_renamed(part, number) for part in path.relative_to(project.folder).parts]
        place = target.joinpath(*parts)
        place.parent.mkdir(parents=True, exist_ok=True)
        content = _MARKS.sub(marks, path.read_bytes())
        place.write_bytes(content)
        os.utime(place, (modified, modified))
        size += len(content)
    return size


def _moved(
    found: re.Match[bytes], *, number: int, shift: timedelta, days: dict[bytes, bytes]
) -> bytes:
    day = found["day"]
    if day is not None:
        if day not in days:
            days[day] = _shifted(day, shift)
        return days[day]
    return b'"%s":"%s"' % (
        found["key"],
        _renamed_id(found["id"].decode("utf-8", "surrogateescape"), number),
    )


def _shifted(day: bytes, shift: timedelta) -> bytes:
    try:
        return (date.fromisoformat(day.decode()) + shift).isoformat().encode()
    except (ValueError, OverflowError):  # looks like a day, and is none
        return day


def _renamed_id(native: str, number: int) -> bytes:
    return _renamed_text(native, number).encode("utf-8", "surrogateescape")


def _renamed_text(native: str, number: int) -> str:
    """The same id for the same id and number; another one for every other."""
    if number == 0:
        return native
    renamed, count = _UUID.subn(lambda found: f"{int(found[0], 16) ^ number:08x}", native)
    return renamed if count else f"{native}{number:x}"


def _renamed(part: str, number: int) -> str:
    """A part of a path: session ids and agents' ids in it change as they do in the lines."""
    if number == 0:
        return part
    agent = _AGENT_FILE.match(part)
    if agent is not None:
        return part.replace(agent["id"], _renamed_text(agent["id"], number))
    return _UUID.sub(lambda found: f"{int(found[0], 16) ^ number:08x}", part)
