"""The append side of the log: what was read goes in once, whatever is read twice.

`commit` writes pieces in one transaction: rows, keys, sessions, cursors and the manifest of what
went straight to Parquet. A crash before it leaves nothing behind but a file that no manifest lists,
and the transcripts are read again from their old cursors.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from hansei.events.model import Observation, RequestUsage
from hansei.events.observations import earlier
from hansei.events.usage import merge, numbers, total
from hansei.store import cold, evidence, reading, transcripts, usage, workspaces
from hansei.store.bodies import HEADS, Bodies, Picked
from hansei.store.rows import COLUMNS, counted_by, from_row, json_list, merged_row
from hansei.store.sessions import OpenSessions

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from hansei.events.model import SessionFacts
    from hansei.store.bodies import Head
    from hansei.store.database import Store
    from hansei.store.evidence import Evidence, Said
    from hansei.store.rows import Row
    from hansei.store.sessions import OpenSession
    from hansei.store.transcripts import Piece

HISTORY = "history:"
"""Begins the id of a session known only from an agent's list of prompts; the rest is its own id."""

_PLACES = ", ".join("?" * len(COLUMNS))


@dataclass
class Appended:
    """What a commit changed."""

    events: int = 0
    changed: int = 0
    replayed: int = 0
    skipped: int = 0

    def add(self, other: Appended) -> None:
        self.events += other.events
        self.changed += other.changed
        self.replayed += other.replayed
        self.skipped += other.skipped


class Known(NamedTuple):
    """Where an event already is, and the checksum of what was stored."""

    session: int
    seq: int
    content: int


def commit(store: Store, pieces: Sequence[Piece], *, now: int, seal_before: int) -> Appended:
    """Write what the pieces bring; events older than `seal_before` go straight to Parquet."""
    every = [part for piece in pieces for part in (piece, *piece.others)]
    folders = {facts.cwd for piece in every for facts in piece.sessions if facts.cwd}
    identities = workspaces.resolve(store, folders)
    with store.transaction() as db:
        workspaces.remember(db, identities)
        known = lookup(db, (row.key for piece in every for row in piece.rows))
        writer = _Writer(store, db, seal_before, known)
        for piece in pieces:
            writer.add(piece, transcripts.save(db, piece, now))
            for other in piece.others:
                writer.add(other, None)
        writer.flush(now)
    return writer.appended


