"""Sessions as rows, put together bit by bit from what transcripts say and hooks saw.

The two are kept apart until a row is written, so that it does not matter which of them came first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from hansei.events.model import CommitBasis
from hansei.store.workspaces import workspace_of

if TYPE_CHECKING:
    import sqlite3

    from hansei.events.model import SessionFacts
    from hansei.store.rows import Row

_FIRST_STAYS = ("parent", "relation", "spawned_by", "cwd", "commit", "entrypoint", "role")
_LAST_STAYS = ("branch", "version", "title")
_TOLD = (*_FIRST_STAYS, *_LAST_STAYS, "opening", "transcript", "driver", "driver_recorded")
_BOTH = ("cwd", "branch", "commit", "version", "parent", "relation", "role", "driver")
"""What a transcript says and a hook sees."""
_FACTS = (*_TOLD, "commit_basis", "dirty", "seen")
_COLUMNS = ", ".join(f'"{name}"' for name in (*_FACTS, "started_at", "ended_at", "next_seq"))


@dataclass
class OpenSession:
    """A session while rows are being added to it."""

    id: int
    next_seq: int = 1
    started_at: int | None = None
    ended_at: int | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    """What transcripts say."""
    seen: dict[str, tuple[int, Any]] = field(default_factory=dict)
    """What hooks saw: of each fact the earliest value, and when that was."""

    @property
    def transcript(self) -> int | None:
        """The number of the transcript that first told of it."""
        number: int | None = self.facts.get("transcript")
        return number

    @transcript.setter
    def transcript(self, number: int) -> None:
        self.facts["transcript"] = number

    def learn(self, facts: SessionFacts) -> None:
        """Take in what a reading says; see `SessionFacts` for which value stays."""
        if facts.seen_at is not None:
            self._see(facts, facts.seen_at)
            return
        for name in _FIRST_STAYS:
            if self.facts.get(name) is None:
                self.facts[name] = getattr(facts, name)
        for name in _LAST_STAYS:
            self.facts[name] = getattr(facts, name) or self.facts.get(name)
        if facts.driver and (facts.driver_recorded or not self.facts.get("driver")):
            self.facts["driver"] = facts.driver.value
            self.facts["driver_recorded"] = int(facts.driver_recorded)

    def _see(self, facts: SessionFacts, at: int) -> None:
        for name in (*_BOTH, "dirty"):
            value = getattr(facts, name)
            if value is not None:
                new = (at, value if isinstance(value, bool) else str(value))
                self.seen[name] = min(self.seen.get(name, new), new)

    def columns(self) -> tuple[Any, ...]:
        """The row: what transcripts say, else what hooks saw; of the commit the reverse."""
        row = {name: self.facts.get(name) for name in _TOLD}
        row["driver_recorded"] = row["driver_recorded"] or 0
        row["commit_basis"] = None if row["commit"] is None else CommitBasis.AGENT.value
        if self.seen:
            told = {name: row[name] for name in _BOTH if row[name] is not None}
            kept = {"told": told, "seen": self.seen, "driver_recorded": row["driver_recorded"]}
            row["seen"] = msgspec.json.encode(kept, order="deterministic").decode()
            self._add_seen(row)
        return tuple(row.get(name) for name in _FACTS)

    def _add_seen(self, row: dict[str, Any]) -> None:
        for name, (_, value) in self.seen.items():
            if name == "commit":
                row["commit"], row["commit_basis"] = value, CommitBasis.HOOK.value
            elif row.get(name) is None:
                row[name] = value
                row["driver_recorded"] = 1 if name == "driver" else row["driver_recorded"]

    def stretch(self, at: int | None) -> None:
        """Have the session's time include a moment."""
        if at is not None:
            if self.started_at is None or at < self.started_at:
                self.started_at = at
            if self.ended_at is None or at > self.ended_at:
                self.ended_at = at

    def number(self, row: Row) -> int:
        """The number of the next event, which also stretches the session's time."""
        self.stretch(row.at)
        if row.opening and not self.facts.get("opening"):
            self.facts["opening"] = row.opening
        taken = self.next_seq
        self.next_seq += 1
        return taken


class OpenSessions:
    """The sessions of one transaction, by agent and native id."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._open: dict[tuple[str, str], OpenSession] = {}
        self._workspaces: dict[str | None, int] = {}

    def get(self, agent: str, native: str) -> OpenSession:
        session = self._open.get((agent, native))
        if session is None:
            session = self._open[agent, native] = self._load(agent, native)
        return session

    def folder(self, agent: str, native: str) -> str | None:
        """The folder of a session we may have met before."""
        row = self._db.execute(
            "SELECT cwd FROM sessions WHERE agent = ? AND native = ?", (agent, native)
        ).fetchone()
        return row[0] if row else None

    def _load(self, agent: str, native: str) -> OpenSession:
        row = self._db.execute(
            f"SELECT id, {_COLUMNS} FROM sessions WHERE agent = ? AND native = ?",
            (agent, native),
        ).fetchone()
        if row is None:
            made = self._db.execute(
                "INSERT INTO sessions (agent, native, workspace) VALUES (?, ?, ?)",
                (agent, native, self._workspace_of(None)),
            )
            assert made.lastrowid is not None
            return OpenSession(made.lastrowid)
        number, *facts, started, ended, next_seq = row
        return _opened(number, dict(zip(_FACTS, facts, strict=True)), started, ended, next_seq)

    def save(self) -> None:
        """Write every session back."""
        assignments = ", ".join(f'"{name}" = ?' for name in _FACTS)
        for (agent, _), session in self._open.items():
            columns = session.columns()
            self._db.execute(
                f"UPDATE sessions SET {assignments}, workspace = ?, started_at = ?, ended_at = ?,"
                " next_seq = ? WHERE id = ?",
                (
                    *columns,
                    self._workspace(agent, dict(zip(_FACTS, columns, strict=True))),
                    session.started_at,
                    session.ended_at,
                    session.next_seq,
                    session.id,
                ),
            )

    def _workspace(self, agent: str, facts: dict[str, Any]) -> int:
        """By its own folder, else by its parent's."""
        cwd, parent = facts["cwd"], facts["parent"]
        if cwd is None and parent is not None:
            cwd = self.folder(agent, parent)
        return self._workspace_of(cwd)

    def _workspace_of(self, folder: str | None) -> int:
        if folder not in self._workspaces:
            self._workspaces[folder] = workspace_of(self._db, folder)
        return self._workspaces[folder]


def _opened(
    number: int, row: dict[str, Any], started: int | None, ended: int | None, next_seq: int
) -> OpenSession:
    """A stored session, with what transcripts said and what hooks saw apart again."""
    facts = {name: row[name] for name in _TOLD}
    seen: dict[str, tuple[int, Any]] = {}
    if row["seen"]:
        kept = msgspec.json.decode(row["seen"])
        facts |= {name: kept["told"].get(name) for name in _BOTH}
        facts["driver_recorded"] = kept["driver_recorded"]
        seen = {name: (at, value) for name, (at, value) in kept["seen"].items()}
    return OpenSession(number, next_seq, started, ended, facts, seen)
