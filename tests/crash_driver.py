"""Takes in a history and kills itself, without warning, at the n-th step.

A step is whatever could be the last thing a process does: a statement to SQLite, a flush to disk, a
rename, a write of a Parquet file. Run as a program by test_crash.py.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hansei.config import Config, Environment, Settings
from hansei.ops import ingest as ingesting
from hansei.ops import spool
from hansei.store import seal
from hansei.store.database import Store, open_store


class Steps:
    """Counts steps; dies at the one asked for."""

    def __init__(self, last: int) -> None:
        self.taken = 0
        self.last = last

    def take(self, *_: object) -> None:
        self.taken += 1
        if self.taken == self.last:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def stepped(*arguments: Any, **named: Any) -> Any:
            self.take()
            result = function(*arguments, **named)
            self.take()
            return result

        return stepped


def lay_spool(home: Path, folder: Path) -> None:
    """Give a store the lines that hooks wrote, unless it has had them."""
    lines, place = home / "hooks.jsonl", folder / "spool"
    if lines.exists() and not place.exists():
        place.mkdir(parents=True)
        (place / lines.name).write_bytes(lines.read_bytes())


def take_in(home: Path, folder: Path, now: int, steps: Steps | None = None) -> Store:
    """Everything hansei does with a history, in small transactions: read, seal, sum."""
    ingesting.COMMIT_BYTES = 4_000  # many transactions, so that there is much to be interrupted
    spool.ROTATED_BYTES = 1
    lay_spool(home, folder)
    store = open_store(folder, now=now)
    if steps is not None:
        store.db.set_trace_callback(steps.take)
        for name in ("fsync", "replace", "unlink"):
            setattr(os, name, steps.around(getattr(os, name)))
        Path.replace = steps.around(Path.replace)  # type: ignore[method-assign]
        Path.rename = steps.around(Path.rename)  # type: ignore[method-assign]
        Path.unlink = steps.around(Path.unlink)  # type: ignore[method-assign]
    config = Config(folder, Settings(), Environment(home, {"HANSEI_HOME": str(folder)}))
    ingesting.ingest(store, config, now=now, wait_seconds=0)
    # A week later everything has cooled, and what was rotated of the spool is deleted.
    later = now + 8 * 86_400_000
    ingesting.ingest(store, config, now=later, wait_seconds=0)
    with store.writing(wait_seconds=0):
        seal.seal(store, now=later, seal_before=later - 7 * 86_400_000)
    return store


def main() -> None:
    home, folder, now, last = sys.argv[1:]
    steps = Steps(int(last))
    take_in(Path(home), Path(folder), int(now), steps)
    print(steps.taken)


if __name__ == "__main__":
    main()