@dataclass
class _Writer:
    """What one transaction will write."""

    store: Store
    db: sqlite3.Connection
    seal_before: int
    known: dict[int, Known]
    """Where the keys of this transaction are already."""
    sessions: OpenSessions = field(init=False)
    forgotten: dict[tuple[str, str], int | None] = field(init=False)
    only: int | None = field(init=False)
    appended: Appended = field(default_factory=Appended)
    hot: dict[tuple[int, int], tuple[object, ...]] = field(default_factory=dict)
    cold: Picked = field(default_factory=Picked)
    picked: set[int] = field(default_factory=set)
    """The keys of what is in `cold`."""
    keys: dict[int, Known] = field(default_factory=dict)
    rows: dict[int, Row] = field(default_factory=dict)
    """What this transaction has taken in, by key."""
    usages: dict[int, tuple[int, RequestUsage]] = field(default_factory=dict)
    replays: list[tuple[object, ...]] = field(default_factory=list)
    tallies: dict[tuple[int, str, str], int] = field(default_factory=dict)
    touched: set[int] = field(default_factory=set)
    evidence: dict[int, tuple[Said, tuple[Evidence, ...]]] = field(default_factory=dict)
    """What events say of texts in force, by key."""

    def __post_init__(self) -> None:
        self.sessions = OpenSessions(self.db)
        rows = self.db.execute("SELECT agent, native, until FROM forgotten")
        self.forgotten = {(agent, native): until for agent, native, until in rows}
        self.only = workspaces.only_one(self.store)

    def add(self, piece: Piece, transcript: int | None) -> None:
        unwanted = self._unwanted(piece)
        for facts in piece.sessions:
            if facts.id not in unwanted:
                session = self.sessions.get(piece.agent, facts.id)
                session.learn(facts)
                if session.transcript is None and transcript is not None:
                    session.transcript = transcript
                self.touched.add(session.id)
        for index, row in enumerate(piece.rows):
            if row.native_session in unwanted:
                until = unwanted[row.native_session]
                if until is None or row.at is None or row.at <= until:
                    continue
            session = self.sessions.get(piece.agent, row.native_session)
            found = self.keys.get(row.key) or self.known.get(row.key)
            if found is None:
                self._insert(row, session, piece.bodies, index)
            elif found.session != session.id:
                self._replay(row, found, session)
            elif found.content != row.content and row.seen is not None:
                session.stretch(row.at)
                self._see_again(row.seen, found)
            elif found.content != row.content:
                self._change(row, found, piece.bodies, index)
        self.appended.skipped += len(piece.problems)

    def _unwanted(self, piece: Piece) -> dict[str, int | None]:
        """Sessions of a piece that are not taken in, with the time up to which; None is for good.

        A person forgot them, their age did, or a repository's own store is not theirs.
        """
        told = {facts.id: facts for facts in piece.sessions}
        unwanted: dict[str, int | None] = {}
        for native in {*told, *(row.native_session for row in piece.rows)}:
            for name in family(native):
                if (piece.agent, name) in self.forgotten:
                    unwanted[native] = self.forgotten[piece.agent, name]
            if self.only is not None and self._workspace(piece.agent, native, told) != self.only:
                unwanted[native] = None
        return unwanted

    def _workspace(self, agent: str, native: str, told: dict[str, SessionFacts]) -> int:
        """The workspace of a session by its own folder, else by its parent's."""
        facts = told.get(native)
        for name in (native, facts.parent if facts else None):
            cwd = told[name].cwd if name in told else None
            folder = cwd or (self.sessions.folder(agent, name) if name else None)
            if folder is not None:
                return workspaces.workspace_of(self.db, folder)
        return workspaces.workspace_of(self.db, None)

    def _insert(self, row: Row, session: OpenSession, bodies: Bodies, index: int) -> None:
        place = Known(session.id, session.number(row), row.content)
        at = row.at if row.at is not None else session.ended_at
        if at is not None and at < self.seal_before:
            self.cold.add(_head(row, place), bodies, index)
            self.picked.add(row.key)
            self.keys[row.key], self.rows[row.key] = place, row
            self._weigh(row, place)
        else:
            self._put(row, place, bodies, index)
        if row.usage is not None:
            self.usages[row.key] = (session.id, row.usage)
        self._tally(session.id, row.kind, row.counted, 1)
        self.appended.events += 1

    def _change(self, row: Row, found: Known, bodies: Bodies, index: int) -> None:
        if row.usage is not None:
            self._add_usage(row, row.usage, found)
            return
        counted = self._counted(row, found)
        if counted is not None:
            self._tally(found.session, row.kind, counted, -1)
            self._tally(found.session, row.kind, row.counted, 1)
        self._put(row, found._replace(content=row.content), bodies, index)
        self.appended.changed += 1

    def _counted(self, row: Row, found: Known) -> str | None:
        """What the telling that a row replaces was counted by."""
        if row.key in self.rows:
            return self.rows[row.key].counted
        stored = reading.row(self.store, found.session, found.seq)
        return None if stored is None else counted_by(row.kind, stored[len(HEADS) :])

    def _see_again(self, seen: Observation, found: Known) -> None:
        """Two hooks saw the same: the earlier one stays, whichever was read first."""
        known = self._seen_before(seen, found)
        best = seen if known is None else earlier(known, seen)
        if best is seen:
            better, body = merged_row(best)
            self._put(better, found._replace(content=better.content), Bodies([body]), 0)
            self.appended.changed += 1

    def _seen_before(self, seen: Observation, found: Known) -> Observation | None:
        if seen.key in self.rows:
            return self.rows[seen.key].seen
        stored = reading.row(self.store, found.session, found.seq)
        known = None if stored is None else from_row(seen.session, stored)
        assert known is None or isinstance(known, Observation)
        return known

    def _replay(self, row: Row, found: Known, session: OpenSession) -> None:
        """Another session holds this already: note the copy, keep what it adds."""
        tokens = None
        if row.usage is not None:
            tokens = total(row.usage) + row.usage.repeated
            self._add_usage(row, row.usage, found)
        self.replays.append((session.id, row.key, found.session, row.kind, row.at, tokens))
        self.touched.add(session.id)
        self.appended.replayed += 1

    def _add_usage(self, row: Row, told: RequestUsage, found: Known) -> None:
        pending = self.usages.get(row.key)
        before = pending[1] if pending else usage.load(self.db, row.key, told.session)
        merged = told if before is None else merge(before, told)
        if before is None or numbers(merged) != numbers(before):
            merged = self._original(found, told, merged)
            self.usages[row.key] = (found.session, merged)
            better, body = merged_row(merged)
            self._put(better, found._replace(content=better.content), Bodies([body]), 0)
            self.appended.changed += 1

    def _original(self, found: Known, told: RequestUsage, merged: RequestUsage) -> RequestUsage:
        """The better numbers under everything else that the first telling said.

        Where a source gave its key to something else before, the later one stands.
        """
        pending = self.rows.get(told.key)
        if pending is not None:
            return merged if pending.usage is None else merge(pending.usage, merged)
        stored = reading.row(self.store, found.session, found.seq)
        first = None if stored is None else from_row(told.session, stored)
        return merge(first, merged) if isinstance(first, RequestUsage) else merged

    def _put(self, row: Row, place: Known, bodies: Bodies, index: int) -> None:
        """Write a hot row, unless it is about to be sealed with other words.

        A late change is a hot row that carries the number of the one it replaces.
        """
        self.keys[row.key], self.rows[row.key] = place, row
        if row.key in self.picked:
            self.cold.change(_head(row, place), bodies[index])
        else:
            self.hot[place.session, place.seq] = (*_head(row, place), *bodies[index])
        self.touched.add(place.session)
        self._weigh(row, place)

    def _weigh(self, row: Row, place: Known) -> None:
        if row.evidence or row.key in self.evidence:
            said = evidence.Said(row.key, place.session, row.at)
            self.evidence[row.key] = (said, row.evidence)

    def _tally(self, session: int, kind: str, detail: str, n: int) -> None:
        key = (session, kind, detail)
        self.tallies[key] = self.tallies.get(key, 0) + n
        self.touched.add(session)

    def flush(self, now: int) -> None:
        db = self.db
        self.sessions.save()
        db.executemany(
            f"INSERT OR REPLACE INTO events VALUES ({_PLACES})",
            self.hot.values(),
        )
        db.executemany(
            "INSERT OR REPLACE INTO keys VALUES (?, ?, ?, ?)",
            [(key, *known) for key, known in sorted(self.keys.items())],
        )
        usage.save(db, self.usages.values())
        evidence.save(db, self.evidence.values())
        db.executemany("INSERT OR REPLACE INTO replays VALUES (?, ?, ?, ?, ?, ?)", self.replays)
        db.executemany(
            "INSERT INTO tallies VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n",
            [(*key, n) for key, n in self.tallies.items()],
        )
        db.executemany(
            "INSERT OR IGNORE INTO stale VALUES (?)", [(number,) for number in self.touched]
        )
        db.executemany(
            "INSERT OR IGNORE INTO unexposed VALUES (?)", [(number,) for number in self.touched]
        )
        if self.cold.runs:
            cold.seal_tables(self.store, self.cold.tables(cold.homes(db)), now=now)


def family(native: str) -> tuple[str, ...]:
    """The names under which a session may have been forgotten: its own, and its parent's."""
    own = native.removeprefix(HISTORY)
    return (native, own, own.partition("/")[0])


def _head(row: Row, place: Known) -> Head:
    return (place.session, place.seq, row.key, row.at, row.kind)


def lookup(db: sqlite3.Connection, keys: Iterable[int]) -> dict[int, Known]:
    """Those of the keys that are stored already."""
    rows: Iterable[tuple[int, int, int, int]] = db.execute(
        "SELECT key, session, seq, content FROM keys WHERE key IN (SELECT value FROM json_each(?))",
        (json_list(keys),),
    )
    return {key: Known(*known) for key, *known in rows}
