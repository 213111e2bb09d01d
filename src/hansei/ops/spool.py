"""Looking after the spool that hooks write to: it is rotated, swept, and forgets what is forgotten.

Hooks may be writing at any moment. So the spool is never cut: it is renamed when it is large, what
was renamed is deleted much later, and a line that has to go is overwritten with spaces.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hansei.config import DAY_MS
from hansei.hook.nudge import TOLD
from hansei.hook.record import LINES
from hansei.sources.catalogue import SPOOL
from hansei.sources.families.records import plain, salvage
from hansei.sources.spool import spool_folder
from hansei.sources.spool_lines import Line, session_of
from hansei.store.transcripts import decode_cursor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hansei.config import Config, Environment
    from hansei.store.database import Store

ROTATED_BYTES = 4 * 1024 * 1024
"""A spool this large is renamed once it has been read: some ten thousand calls of hooks."""
KEPT_DAYS = 7
"""Days a renamed spool stays: a repository's own store reads the same one, in its own time."""


def rotate(store: Store, config: Config, *, now: int) -> None:
    """Rename a large spool that has been read, and delete what was renamed long ago."""
    folder = spool_folder(config.environment)
    if folder.parent != config.store or not folder.is_dir():
        return  # only the store that owns the spool looks after it
    live = folder / LINES
    if _size(live) > ROTATED_BYTES and _is_read(store, live):
        old = folder / f"{live.stem}.{now}.jsonl"
        live.rename(old)
        with store.transaction() as db:  # a crash before this: both are read again from the start
            db.execute(
                "UPDATE transcripts SET path = ? WHERE agent = ? AND path = ?",
                (str(old), SPOOL, str(live)),
            )
    _sweep(store, folder, now)


def _sweep(store: Store, folder: Path, now: int) -> None:
    for path in rotated(folder):
        stamp = path.suffixes[0][1:]
        if now - int(stamp) > KEPT_DAYS * DAY_MS and _is_read(store, path):
            path.unlink()
    for path in (folder / TOLD).glob("*"):
        if now - path.stat().st_mtime * 1000 > KEPT_DAYS * DAY_MS:
            path.unlink(missing_ok=True)
    gone = [(SPOOL, name) for name in _known(store) if not Path(name).exists()]
    if gone:
        with store.transaction() as db:
            db.executemany(
                "DELETE FROM problems WHERE transcript IN"
                " (SELECT id FROM transcripts WHERE agent = ? AND path = ?)",
                gone,
            )
            db.executemany("DELETE FROM transcripts WHERE agent = ? AND path = ?", gone)


def rotated(folder: Path) -> list[Path]:
    """Spools that were renamed, oldest first."""
    stem = LINES.partition(".")[0]
    found = folder.glob(f"{stem}.*.jsonl")
    return sorted(path for path in found if path.suffixes[0][1:].isdigit())


def _known(store: Store) -> list[str]:
    rows = store.db.execute("SELECT path FROM transcripts WHERE agent = ?", (SPOOL,))
    return [path for (path,) in rows]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _is_read(store: Store, path: Path) -> bool:
    row = store.db.execute(
        "SELECT cursor FROM transcripts WHERE agent = ? AND path = ?", (SPOOL, str(path))
    ).fetchone()
    return bool(row and row[0]) and decode_cursor(row[0]).offset >= _size(path)


def forget_lines(environment: Environment, gone: Iterable[tuple[str, str]]) -> int:
    """Overwrite what hooks wrote of sessions, by agent and id; returns how many lines."""
    forgotten = set(gone)
    folder = spool_folder(environment)
    count = 0
    for path in sorted(folder.glob("*.jsonl")):
        with path.open("r+b") as file:
            for start, length, line in list(_lines(file.read())):
                if (line.agent, _session(line)) in forgotten:
                    file.seek(start)
                    file.write(b" " * length)
                    count += 1
    return count


def _lines(data: bytes) -> Iterator[tuple[int, int, Line]]:
    """Where each line of a spool begins, how long it is, and what it says."""
    start = 0
    for line in data.split(b"\n"):
        yield start, len(line), salvage(plain(line), Line)
        start += len(line) + 1


def _session(line: Line) -> str | None:
    return line.session and session_of(line.agent, line.session, line.agent_id)
