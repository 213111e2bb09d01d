"""Taking sessions out of the store for good: by name, or by the age you set."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hansei.config import DAY_MS
from hansei.errors import NotFound, UsageError
from hansei.ops import sessions
from hansei.ops.known_failures import folders_of, forget
from hansei.ops.live_logs import forget_logs
from hansei.ops.scope import named_workspace
from hansei.ops.skills import book_of_workspace
from hansei.ops.spool import forget_lines
from hansei.store import journal, removal, reviews
from hansei.store.rows import json_list

if TYPE_CHECKING:
    from hansei.config import Config
    from hansei.learn.book import Book
    from hansei.store.database import Store

LOCK_SECONDS = 30.0


@dataclass(frozen=True)
class Doomed:
    """What a removal would take out."""

    what: str
    sessions: list[int]
    events: int
    for_good: bool = True
    """Whether a session that goes on stays out; not so for what age removed."""
    workspace: int | None = None
    """The workspace that goes as a whole."""
    reviews: int = 0
    """Imported reviews that go with it."""
    written: int = 0
    """Changes of instruction files that cannot be undone after it."""
    book: Book | None = None
    """This person's skills of the workspace, which go with it and with their history."""

    @property
    def empty(self) -> bool:
        return not self.sessions and self.workspace is None


def chosen(store: Store, config: Config, name: str) -> Doomed:
    """The session, with its subagents, or the workspace of that name."""
    try:
        found = sessions.find(store, name)
    except NotFound as no_session:
        try:
            workspace, title = named_workspace(store, name)
        except NotFound as no_workspace:
            raise NotFound(
                f"{no_session.message}, and {no_workspace.message}",
                hint="`hansei sessions --all` and `hansei summary --all --by repo` list both.",
            ) from None
        rows = store.db.execute("SELECT id FROM sessions WHERE workspace = ?", (workspace,))
        doomed = _doomed(store, f"workspace {title}", [number for (number,) in rows])
        return replace(
            doomed,
            workspace=workspace,
            reviews=reviews.count(store.db, workspace),
            written=journal.count(store.db, workspace),
            book=_book(store, config, workspace),
        )
    family = [found, *_descendants(store, found)]
    return _doomed(store, f"session {sessions.describe(store, found).short}", family)


def _book(store: Store, config: Config, workspace: int) -> Book | None:
    identity, folder = store.db.execute(
        "SELECT identity, folder FROM workspaces WHERE id = ?", (workspace,)
    ).fetchone()
    return book_of_workspace(config, identity, folder)


def _descendants(store: Store, number: int) -> list[int]:
    rows = store.db.execute(
        "WITH RECURSIVE family(id, agent, native) AS ("
        " SELECT id, agent, native FROM sessions WHERE id = ?"
        " UNION SELECT s.id, s.agent, s.native FROM sessions s JOIN family f"
        " ON s.agent = f.agent AND ((s.parent = f.native AND s.relation = 'subagent')"
        "  OR s.native = 'history:' || f.native))"
        " SELECT id FROM family WHERE id != ?",
        (number, number),
    )
    return [child for (child,) in rows]


def expired(store: Store, config: Config, *, now: int) -> Doomed:
    """Sessions that ended before the retention in config.toml; an error where none is set."""
    days = config.settings.retention_days
    if days is None:
        raise UsageError(
            "no retention is set, so nothing is ever removed by age",
            hint=f"Set `retention_days` in {config.file}, then run `hansei gc` again.",
        )
    rows = store.db.execute(
        "SELECT id FROM sessions WHERE coalesce(ended_at, started_at) < ? ORDER BY id",
        (now - days * DAY_MS,),
    )
    numbers = [number for (number,) in rows]
    return replace(_doomed(store, f"sessions older than {days} days", numbers), for_good=False)


def _doomed(store: Store, what: str, numbers: list[int]) -> Doomed:
    events = 0
    for number in numbers:
        (count,) = store.db.execute(
            "SELECT next_seq - 1 FROM sessions WHERE id = ?", (number,)
        ).fetchone()
        events += count
    return Doomed(what, numbers, events)


def remove(store: Store, doomed: Doomed, config: Config, *, now: int) -> int:
    """Do it, in both tiers and in what hooks wrote."""
    with store.writing(wait_seconds=LOCK_SECONDS):
        if doomed.empty:
            return 0
        rows = [
            store.db.execute("SELECT agent, native FROM sessions WHERE id = ?", (it,)).fetchone()
            for it in doomed.sessions
        ]
        names = [row for row in rows if row is not None]
        about = _workspaces(store, doomed)
        folders = folders_of(store, about)
        removed = removal.forget(
            store,
            doomed.sessions,
            now=now,
            for_good=doomed.for_good,
            workspaces=[] if doomed.workspace is None else [doomed.workspace],
        )
        forget_lines(config.environment, names)
        forget_logs(config.environment, names)
        if doomed.book is not None:
            doomed.book.forget(now)
        # What is left is written again with the next facts.
        forget(config, folders)
        return removed


def _workspaces(store: Store, doomed: Doomed) -> list[int]:
    rows = store.db.execute(
        "SELECT DISTINCT workspace FROM sessions WHERE id IN (SELECT value FROM json_each(?))",
        (json_list(doomed.sessions),),
    )
    whole = set() if doomed.workspace is None else {doomed.workspace}
    return sorted({number for (number,) in rows if number is not None} | whole)
