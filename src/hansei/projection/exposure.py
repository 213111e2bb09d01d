"""Which instruction texts were in force in each session, and how we know.

Where a hook looked, that is the answer: it saw the files as they were. Else it is what the
repository held at the session's commit. What the transcript itself shows comes on top, and so does
what hansei delivered. Refreshing the sessions that changed and rebuilding all give the same rows.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from hansei.hook import places
from hansei.store import due
from hansei.store.evidence import ASSIGNED, DELIVERED, HOOK, LOOKED, MARKED
from hansei.store.rows import json_list

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hansei.git.objects import Objects
    from hansei.store.database import Store

COMMIT = "commit"
START, BELOW = "start", "below"
"""In force from the beginning, or once the agent works in the folder it stands in."""
SESSIONS_AT_ONCE = 500
MOST_ANCESTORS = 8
"""How far up a subagent's parents are asked; agents nest two or three deep."""

NO_COMMIT = "no hook looked, and the commit it began on is not recorded"
NO_REPOSITORY = "no hook looked, and its repository is not on this machine"
NOT_HERE = "no hook looked, and the repository here does not have the commit it began on"
TOO_LARGE = "no hook looked, and the repository has too many folders to look through"

File = tuple[str, str, int]
"""Path, hash and size of a file that some agent reads as instructions."""
Row = tuple[str, str, str, int, str, str]
"""Kind, path, hash, bytes, basis, reach."""


class Session(NamedTuple):
    """What decides which files an agent had before it."""

    number: int
    agent: str
    parent: int | None
    cwd: str | None
    commit: str | None
    repository: str | None


def mark_all_stale(store: Store) -> None:
    """Have every session's exposure worked out again."""
    store.db.execute("INSERT OR IGNORE INTO unexposed SELECT id FROM sessions")


def refresh(store: Store) -> int:
    """Work out the sessions that changed, and their subagents; returns how many there were."""
    with store.transaction() as db:
        db.execute(
            "WITH RECURSIVE family(id, agent, native) AS ("
            " SELECT id, agent, native FROM sessions WHERE id IN (SELECT session FROM unexposed)"
            " UNION SELECT c.id, c.agent, c.native FROM sessions c JOIN family f"
            " ON c.agent = f.agent AND c.parent = f.native AND c.relation = 'subagent')"
            " INSERT OR IGNORE INTO unexposed SELECT id FROM family"
        )
    done = 0
    while True:
        rows = store.db.execute(
            "SELECT session FROM unexposed ORDER BY session LIMIT ?", (SESSIONS_AT_ONCE,)
        ).fetchall()
        if not rows:
            return done
        _work_out(store, [number for (number,) in rows])
        done += len(rows)


def _work_out(store: Store, numbers: list[int]) -> None:
    sessions = [session for number in numbers if (session := _session(store, number)) is not None]
    looked = {session.number: _where_looked(store, session) for session in sessions}
    # git is asked outside the transaction: it may take seconds.
    asked = {
        (session.repository, session.commit)
        for session in sessions
        if looked[session.number] is None and session.repository and session.commit
    }
    committed, notes = _committed(store, asked)
    with store.transaction() as db:
        db.executemany(
            "INSERT OR IGNORE INTO committed VALUES (?, ?)",
            [(commit, msgspec.json.encode(files).decode()) for commit, files in committed.items()],
        )
        for session in sessions:
            _write(store, session, looked[session.number], notes.get(session.commit or ""))
        db.executemany("DELETE FROM unexposed WHERE session = ?", [(it,) for it in numbers])
        due.mark(db, "SELECT value AS id FROM json_each(?)", (json_list(numbers),))


def _session(store: Store, number: int) -> Session | None:
    row = store.db.execute(
        "SELECT s.id, s.agent, p.id, coalesce(s.cwd, p.cwd),"
        ' coalesce(s."commit", p."commit"), CASE WHEN w.basis IN (?, ?) THEN w.folder END'
        " FROM sessions s JOIN workspaces w ON w.id = s.workspace LEFT JOIN sessions p"
        " ON p.agent = s.agent AND p.native = s.parent AND s.relation = 'subagent'"
        " WHERE s.id = ?",
        ("root_commit", "git_folder", number),
    ).fetchone()
    return None if row is None else Session(*row)


def _where_looked(store: Store, session: Session) -> int | None:
    """The session in which a hook looked: this one or a parent of it."""
    number: int | None = session.number
    for _ in range(MOST_ANCESTORS):
        if number is None:
            return None
        if store.db.execute(
            "SELECT 1 FROM evidence WHERE session = ? AND kind = ?", (number, LOOKED)
        ).fetchone():
            return number
        above = _session(store, number)
        number = None if above is None else above.parent
    return None


