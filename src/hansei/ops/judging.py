"""What became of edits, asked of every repository that is on this machine."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from hansei.projection.facts.folds import HUNKS, OUTCOMES
from hansei.projection.outcomes import Known, Stored, has_news, judge_repository
from hansei.redaction.engine import Redactor
from hansei.store.key import redaction_key

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from hansei.projection.outcomes import Judged
    from hansei.store.database import Store

_REPOSITORIES = ("root_commit", "git_folder")
_OF_WORKSPACE = "session IN (SELECT id FROM sessions WHERE workspace = ?)"


class Counted(NamedTuple):
    """How far it is."""

    what: str
    done: int
    all: int
    seconds: float


def judge(
    store: Store,
    *,
    workspace: int | None,
    changed: Collection[int],
    now: int,
    progress: Callable[[Counted], None] | None = None,
) -> int:
    """Judge the edits of a workspace, or of all, where there is news; returns how many hunks.

    `changed` are the workspaces in which a session was worked out again.
    """
    redactor = Redactor(redaction_key(store.folder))
    looked, started = 0, time.monotonic()
    chosen = _workspaces(store, workspace)
    for done, (number, folder) in enumerate(chosen):
        known = _known(store, number)
        if known is not None and number not in changed and not has_news(folder, now, known):
            continue
        hunks = [Stored(*found) for found in HUNKS.read(store, _OF_WORKSPACE, (number,))]
        if progress is not None:
            took = time.monotonic() - started
            what = "asking git what became of edits: repository"
            progress(Counted(what, done, len(chosen), took))
        judged = judge_repository(hunks, folder, now, known, redactor.scrub)
        looked += judged.looked_at
        _keep(store, number, judged)
    return looked


def _workspaces(store: Store, workspace: int | None) -> list[tuple[int, str | None]]:
    return store.db.execute(
        "SELECT id, CASE WHEN basis IN (?, ?) THEN folder END FROM workspaces"
        " WHERE ? IS NULL OR id = ? ORDER BY id",
        (*_REPOSITORIES, workspace, workspace),
    ).fetchall()


def _known(store: Store, workspace: int) -> Known | None:
    row = store.db.execute(
        "SELECT key, due, body FROM judged WHERE workspace = ?", (workspace,)
    ).fetchone()
    return None if row is None else Known(*row)


def _keep(store: Store, workspace: int, judged: Judged) -> None:
    with store.transaction() as db:
        for session, rows in judged.rows.items():
            OUTCOMES.clear(store, session)
            OUTCOMES.write(store, session, map(OUTCOMES.cells, rows))
        db.execute(
            f"DELETE FROM {OUTCOMES.name} WHERE {_OF_WORKSPACE}"
            f" AND session NOT IN (SELECT session FROM {HUNKS.name})",
            (workspace,),
        )
        db.execute("INSERT OR REPLACE INTO judged VALUES (?, ?, ?, ?)", (workspace, *judged.known))
