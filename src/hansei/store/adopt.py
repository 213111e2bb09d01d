"""Reading sealed files back into a database that has lost them.

Every sealed file describes its own sessions, so the log can be put together again from the files
alone: sessions, keys, requests and tallies. What was still hot is read again from the transcripts.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import msgspec

from hansei.errors import StoreDamaged
from hansei.events.model import RequestUsage
from hansei.git.repository import Identity
from hansei.store import bets, cold, evidence, experiments, measurements, skips, usage, workspaces
from hansei.store.rows import content_of, counted_by, from_row

if TYPE_CHECKING:
    from pathlib import Path

    from hansei.store.cold import StoredRow
    from hansei.store.database import Store


_WEIGHED = ("request_usage", "observation", "prompt", "notice")
"""Kinds of which more is kept than their rows."""


class Adoptable(NamedTuple):
    """A sealed file that says what it holds."""

    number: int
    path: Path
    sessions: dict[int, dict[str, Any]]


def adopt_all(store: Store, *, now: int) -> tuple[int, int]:
    """List every readable sealed file again; returns how many files and events."""
    found = [_describe(path) for path in sorted(store.cold.glob("*/*.parquet"))]
    files = sorted((file for file in found if file is not None), key=lambda file: file.number)
    accepted: list[Adoptable] = []
    sessions: dict[int, dict[str, Any]] = {}
    numbers: set[int] = set()
    for file in reversed(files):  # the newest file is right where two disagree
        if file.number not in numbers and _agree(sessions, file.sessions):
            accepted.append(file)
            numbers.add(file.number)
            sessions |= {n: facts for n, facts in file.sessions.items() if n not in sessions}
    with store.transaction() as db:
        for number, facts in sorted(sessions.items()):
            _add_session(db, number, {**facts, "next_seq": 1, "transcript": None})
        events = sum(_adopt(store, file, now=now) for file in accepted)
        db.execute("INSERT OR IGNORE INTO stale SELECT id FROM sessions")
        db.execute("INSERT OR IGNORE INTO unexposed SELECT id FROM sessions")
    return len(accepted), events


def _describe(path: Path) -> Adoptable | None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_schema(path).metadata or {}
        described: dict[str, dict[str, Any]] = msgspec.json.decode(metadata[cold.SESSIONS])
        number = int(metadata[cold.NUMBER])
    except (OSError, pa.ArrowException, KeyError, ValueError, msgspec.DecodeError):
        return None
    return Adoptable(number, path, {int(name): facts for name, facts in described.items()})


def _agree(known: dict[int, dict[str, Any]], described: dict[int, dict[str, Any]]) -> bool:
    return all(
        number not in known or known[number]["native"] == facts["native"]
        for number, facts in described.items()
    )


def _add_session(db: sqlite3.Connection, number: int, facts: dict[str, Any]) -> None:
    identity = Identity(
        id=facts["identity"],
        name=facts["workspace_name"],
        basis=facts["basis"],
        folder=facts.get("folder"),
        remote=facts.get("remote"),
    )
    columns = [row[1] for row in db.execute("PRAGMA table_info(sessions)")]
    values = {**facts, "id": number, "workspace": workspaces.number_of(db, identity)}
    if identity.folder is not None and facts.get("cwd"):
        workspaces.remember(db, {facts["cwd"]: identity})
    names = [name for name in columns if name in values]
    listed = ", ".join(f'"{name}"' for name in names)
    marks = ", ".join("?" * len(names))
    db.execute(
        f"INSERT OR IGNORE INTO sessions ({listed}) VALUES ({marks})",
        [values[name] for name in names],
    )


def _adopt(store: Store, file: Adoptable, *, now: int) -> int:
    """Take in one file. Files come newest first, so what is known already is newer."""
    try:
        table = cold.read_table(file.path)
    except StoreDamaged:
        return 0
    cold.register(
        store.db, cold.describe_file(store.folder, file.path, table, file.number), now=now
    )
    new = [row for row in cold.rows_of(table) if _remember(store.db, row)]
    requests = []
    told = []
    for row in new:
        if row[4] in _WEIGHED:
            event = from_row("", row)
            if isinstance(event, RequestUsage):
                requests.append((row[0], event))
            elif weighed := evidence.evidence_of(event):
                told.append((evidence.Said(row[2], row[0], row[3]), weighed))
    evidence.save(store.db, told)
    usage.save(store.db, requests)
    return len(new)


def _remember(db: sqlite3.Connection, row: StoredRow) -> bool:
    """Note where an event is; False if a newer file told it."""
    session, seq, key, at, kind, *columns = row
    made = db.execute(
        "INSERT OR IGNORE INTO keys VALUES (?, ?, ?, ?)",
        (key, session, seq, content_of(kind, at, columns)),
    )
    if made.rowcount:
        db.execute(
            "UPDATE sessions SET next_seq = max(next_seq, ?) WHERE id = ?", (seq + 1, session)
        )
        db.execute(
            "INSERT INTO tallies VALUES (?, ?, ?, 1) ON CONFLICT DO UPDATE SET n = n + 1",
            (session, kind, counted_by(kind, columns)),
        )
    return bool(made.rowcount)


def salvage(store: Store, damaged: Path) -> bool:
    """Copy what a person decided or imported from a damaged database; False if it is unreadable."""
    try:
        old = sqlite3.connect(f"{damaged.absolute().as_uri()}?mode=ro", uri=True)
    except sqlite3.Error:
        return False
    try:
        forgotten = old.execute("SELECT agent, native, until FROM forgotten").fetchall()
        only = old.execute(
            "SELECT w.identity, w.name, w.basis, w.folder, w.remote FROM workspaces w"
            " JOIN meta m ON m.name = 'only_workspace' AND w.id = CAST(m.value AS INTEGER)"
        ).fetchone()
        reviews = _imported_reviews(old)
        journal = _journal(old)
        decided = [(_identity(old, number), bet) for number, bet in bets.salvage(old)]
        waiting = [(_identity(old, number), it) for number, it in measurements.salvage(old)]
        tried = [(_identity(old, it[0].workspace), *it) for it in experiments.salvage(old)]
        unwanted = [(_identity(old, number), it) for number, it in skips.salvage(old)]
    except sqlite3.Error:
        return False
    finally:
        old.close()
    with store.transaction() as db:
        db.executemany("INSERT OR IGNORE INTO forgotten VALUES (?, ?, ?)", forgotten)
        if only is not None:
            store.set_meta("only_workspace", str(workspaces.number_of(db, Identity(*only))))
        for identity, names, values in reviews:
            row = (workspaces.number_of(db, identity), *values)
            db.execute(
                f"INSERT OR IGNORE INTO reviews (workspace, {names})"
                f" VALUES ({', '.join('?' * len(row))})",
                row,
            )
        _keep_journal(db, journal)
        for identity, bet in decided:
            bets.keep(db, bet._replace(workspace=workspaces.number_of(db, identity)))
        for identity, it in waiting:
            measurements.keep(db, it._replace(workspace=workspaces.number_of(db, identity)))
        for identity, row, members in tried:
            experiments.keep(db, row._replace(workspace=workspaces.number_of(db, identity)))
            experiments.put(db, members)
        for identity, skip in unwanted:
            skips.keep(db, skip._replace(workspace=workspaces.number_of(db, identity)))
    return True


def _identity(old: sqlite3.Connection, workspace: int) -> Identity:
    query = "SELECT identity, name, basis, folder, remote FROM workspaces WHERE id = ?"
    return Identity(*old.execute(query, (workspace,)).fetchone())


def _imported_reviews(old: sqlite3.Connection) -> list[tuple[Identity, str, tuple[Any, ...]]]:
    """Each with the workspace it belongs to; none where the database is older than they are."""
    columns = [row[1] for row in old.execute("PRAGMA table_info(reviews)")]
    names = ", ".join(name for name in columns if name != "workspace")
    if not names:
        return []
    listed = ", ".join(f"r.{name}" for name in names.split(", "))
    rows = old.execute(
        f"SELECT w.identity, w.name, w.basis, w.folder, w.remote, {listed}"
        " FROM reviews r JOIN workspaces w ON w.id = r.workspace"
    )
    return [(Identity(*row[:5]), names, row[5:]) for row in rows.fetchall()]


_Journal: TypeAlias = tuple[list[tuple[Identity, dict[str, Any]]], list[dict[str, Any]]]
"""Entries with their workspaces, and the files of all."""


def _journal(old: sqlite3.Connection) -> _Journal:
    """What we wrote into instruction files; nothing where the database is older than that."""
    if not old.execute("PRAGMA table_info(journal)").fetchall():
        return [], []
    heads = old.execute(
        "SELECT w.identity, w.name, w.basis, w.folder, w.remote, j.*"
        " FROM journal j JOIN workspaces w ON w.id = j.workspace"
    )
    names = [column[0] for column in heads.description[5:]]
    entries = [(Identity(*row[:5]), dict(zip(names, row[5:], strict=True))) for row in heads]
    files = old.execute("SELECT * FROM journal_files")
    columns = [column[0] for column in files.description]
    return entries, [dict(zip(columns, row, strict=True)) for row in files]


def _keep_journal(db: sqlite3.Connection, journal: _Journal) -> None:
    entries, files = journal
    for identity, entry in entries:
        _insert(db, "journal", entry | {"workspace": workspaces.number_of(db, identity)})
    for file in files:
        _insert(db, "journal_files", file)


def _insert(db: sqlite3.Connection, table: str, row: dict[str, Any]) -> None:
    names = ", ".join(f'"{name}"' for name in row)
    marks = ", ".join("?" * len(row))
    db.execute(f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})", [*row.values()])