def _write(store: Store, session: Session, looked: int | None, note: str | None) -> None:
    basis, rows = HOOK if looked else None, _told(store, session.number)
    if looked is not None:
        rows |= {(*told, HOOK, _reach(session, *told[:2])) for told in _files_seen(store, looked)}
    elif (files := _files_at(store, session.commit)) is not None:
        basis = COMMIT
        for path, mark, size in files:
            found = places.matched(session.agent, path.partition("#")[0])
            if found is not None:
                rows.add((found[0], path, mark, size, COMMIT, _reach(session, found[0], path)))
    else:
        note = note or (NO_COMMIT if session.repository else NO_REPOSITORY)
    db, number = store.db, session.number
    db.execute("DELETE FROM exposure WHERE session = ?", (number,))
    db.executemany(
        "INSERT INTO exposure VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(number, *row) for row in sorted(rows)],
    )
    told_note = "" if basis else note or ""
    db.execute("INSERT OR REPLACE INTO ledger VALUES (?, ?, ?)", (number, basis, told_note))


def _told(store: Store, number: int) -> set[Row]:
    """What the transcript shows and what was delivered: in force wherever it was said."""
    rows = store.db.execute(
        "SELECT kind, path, hash, bytes, basis FROM evidence WHERE session = ?"
        " AND (basis != ? OR kind = ?)",
        (number, HOOK, DELIVERED),
    ).fetchall()
    told = set()
    for kind, path, mark, size, basis in rows:
        items = [it for _, it, delivered, _, by in rows if by == HOOK and delivered == mark]
        if kind == MARKED and items:  # read back: this is what the hook delivered
            told |= {(DELIVERED, item, mark, size, basis, START) for item in items}
        else:
            told.add((kind, path, mark, size, basis, START))
    return told


def _files_seen(store: Store, number: int) -> Iterable[tuple[str, str, str, int]]:
    rows: list[tuple[str, str, str, int]] = store.db.execute(
        "SELECT DISTINCT kind, path, hash, bytes FROM evidence"
        " WHERE session = ? AND basis = ? AND kind NOT IN (?, ?, ?)",
        (number, HOOK, LOOKED, DELIVERED, ASSIGNED),
    ).fetchall()
    return rows


def _files_at(store: Store, commit: str | None) -> list[File] | None:
    row = store.db.execute('SELECT files FROM committed WHERE "commit" = ?', (commit,)).fetchone()
    return None if row is None else msgspec.json.decode(row[0], type=list[File])


def _reach(session: Session, kind: str, path: str) -> str:
    """Whether a file is in force from the start, by where it lies and where the session stands."""
    found = places.matched(session.agent, path.partition("#")[0])
    elsewhere = path.startswith(("~", "/"))
    if found is None or elsewhere or kind == places.SERVER:
        return START
    place = ""
    if session.cwd and session.repository and session.cwd.startswith(f"{session.repository}/"):
        place = session.cwd[len(session.repository) + 1 :]
    return START if places.governs(found[1], place) else BELOW


# --- what a repository held at a commit -----------------------------------------------------------


def _committed(
    store: Store, asked: set[tuple[str, str]]
) -> tuple[dict[str, list[File]], dict[str, str]]:
    """The files of the commits that we do not know yet, and why some stay unknown."""
    from hansei.git.objects import Objects, TooLarge

    known = {commit for (commit,) in store.db.execute('SELECT "commit" FROM committed')}
    wanted = sorted(pair for pair in asked if pair[1] not in known)
    found: dict[str, list[File]] = {}
    notes: dict[str, str] = {}
    for repository, pairs in groupby(wanted, key=lambda pair: pair[0]):
        with Objects(repository) as objects:
            for _, commit in pairs:
                try:
                    files = _files_of(objects, commit)
                except TooLarge:
                    notes[commit] = TOO_LARGE
                    continue
                if files is None:
                    notes[commit] = NOT_HERE
                else:
                    found[commit] = files
    return found, notes


def _files_of(objects: Objects, commit: str) -> list[File] | None:
    from hansei.events.keys import digest
    from hansei.hook.look import servers
    from hansei.hook.notation import measured

    entries = objects.files(commit, places.read_by_any, places.tail)
    if entries is None:
        return None
    files: list[File] = []
    for entry in entries:
        data = objects.content(commit, entry)
        if data is None:
            continue
        if entry.path.endswith((".json", ".toml")):
            for name, server in servers(data, entry.path).items():
                size = measured(server)
                files.append((f"{entry.path}#{name}", size["hash"], size["bytes"]))
        else:
            files.append((entry.path, digest(data), len(data)))
    return sorted(files)
