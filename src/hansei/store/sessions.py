"""Sessions as rows, put together from what their transcripts say bit by bit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hansei.store.workspaces import workspace_of

if TYPE_CHECKING:
    import sqlite3

    from hansei.events.model import SessionFacts
    from hansei.store.rows import Row

_FIRST_STAYS = ("parent", "relation", "spawned_by", "cwd", "commit", "entrypoint", "role")
_LAST_STAYS = ("branch", "version", "title")
_FACTS = (*_FIRST_STAYS, *_LAST_STAYS, "opening", "transcript", "driver", "driver_recorded")
_COLUMNS = ", ".join(f'"{name}"' for name in (*_FACTS, "started_at", "ended_at", "next_seq"))


@dataclass
class OpenSession:
    """A session while rows are being added to it."""

    id: int
    next_seq: int = 1
    started_at: int | None = None
    ended_at: int | None = None
    facts: dict[str, Any] = field(default_factory=dict)

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
        for name in _FIRST_STAYS:
            if self.facts.get(name) is None:
                self.facts[name] = getattr(facts, name)
        for name in _LAST_STAYS:
            self.facts[name] = getattr(facts, name) or self.facts.get(name)
        if facts.driver and (facts.driver_recorded or not self.facts.get("driver")):
            self.facts["driver"] = facts.driver.value
            self.facts["driver_recorded"] = int(facts.driver_recorded)

    def number(self, row: Row) -> int:
        """The number of the next event, which also stretches the session's time."""
        at = row.at
        if at is not None:
            if self.started_at is None or at < self.started_at:
                self.started_at = at
            if self.ended_at is None or at > self.ended_at:
                self.ended_at = at
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
        return OpenSession(number, next_seq, started, ended, dict(zip(_FACTS, facts, strict=True)))

    def save(self) -> None:
        """Write every session back."""
        assignments = ", ".join(f'"{name}" = ?' for name in _FACTS)
        for (agent, _), session in self._open.items():
            facts = [session.facts.get(name) for name in _FACTS[:-1]]
            self._db.execute(
                f"UPDATE sessions SET {assignments}, workspace = ?, started_at = ?, ended_at = ?,"
                " next_seq = ? WHERE id = ?",
                (
                    *facts,
                    session.facts.get("driver_recorded") or 0,
                    self._workspace(agent, session),
                    session.started_at,
                    session.ended_at,
                    session.next_seq,
                    session.id,
                ),
            )

    def _workspace(self, agent: str, session: OpenSession) -> int:
        """By its own folder, else by its parent's."""
        cwd, parent = session.facts.get("cwd"), session.facts.get("parent")
        if cwd is None and parent is not None:
            cwd = self.folder(agent, parent)
        return self._workspace_of(cwd)

    def _workspace_of(self, folder: str | None) -> int:
        if folder not in self._workspaces:
            self._workspaces[folder] = workspace_of(self._db, folder)
        return self._workspaces[folder]
