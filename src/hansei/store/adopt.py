"""Reading sealed files back into a database that has lost them.

Every sealed file describes its own sessions, so the log can be put together again from the files
alone: sessions, keys, requests and tallies. What was still hot is read again from the transcripts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from hansei.errors import StoreDamaged
from hansei.events.model import RequestUsage
from hansei.git.repository import Identity
from hansei.store import cold, usage, workspaces
from hansei.store.log import tally_detail
from hansei.store.rows import content_of, from_row

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from hansei.store.cold import StoredRow
    from hansei.store.database import Store


def adopt_all(store: Store, *, now: int) -> tuple[int, int]:
    """List every readable sealed file again; returns how many files and events."""
    paths = sorted(store.cold.glob("*/*.parquet"), key=lambda path: (path.stat().st_mtime, path))
    accepted: list[Path] = []
    sessions: dict[int, dict[str, Any]] = {}
    for path in reversed(paths):  # the newest file is right where two disagree
        described = _describe(path)
        if described is not None and _agree(sessions, described):
            accepted.append(path)
            for number, facts in described.items():
                known = sessions.setdefault(number, facts)
                known["next_seq"] = max(known["next_seq"], facts["next_seq"])
    events = 0
    with store.transaction() as db:
        for number, facts in sorted(sessions.items()):
            _add_session(db, number, facts)
        for path in reversed(accepted):
            events += _adopt(store, path, now=now)
        db.execute("INSERT OR IGNORE INTO stale SELECT id FROM sessions")
    return len(accepted), events


def _describe(path: Path) -> dict[int, dict[str, Any]] | None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_schema(path).metadata or {}
        described: dict[str, dict[str, Any]] = msgspec.json.decode(metadata[cold.SESSIONS])
    except (OSError, pa.ArrowException, KeyError, msgspec.DecodeError):
        return None
    return {int(number): facts for number, facts in described.items()}


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


def _adopt(store: Store, path: Path, *, now: int) -> int:
    try:
        rows = cold.read_file(path)
    except StoreDamaged:
        return 0
    cold.register(store.db, cold.describe_file(store, path, rows), now=now)
    requests = []
    for row in rows:
        _remember(store.db, row)
        if row[4] == "request_usage":
            event = from_row("", row)
            assert isinstance(event, RequestUsage)
            requests.append((row[0], event))
    usage.save(store.db, requests)
    return len(rows)


def _remember(db: sqlite3.Connection, row: StoredRow) -> None:
    """Note where an event is; a later file replaces what an earlier one said of it."""
    session, seq, key, _, kind, *columns = row
    new = db.execute("SELECT 1 FROM keys WHERE key = ?", (key,)).fetchone() is None
    db.execute(
        "INSERT OR REPLACE INTO keys VALUES (?, ?, ?, ?)", (key, session, seq, content_of(columns))
    )
    db.execute("UPDATE sessions SET next_seq = max(next_seq, ?) WHERE id = ?", (seq + 1, session))
    if new:
        db.execute(
            "INSERT INTO tallies VALUES (?, ?, ?, 1) ON CONFLICT DO UPDATE SET n = n + 1",
            (session, kind, tally_detail(kind, columns)),
        )
