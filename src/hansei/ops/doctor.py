"""What was found where, what could not be read, and the state of the store itself."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.config import DAY_MS
from hansei.git.repository import NO_GIT, git_is_there
from hansei.ops.hook_health import hook_health
from hansei.ops.skill_places import edited
from hansei.ops.skills import books
from hansei.ops.spool_health import Skipped, SpoolHealth, skipped, spool_health, waiting
from hansei.sources import catalogue
from hansei.store import journal
from hansei.store.removal import fact_tables
from hansei.store.transcripts import agents as read_agents

if TYPE_CHECKING:
    from pathlib import Path

    from hansei.config import Config
    from hansei.ops.hook_health import Hooks
    from hansei.sources.contract import Source, Transcript
    from hansei.store.database import Store

WEEK_DAYS = 7


@dataclass(frozen=True)
class Folder:
    """A place an agent may have written to."""

    path: str
    exists: bool
    readable: bool


@dataclass(frozen=True)
class Expiry:
    """What the agent itself will delete, and when."""

    after_days: int
    oldest_days: int
    at_risk_within_week: int
    """Transcripts the agent deletes within seven days. What we have read of them stays."""


@dataclass(frozen=True)
class AgentHealth:
    """One agent's transcripts."""

    agent: str
    title: str
    folders: list[Folder]
    transcripts: int
    missing: int
    """Read earlier and deleted since by the agent or a person; their events are kept."""
    rewritten: int
    waiting: list[str]
    """Transcripts whose last line has no end yet: it is read once it has one."""
    bytes: int
    records: int
    sessions: int
    events: int
    skipped: list[Skipped]
    unreadable: dict[str, str]
    unrecognised: dict[str, int]
    versions: dict[str, int]
    tokens: str
    """Whether this agent's transcripts tell tokens."""
    expiry: Expiry | None


@dataclass(frozen=True)
class StoreHealth:
    folder: str
    database_bytes: int
    hot_events: int
    sealed_events: int
    sealed_files: int
    sealed_bytes: int
    sealed_missing: list[str]
    """Listed files that are not on disk."""
    damage: str | None


@dataclass(frozen=True)
class FactsHealth:
    """How far the facts follow the log."""

    due: int
    """Sessions that changed since their facts were worked out."""
    failed: dict[str, str]
    """Sessions whose facts could not be worked out, which is a fault of hansei, and where it is."""


@dataclass(frozen=True)
class SkillsHealth:
    """The books that were ever changed on this machine, and the files we put for agents."""

    books: int
    skills: int
    broken: list[str]
    """Files that cannot be read, each with its line and why."""
    tampered: list[str]
    """Skills that are not used because their file is not what a person let it be."""
    edited: list[str]
    """Files that we put where agents read skills, and that somebody changed there since."""


@dataclass(frozen=True)
class Health:
    agents: list[AgentHealth]
    hooks: Hooks
    spool: SpoolHealth
    store: StoreHealth
    facts: FactsHealth
    skills: SkillsHealth
    warnings: list[str]


def doctor(store: Store, config: Config, *, now: int) -> Health:
    """Examine every source and the store."""
    sources, warnings = catalogue.load_all()
    told = [*sources, *catalogue.load_formats(read_agents(store))]
    return Health(
        agents=[_agent(store, config, source, now) for source in told],
        hooks=hook_health(store, config),
        spool=spool_health(store, config),
        store=_store(store),
        facts=_facts(store),
        skills=_skills(store, config),
        warnings=[*warnings, *_cut_short(store), *_no_git()],
    )


def _skills(store: Store, config: Config) -> SkillsHealth:
    shelf = books(config)
    found = [it for book in shelf for it in book.skills()]
    tampered = [
        f"{book.file(name)}: {it.message}"
        for book in shelf
        for name, it in sorted(book.tampered().items())
    ]
    broken = [str(it) for book in shelf for it in book.problems()]
    return SkillsHealth(len(shelf), len(found), broken, tampered, edited(store))


def _cut_short(store: Store) -> list[str]:
    return [
        f"a change of {_listed([file.path for file in entry.files])} in {entry.repository} was cut"
        " short; the next change of instruction files settles it"
        for entry in journal.unfinished(store.db)
    ]


def _no_git() -> list[str]:
    told = "sessions cannot be told apart by repository, and nothing is known of commits"
    return [] if git_is_there() else [f"{NO_GIT}: {told}"]


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _facts(store: Store) -> FactsHealth:
    (due,) = store.db.execute("SELECT count(*) FROM unprojected").fetchone()
    failed = {}
    if "fact_problems" in fact_tables(store.db):
        rows = store.db.execute(
            "SELECT s.native, p.kind, p.place FROM fact_problems p"
            " JOIN sessions s ON s.id = p.session ORDER BY s.native"
        )
        failed = {native: f"{kind} in {place}" for native, kind, place in rows}
    return FactsHealth(due, failed)


