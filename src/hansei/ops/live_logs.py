"""Looking after the logs that running programs leave below the hansei home.

They hold what was said, uncleaned, so they stay no longer than they are of use: a log that has been
read and has not changed for a week is deleted, and one that tells of a forgotten session at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hansei.config import DAY_MS
from hansei.errors import SourceError
from hansei.ops.spool import KEPT_DAYS
from hansei.sources import catalogue, live
from hansei.sources.log_files import open_log
from hansei.store import transcripts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hansei.config import Config, Environment
    from hansei.sources.contract import Transcript
    from hansei.store.database import Store


def sweep(store: Store, config: Config, *, now: int) -> None:
    """Delete logs that were read and have long been quiet; what they told stays."""
    if live.live_folder(config.environment).parent != config.store:
        return  # only the store that owns the folder looks after it
    old = [it for it in live.discover(config.environment) if _is_old(it, now)]
    known = transcripts.places(store, [(it.agent, it.id) for it in old])
    gone = []
    for log in old:
        place = known.get((log.agent, log.id))
        if place is not None and place.fingerprint == log.fingerprint:
            log.path.unlink(missing_ok=True)
            gone.append((log.agent, log.id))
    if gone:
        with store.transaction() as db:
            transcripts.mark_missing(db, gone, now)


def _is_old(log: Transcript, now: int) -> bool:
    try:
        return now - log.path.stat().st_mtime * 1000 > KEPT_DAYS * DAY_MS
    except OSError:
        return False


def forget_logs(environment: Environment, gone: Iterable[tuple[str, str]]) -> int:
    """Delete the logs that tell of sessions, by agent and id; returns how many."""
    forgotten = set(gone)
    count = 0
    for log in live.discover(environment):
        if any(agent == log.agent for agent, _ in forgotten) and _tells_of(log, forgotten):
            Path(log.path).unlink(missing_ok=True)
            count += 1
    return count


def _tells_of(log: Transcript, forgotten: set[tuple[str, str]]) -> bool:
    try:
        told = catalogue.load_format(log.agent).told(open_log(log.path))
    except SourceError:
        return False
    return any((log.agent, session) in forgotten for session in told.sessions)
