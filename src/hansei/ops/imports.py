"""Taking in logs that people name: which format each is in, and what it tells.

The files go the way of every transcript: read, cleaned, appended, summed up. What is special is
only that they are named, not found, and that a file nobody can read is an error the person sees.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hansei.errors import PluginError, SourceError, UsageError
from hansei.events.keys import digest
from hansei.events.model import RequestUsage
from hansei.events.usage import total
from hansei.ops.ingest import ingest
from hansei.ops.survey import Survey, glance
from hansei.sources import catalogue
from hansei.sources.contract import Transcript
from hansei.sources.families import folders
from hansei.sources.log_files import Form, LogFile, open_log, taken_apart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from hansei.config import Config
    from hansei.ops.ingest import IngestReport, Progress
    from hansei.sources.contract import Reading
    from hansei.sources.log_format import LogFormat
    from hansei.store.database import Store

SUFFIXES = (".json", ".jsonl", ".ndjson", ".traj", ".md", ".history")
"""Files of a folder that may be logs; a file that is named itself may be called anything."""
SKIPPED = frozenset((".git", "node_modules", ".venv", "__pycache__"))
PIPED = "imported"
"""Where standard input is kept below the store, so that it can be read again."""
KEYS_SHOWN = 6


@dataclass(frozen=True)
class Named:
    """A log and its format."""

    path: str
    format: str


@dataclass(frozen=True)
class Unread:
    """A file that was not taken in, and why."""

    path: str
    reason: str


@dataclass
class Imported:
    """What an import did."""

    logs: list[Named] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    read: int = 0
    events: int = 0
    changed: int = 0
    skipped: int = 0
    """Records that could not be read."""
    sessions: dict[str, int] = field(default_factory=dict)
    """Sessions there are now of each of these formats."""
    nowhere: int = 0
    """Those of them that do not say in which folder they ran."""


class Fault(NamedTuple):
    """A record of a log that is not as its format has it."""

    path: str
    line: int
    reason: str


@dataclass
class Checked:
    """What logs tell, without anything being stored."""

    logs: list[Named] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    sessions: int = 0
    events: dict[str, int] = field(default_factory=dict)
    """How many of each kind."""
    tokens: int | None = None
    """Of all requests; None where none is told."""
    unrecognised: dict[str, int] = field(default_factory=dict)

    @property
    def fine(self) -> bool:
        return not self.faults and not self.unread


def import_logs(
    store: Store,
    config: Config,
    named: Sequence[Path],
    *,
    wanted: str | None = None,
    folder: Path | None = None,
    now: int,
    progress: Callable[[Progress], None] | None = None,
) -> Imported:
    """Take in the logs of these files and folders.

    `folder` is where the sessions ran, for logs that do not say it.
    """
    done = Imported()
    for log, it in recognised_logs(named, wanted, done.unread):
        done.logs.append(Named(str(log.path), it.name))
    ran_in = str(folder) if folder else ""
    transcripts = [Transcript(it.format, Path(it.path).absolute(), ran_in) for it in done.logs]
    look: Callable[[Store, Config], Survey] = partial(_look, transcripts)
    report = ingest(store, config, now=now, progress=progress, look=look)
    _note(done, report)
    formats = sorted({it.agent for it in transcripts})
    rows = _sessions(store, formats)
    done.sessions = {agent: count for agent, count, _ in rows}
    done.nowhere = sum(nowhere for _, _, nowhere in rows)
    return done


def _look(transcripts: list[Transcript], store: Store, config: Config) -> Survey:
    del config
    return glance(store, transcripts)


def _note(done: Imported, report: IngestReport) -> None:
    done.read, done.events, done.changed = report.read, report.events, report.changed
    done.skipped = report.skipped
    ours = {str(Path(log.path).absolute()) for log in done.logs}
    done.unread += [Unread(path, reason) for path, reason in report.unreadable if path in ours]


def _sessions(store: Store, formats: list[str]) -> list[tuple[str, int, int]]:
    marks = ", ".join("?" * len(formats))
    return store.db.execute(
        f"SELECT agent, count(*), sum(cwd IS NULL) FROM sessions WHERE agent IN ({marks})"
        " GROUP BY 1 ORDER BY 1",
        formats,
    ).fetchall()


def check_logs(named: Sequence[Path | LogFile], *, wanted: str | None = None) -> Checked:
    """What these logs tell and what is wrong in them; nothing is stored."""
    done = Checked()
    sessions: set[tuple[str, str]] = set()
    for log, it in recognised_logs(named, wanted, done.unread):
        done.logs.append(Named(str(log.path), it.name))
        if log.form in (Form.BROKEN, Form.EMPTY):
            done.unread.append(Unread(str(log.path), f"it holds {log.form}"))
            continue
        reading = it.told(log)
        _add(done, log, reading)
        sessions |= {(it.name, session) for session in reading.sessions}
    done.sessions = len(sessions)
    return done


def _add(done: Checked, log: LogFile, reading: Reading) -> None:
    done.faults += [Fault(str(log.path), it.line, it.reason) for it in reading.problems]
    for event in reading.events:
        kind = str(event.__struct_config__.tag)
        done.events[kind] = done.events.get(kind, 0) + 1
        if kind == "unrecognised":
            name = getattr(event, "name", "")
            done.unrecognised[name] = done.unrecognised.get(name, 0) + 1
        if isinstance(event, RequestUsage):
            done.tokens = (done.tokens or 0) + total(event)


# --- which format ---------------------------------------------------------------------------------


def recognised_logs(
    named: Sequence[Path | LogFile], wanted: str | None, unread: list[Unread]
) -> Iterator[tuple[LogFile, LogFormat]]:
    """Each log with its format, one at a time; files of folders that are in none go to `unread`.

    A file that is named itself and cannot be read is an error; one in a folder is only listed.
    """
    asked = _asked(wanted)
    found = False
    for place in named:
        for file in [place] if isinstance(place, LogFile) else _files(place):
            try:
                log = file if isinstance(file, LogFile) else open_log(file)
                chosen = asked or recognised(log)
            except SourceError as problem:
                if isinstance(place, LogFile) or not place.is_dir():
                    raise
                unread.append(Unread(str(file), problem.message.removeprefix(f"{file} ")))
                continue
            found = True
            yield log, chosen
    if unread and not found:
        raise SourceError(
            f"no file in {_listed(named)} is a log hansei knows ({len(unread):,} looked at)",
            hint=tried(),
        )


def _asked(wanted: str | None) -> LogFormat | None:
    if wanted is None:
        return None
    if wanted not in catalogue.formats():
        known = ", ".join(catalogue.formats())
        raise UsageError(f"there is no format {wanted!r}", hint=f"Formats: {known}.")
    return catalogue.load_format(wanted)


def _files(path: Path) -> Iterable[Path]:
    if path.is_dir():
        found = [seen.path for seen in folders.files([path], SUFFIXES, SKIPPED)]
        if not found:
            suffixes = ", ".join(SUFFIXES)
            raise UsageError(
                f"{path} holds no file that may be a log",
                hint=f"In a folder, files with these endings are looked at: {suffixes}.",
            )
        return sorted(found)
    return [path]


def recognised(log: LogFile) -> LogFormat:
    """The one format a log is in; raises SourceError with what was tried."""
    if log.form is Form.EMPTY:
        raise SourceError(f"{log.path} holds nothing", hint="Nothing was taken in.")
    found = [it for it in _formats() if log.records or log.text if it.recognises(log)]
    if len(found) == 1:
        return found[0]
    if found:
        names = " and ".join(it.name for it in found)
        raise SourceError(f"{log.path} may be {names}", hint="Say which one with --format NAME.")
    raise SourceError(f"{log.path} {_instead(log)}, in no format hansei knows", hint=tried())


def _formats() -> list[LogFormat]:
    """Every format that loads; a stranger's that does not must not stop the others."""
    found = []
    for name in catalogue.formats():
        try:
            found.append(catalogue.load_format(name))
        except PluginError:
            continue
    return found