def _agent(store: Store, config: Config, source: Source, now: int) -> AgentHealth:
    db, name = store.db, (source.name,)
    counts = db.execute(
        "SELECT count(*), coalesce(sum(missing_since IS NOT NULL), 0),"
        " coalesce(sum(restarts), 0), coalesce(sum(bytes), 0), coalesce(sum(records), 0)"
        " FROM transcripts WHERE agent = ?",
        name,
    ).fetchone()
    sessions, events = db.execute(
        "SELECT count(*), coalesce(sum(next_seq - 1), 0) FROM sessions WHERE agent = ?", name
    ).fetchone()
    unreadable = db.execute(
        "SELECT path, unreadable FROM transcripts WHERE agent = ? AND unreadable IS NOT NULL"
        " ORDER BY path",
        name,
    )
    unrecognised = db.execute(
        "SELECT t.detail, sum(t.n) FROM tallies t JOIN sessions s ON s.id = t.session"
        " WHERE s.agent = ? AND t.kind = 'unrecognised' GROUP BY 1 ORDER BY 2 DESC, 1",
        name,
    )
    versions = db.execute(
        "SELECT coalesce(version, 'not recorded'), count(*) FROM sessions WHERE agent = ?"
        " GROUP BY 1",
        name,
    )
    extra = config.settings.sources.get(source.name, [])
    roots = source.roots(config.environment, extra)
    transcripts, missing, rewritten, size, records = counts
    return AgentHealth(
        agent=source.name,
        title=source.title,
        folders=[_folder(path) for path in roots],
        transcripts=transcripts,
        missing=missing,
        rewritten=rewritten,
        waiting=waiting(store, source.name),
        bytes=size,
        records=records,
        sessions=sessions,
        events=events,
        skipped=skipped(store, source.name),
        unreadable=dict(unreadable.fetchall()),
        unrecognised=dict(unrecognised.fetchall()),
        versions=dict(sorted(versions.fetchall(), key=_version_order)),
        tokens="measured" if _tells_tokens(store, source) else "unknown",
        expiry=expiry(config, source, now),
    )


def _tells_tokens(store: Store, source: Source) -> bool:
    """Whether an agent tells tokens, and one of its sessions here did."""
    told = store.db.execute(
        "SELECT 1 FROM requests r JOIN sessions s ON s.id = r.session"
        " WHERE s.agent = ? AND coalesce(r.input, r.output) IS NOT NULL LIMIT 1",
        (source.name,),
    ).fetchone()
    return source.capabilities.tokens and told is not None


def _folder(path: Path) -> Folder:
    try:
        with os.scandir(path):
            return Folder(str(path), exists=True, readable=True)
    except (FileNotFoundError, NotADirectoryError):
        return Folder(str(path), exists=False, readable=False)
    except OSError:
        return Folder(str(path), exists=True, readable=False)


def _version_order(item: tuple[str, int]) -> tuple[list[int], str]:
    return [int(part) for part in item[0].split(".") if part.isdigit()], item[0]


def expiry(config: Config, source: Source, now: int) -> Expiry | None:
    """What this agent is about to delete; None if it deletes nothing or left nothing."""
    days = source.deletes_after_days(config.environment)
    if days is None:
        return None
    extra = config.settings.sources.get(source.name, [])
    found = source.discover(config.environment, extra)
    ages = [(now - at) // DAY_MS for at in map(_modified, found) if at is not None]
    if not ages:
        return None
    soon = sum(1 for age in ages if age >= days - WEEK_DAYS)
    return Expiry(after_days=days, oldest_days=max(0, *ages), at_risk_within_week=soon)


def _modified(transcript: Transcript) -> int | None:
    try:
        return int(transcript.path.stat().st_mtime * 1000)
    except OSError:
        return None


def _store(store: Store) -> StoreHealth:
    db = store.db
    (hot,) = db.execute("SELECT count(*) FROM events").fetchone()
    files, rows, size = db.execute(
        "SELECT count(*), coalesce(sum(rows), 0), coalesce(sum(bytes), 0) FROM sealed"
    ).fetchone()
    (verdict,) = db.execute("PRAGMA quick_check(1)").fetchone()
    database = store.folder / "hansei.db"
    lost = [
        path
        for (path,) in db.execute("SELECT path FROM sealed ORDER BY path")
        if not (store.folder / path).is_file()
    ]
    return StoreHealth(
        folder=str(store.folder),
        database_bytes=database.stat().st_size,
        hot_events=hot,
        sealed_events=rows,
        sealed_files=files,
        sealed_bytes=size,
        sealed_missing=lost,
        damage=None if verdict == "ok" else verdict,
    )