def _instead(log: LogFile) -> str:
    if not log.records:
        return f"holds {log.form}"
    keys = [key for key in log.first[0] if key.isidentifier()][:KEYS_SHOWN]
    first = "with" if log.form is Form.OBJECT else "the first with"
    return f"holds {log.form}, {first} {', '.join(keys)}" if keys else f"holds {log.form}"


def tried() -> str:
    """What each format looks for."""
    lines = [f"  {it.name}: {it.looks_like}" for it in _formats()]
    return "\n".join(
        [
            "These were tried; each needs:",
            *lines,
            "Name one with --format, or write hansei's own (docs/formats/hansei.md).",
            "Agents' own transcripts are found by `hansei ingest`; config.toml adds folders.",
        ]
    )


def _listed(named: Sequence[Path | LogFile]) -> str:
    return ", ".join(str(it.path if isinstance(it, LogFile) else it) for it in named)


# --- standard input -------------------------------------------------------------------------------


def piped(data: bytes) -> LogFile:
    """Standard input as a log that lies nowhere."""
    return taken_apart(Path("standard input"), data)


def keep_piped(config: Config, data: bytes) -> Path:
    """Standard input as a file in the store's folder, by its content: the same comes once."""
    folder = config.store / PIPED
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"stdin-{digest(data)}.log"
    if not path.exists():
        partly = path.with_suffix(".part")
        partly.touch(mode=0o600)
        partly.write_bytes(data)
        partly.replace(path)
    return path
